"""One request on a connection: the application that answers it, and what it leaves undone.

uvicorn writes the answer. What is added: a body that nobody has read and that is too long to be
passed over ends the connection, with an answer that says so; an application that fails or gives up
in the middle of its answer breaks the connection off, since an end that looks proper would pass for
the whole answer. An application that sends to a client that has left is told so, lest it goes on.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from podium.net.serving.asgi import ClientGone

_LOG: Final = logging.getLogger("podium.net.serving")
_SERVER_ERROR: Final = b"Internal Server Error"


class ResponseTransport:
    """What an answer needs of its connection; `close` is for after the answer."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.abort = transport.abort
        self.close = close


class ReadingFlow(FlowControl):
    """Reading that does not go on while something that was read waits for its turn."""

    held = False

    def resume_reading(self) -> None:
        if not self.held:
            super().resume_reading()


class ResponseCycle(RequestResponseCycle):
    def __init__(
        self,
        scope: Any,
        transport: ResponseTransport,
        flow: ReadingFlow,
        default_headers: list[tuple[bytes, bytes]],
        *,
        expects_continue: bool,
        keep_alive: bool,
        on_response: Callable[[], None],
        may_discard: Callable[[], bool],
    ) -> None:
        super().__init__(
            scope=scope,
            transport=transport,  # type: ignore[arg-type]
            flow=flow,
            logger=_LOG,
            access_logger=_LOG,
            access_log=False,
            default_headers=default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=expects_continue,
            keep_alive=keep_alive,
            on_response=on_response,
        )
        self._may_discard = may_discard

    async def run_asgi(self, app: Any) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except ClientGone:
            pass
        except asyncio.CancelledError:
            self._break_off()
        except Exception:
            _LOG.exception("%s %s failed", self.scope["method"], self.scope["path"])
            await self._fail()
        else:
            if not self.response_complete:
                self._break_off()
        finally:
            self.on_response = lambda: None

    async def send(self, message: Any) -> None:
        if self.more_body and not self.response_started:
            is_unwanted = self.waiting_for_100_continue or not self._may_discard()
            self.keep_alive = self.keep_alive and not is_unwanted
        await super().send(message)
        if self.disconnected:
            raise ClientGone

    def _break_off(self) -> None:
        if not self.disconnected:
            self.transport.abort()

    async def _fail(self) -> None:
        if self.response_started:
            self._break_off()
            return
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(_SERVER_ERROR)).encode()),
            (b"connection", b"close"),
        ]
        await self.send({"type": "http.response.start", "status": 500, "headers": headers})
        await self.send({"type": "http.response.body", "body": _SERVER_ERROR})
