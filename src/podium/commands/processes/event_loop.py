"""Running a command that waits: the fast event loop where there is one.

uvloop has a flaw under TLS: bytes that arrive for a connection whose socket was closed a moment ago
(a request was cancelled while its answer was on the way) are answered on the closed socket, and the
loop reports that as a fatal error. Nothing is lost by it, the connection was given up; so it is not
told. Every other report goes the way of all loops.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


def run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(main)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """What makes the loops of this process."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop

    def factory() -> asyncio.AbstractEventLoop:
        loop = uvloop.new_event_loop()
        loop.set_exception_handler(_report)
        return loop

    return factory


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not _is_of_a_closed_connection(context):
        loop.default_exception_handler(context)


def _is_of_a_closed_connection(context: dict[str, Any]) -> bool:
    """Whether a TLS connection failed to answer only because its socket is closed already."""
    problem = context.get("exception")
    if type(context.get("protocol")).__name__ != "SSLProtocol":
        return False
    if not isinstance(problem, RuntimeError):
        return False
    is_closing = getattr(context.get("transport"), "is_closing", lambda: False)
    # A socket that the other end has broken off is closed without ever having been closing.
    return is_closing() or str(problem).endswith("the handler is closed")
