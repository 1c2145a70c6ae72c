"""The service that says which images a node holds, for the plugin `randScore`.

`GET /?reference=IMAGE`, on any path, is answered with the ids of the images under that reference,
one a line; with nothing if there are none; with 500 and the reason if they cannot be listed. It is
the node's side of Wyq-Scheduler's image rule, which runs it on port 8088 of every node.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from podium.commands.processes.image_listing import MAX_REFERENCE, ImageListing, ListingFailed
from podium.net.serving import (
    BadQuery,
    Limits,
    Receive,
    Scope,
    Send,
    WebServer,
    listen,
    parse_query,
    run_until_signal,
)

_LOG: Final = logging.getLogger("podium.image_service")
_LIMITS: Final = Limits(max_connections=256, idle_timeout_s=120.0)
_GRACE_S: Final = 5


class ImageService:
    """The ASGI application."""

    def __init__(self, images: ImageListing) -> None:
        self._images = images

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        status, text = await self._answer(scope)
        body = text.encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        shown = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": shown})

    async def _answer(self, scope: Scope) -> tuple[int, str]:
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "only GET is answered\n"
        try:
            given = parse_query(scope["query_string"]).get("reference", [])
        except BadQuery as problem:
            return 400, f"{problem}\n"
        if not given or not given[0]:
            return 400, "say which image: ?reference=IMAGE\n"
        if len(given) > 1:
            return 400, f"{len(given)} references are queried: one at a time\n"
        if len(given[0]) > MAX_REFERENCE:
            text = f"the reference has {len(given[0])} characters; {MAX_REFERENCE} are the most"
            return 400, f"{text}\n"
        try:
            found = await self._images.find(given[0])
        except ListingFailed as problem:
            _LOG.warning("images cannot be listed: %s", problem)
            return 500, f"{problem}\n"
        return 200, "".join(f"{image}\n" for image in found)


def serve_images(
    images: ImageListing, host: str, port: int, announce: Callable[[str], None]
) -> None:
    """Until SIGTERM or SIGINT; `announce` hears the address. Raises InputError."""
    listener = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    server = WebServer(ImageService(images), limits=_LIMITS, grace_s=_GRACE_S)

    async def serve() -> None:
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        await server.accepting.wait()
        announce(f"http://{shown}:{listener.getsockname()[1]}")
        await serving

    def stop() -> None:
        server.should_exit = True

    def hurry() -> None:
        server.force_exit = True

    run_until_signal(serve, stop, hurry)
