"""The page on a loopback port of its own, over plain HTTP: what `podium up` prints a link to."""

import asyncio
from typing import Final
from urllib.parse import quote

from podium.net.serving import Limits, WebServer, listen
from podium.web.access import LinkAccess
from podium.web.application import PageApplication
from podium.web.event_stream import EventStreams
from podium.web.live_page import LivePage
from podium.web.relayed_page import RelayedPage

HOST: Final = "127.0.0.1"
_GRACE_S: Final = 1
_LIMITS: Final = Limits()


class PageServer:
    """Listens from the moment it is made, so that its link can be printed before all else."""

    def __init__(self, port: int = 0, token: str | None = None) -> None:
        """Port 0 is any free one. Raises InputError."""
        self._listener = listen(HOST, port, "--page-port")
        taken = self._listener.getsockname()[1]
        self._access = LinkAccess(taken, token)
        self.origin = f"http://{HOST}:{taken}"
        self.link = f"{self.origin}/?token={quote(self._access.token)}"

    def close(self) -> None:
        """For one that was never served, or is no more."""
        self._listener.close()

    async def serve(self, page: LivePage | RelayedPage) -> None:
        """Until cancelled."""
        application = PageApplication(page, EventStreams(page), self._access, play=page.play)
        server = WebServer(application, limits=_LIMITS, grace_s=_GRACE_S)
        serving = asyncio.ensure_future(server.serve([self._listener]))
        try:
            await asyncio.gather(asyncio.shield(serving), application.follow())
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)
