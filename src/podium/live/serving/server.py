"""The endpoints on a socket: start, serve, stop.

It listens from the moment it is made, so that a port that is taken is known before anything else
starts, and serves before the scheduler knows its cluster: a standby answers too.

Contract: `stop` takes no new connections, gives requests under way 5 s and then ends them.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

from podium.client import KubeClient
from podium.live.secure_socket import listen
from podium.live.serving.application import ManagementApplication, RelayedPages
from podium.live.serving.authentication import Authenticator, DelegatingAuthorizer
from podium.live.serving.pages import Pages
from podium.live.serving.surface import NOBODY, Reviewers, ServingSettings, Surface
from podium.live.serving.tls import ServingTls, Trust
from podium.net.serving import Limits, WebServer
from podium.net.serving.loop_calls import LoopCalls
from podium.scheduler.config.flags.client_settings import StartRefused

_LOG: Final = logging.getLogger("podium.live")
_GRACE_S: Final = 5
_LOOK_UP_EVERY_S: Final = 60.0
_LIMITS: Final = Limits()


class ManagementServer:
    def __init__(
        self,
        surface: Surface,
        settings: ServingSettings,
        reviewers: Reviewers = NOBODY,
        clock: Callable[[], float] = time.monotonic,
        limits: Limits = _LIMITS,
        calls: LoopCalls | None = None,
    ) -> None:
        """Listens already; port 0 is any free one. `calls` lead into the scheduler's loop, where
        that is another one than the server's. Raises StartRefused."""
        self._settings = settings
        self._reviewers = reviewers
        self._trust = Trust(settings.authentication)
        self._listener = listen(settings.serving)
        host, port = self._listener.getsockname()[:2]
        self.url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        try:
            self._tls = ServingTls(settings.serving, self._trust, surface.wall())
        except BaseException:
            self._listener.close()
            raise
        authenticator = Authenticator(settings.authentication, self._trust, reviewers, clock)
        authorizer = DelegatingAuthorizer(settings.authorization, reviewers, clock)
        pages = Pages(surface)
        self._relayed = RelayedPages(pages, calls) if calls is not None else None
        self.application = ManagementApplication(
            self._relayed or pages, authenticator, authorizer, surface.ui
        )
        self._limits = limits
        self._server: WebServer | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Serve from now on. Raises StartRefused."""
        await self._look_up()
        if self._relayed is not None:
            await self._relayed.prepare()
        self._server = WebServer(
            self.application,
            limits=self._limits,
            grace_s=_GRACE_S,
            context=self._tls.context,
            on_stopping=_tell_stopping,
        )
        self._tasks.append(asyncio.create_task(self._server.serve([self._listener])))
        await self._server.accepting.wait()

    async def stop(self) -> None:
        """End it; requests under way have 5 s."""
        server, tasks = self._server, self._tasks
        self._server, self._tasks = None, []
        if server is None:
            self._listener.close()
            return
        server.should_exit = True
        serving = tasks.pop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await serving
        _LOG.info("[graceful-termination] secure server is exiting")

    async def __aenter__(self) -> "ManagementServer":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def _look_up(self) -> None:
        """Begin to follow what the cluster publishes, where that is needed; wait for it only if
        nothing may start without. Raises StartRefused."""
        client = self._reviewers.authentication
        if client is None or not self._trust.lacks_something:
            return
        if not self._settings.authentication.authentication_tolerate_lookup_failure:
            problem = await self._trust.look_up(client)
            if problem:
                self._listener.close()
                raise StartRefused(
                    f"unable to load configmap based request-header-client-ca-file: {problem}"
                )
        self._tasks.append(asyncio.create_task(self._keep_looking_up(client)))

    async def _keep_looking_up(self, client: KubeClient) -> None:
        """What the cluster publishes changes when its authorities do."""
        told = ""
        while True:
            problem = await self._trust.look_up(client)
            if problem and problem != told:
                _LOG.warning("client authorities cannot be looked up: %s", problem)
            told = problem
            await asyncio.sleep(_LOOK_UP_EVERY_S)


def _tell_stopping() -> None:
    _LOG.info("[graceful-termination] secure server has stopped listening")
