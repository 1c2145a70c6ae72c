"""Connections to webhooks, kept for the next call; so many at once and no more."""

from types import SimpleNamespace
from typing import Final

import aiohttp

from podium.client.open_sockets import OpenSockets

MAX_CALLS: Final = 100
"""At once, of all requests together; further ones wait, within their timeouts."""
_IDLE_S: Final = 30


class WebhookConnections:
    """Opened by the first call, in whose event loop they are used and closed."""

    def __init__(self) -> None:
        self._open: aiohttp.ClientSession | None = None
        self._sockets = OpenSockets()

    def session(self) -> aiohttp.ClientSession:
        if self._open is None:
            self._open = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=MAX_CALLS,
                    keepalive_timeout=_IDLE_S,
                    use_dns_cache=False,
                    socket_factory=self._sockets.made,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                trace_configs=[_noting_reuse()],
            )
        return self._open

    async def close(self) -> None:
        if self._open is not None:
            await self._open.close()
            self._open = None
            await self._sockets.gone()


class Progress(SimpleNamespace):
    """What is known of a call's connection; goes with the call as its trace context."""

    is_reused = False


def _noting_reuse() -> aiohttp.TraceConfig:
    async def note(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.is_reused = True

    traces = aiohttp.TraceConfig()
    traces.on_connection_reuseconn.append(note)
    return traces
