"""HTTP/1.1 on one connection, with what kube-scheduler's server adds to it.

uvicorn speaks HTTP; this adds the client's certificate to what the application sees (in the form of
ASGI's TLS extension), a time by which the head of a request has to be here, and a size that it must
not pass.
"""

import asyncio
import ssl
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

READ_HEADER_S: Final = 32.0
LARGEST_HEAD: Final = 1 << 20
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\n"
    b"431 Request Header Fields Too Large"
)


class ManagementProtocol(HttpToolsProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_bytes = 0
        self._in_head = True
        self._late: asyncio.TimerHandle | None = None
        self._expect_head()
        connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        shown = connection.getpeercert(binary_form=True) if connection is not None else None
        self._chain = [ssl.DER_cert_to_PEM_cert(shown)] if shown else []

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self.transport.write(_TOO_LARGE)
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        tls: dict[Any, Any] = {"client_cert_chain": self._chain}
        self.scope["extensions"] = {"tls": tls}
        self._in_head = True
        if self._late is None:
            self._expect_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(READ_HEADER_S, self.transport.close)

    def _head_is_here(self) -> None:
        self._in_head = False
        if self._late is not None:
            self._late.cancel()
            self._late = None
