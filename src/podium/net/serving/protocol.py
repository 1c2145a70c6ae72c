"""HTTP/1.1 on one connection, within limits.

uvicorn speaks HTTP with httptools; this decides what reaches the parser and when. The head of a
request is gathered and parsed at once, so that its size, its time and its end are known: headers
end where they end, and what comes behind a chunked body is no header. One request is read at a
time, as in Go: bytes of the next ones wait unparsed, and the socket is not read meanwhile.

Contract: what a client can make this connection hold is a head, one read from the socket, one part
of a body and one part of an answer; and each step of the client has a time in which it must come.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Final

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from podium.net.serving.head_buffer import (
    CHUNKED,
    FRAMING,
    HeadBuffer,
    HeadRefusal,
    Unfinished,
    find_frame,
    split_target,
)
from podium.net.serving.limits import Limits
from podium.net.serving.response_cycle import ReadingFlow, ResponseCycle, ResponseTransport

# What is read now.
_HEAD: Final = 0
_BODY: Final = 1
_CHUNKS: Final = 2
_NOTHING: Final = 3  # the request is here, its answer is not done
_REST: Final = 4  # the connection ends: whatever comes is thrown away

_MAX_BLANK_LINES: Final = 16
_MAX_CHUNK_OVERHEAD: Final = 16
"""Bytes on the wire for each byte of a chunked body; the smallest chunks take six."""
_FREE_OVERHEAD: Final = 64 << 10
_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}


class BoundedProtocol(HttpToolsProtocol):
    def __init__(
        self,
        config: uvicorn.Config,
        state: ServerState,
        limits: Limits,
        unfinished: Unfinished,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config, state, {}, asyncio.get_running_loop())
        self._limits = limits
        self._unfinished = unfinished
        self._gathered = HeadBuffer(limits, unfinished)
        self._on_lost = on_lost
        self._reading = _HEAD
        self._blank_lines = 0
        self._framing: list[tuple[bytes, bytes]] = []
        self._body_left = 0
        self._wire_bytes = self._body_bytes = self._discarded_bytes = 0
        self._tail = b""
        self._held, self._held_at = b"", 0
        self._timer: asyncio.TimerHandle | None = None
        self._due_s = 0.0
        self._when_due: Callable[[], None] | None = None
        self._is_head_timed = False
        self._write_timer: asyncio.TimerHandle | None = None

    # --- the connection -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._flow = self.flow = ReadingFlow(transport)
        self._answers_to = ResponseTransport(transport, self._end_answered)
        connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        shown = connection.getpeercert(binary_form=True) if connection is not None else None
        chain = [ssl.DER_cert_to_PEM_cert(shown)] if shown else []
        self._extensions: dict[str, Any] = {"tls": {"client_cert_chain": chain}} if chain else {}
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._reading = _REST
        self._forget()
        self._cancel_deadline()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.resume_writing()
        super().connection_lost(exc)
        self._on_lost()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_timer is None:
            timeout_s = self._limits.write_timeout_s
            self._write_timer = self.loop.call_later(timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    # --- what arrives -------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._take(data, 0)

    def _take(self, data: bytes, at: int) -> None:
        while at < len(data):
            reading = self._reading
            if reading == _HEAD:
                at = self._take_head(data, at)
            elif reading == _BODY:
                at = self._take_body(data, at)
            elif reading == _CHUNKS:
                at = self._take_chunks(data, at)
            else:
                if reading == _NOTHING:
                    self._hold(data, at)
                return
        if self._when_due is None and self._reading in (_BODY, _CHUNKS):
            self._wait(self._limits.body_timeout_s, self._body_is_late)

    def _take_head(self, data: bytes, at: int) -> int:
        """Parse a head if this is the end of one; gives where the rest begins."""
        head = self._gathered.take(data, at)
        if head is None:
            if not self._is_head_timed:
                self._expect_head()
            return len(data)
        if isinstance(head, HeadRefusal):
            self._refuse(head)
            return len(data)
        self._parse(head)
        if self._reading == _HEAD:
            self._blank_lines += 1
            if self._blank_lines > _MAX_BLANK_LINES:
                self._refuse(HeadRefusal(400))
        return self._gathered.rest_at

    def _take_body(self, data: bytes, at: int) -> int:
        piece = data[at : at + self._body_left]
        assert piece, "a request without a body has ended"
        self._body_left -= len(piece)
        self._parse(piece)
        return at + len(piece)

    def _take_chunks(self, data: bytes, at: int) -> int:
        """A chunked message ends with a blank line, so that no piece holds more than its end."""
        before = self._tail
        found = (before + data[at : at + 2]).find(b"\n\r\n") if before else -1
        if found >= 0:
            end = at + found + 3 - len(before)
        else:
            found = data.find(b"\n\r\n", at)
            end = found + 3 if found >= 0 else len(data)
        piece = data[at:end]
        self._tail = (before + piece)[-2:] if len(piece) < 2 else piece[-2:]
        self._wire_bytes += len(piece)
        self._parse(piece)
        excess = self._wire_bytes - _MAX_CHUNK_OVERHEAD * self._body_bytes
        if excess > _FREE_OVERHEAD and self._reading == _CHUNKS:
            self._refuse(HeadRefusal(400, "chunked encoding contains too much non-data"))
        return end

    def _hold(self, data: bytes, at: int) -> None:
        before, before_at = self._release()
        if before:
            data, at = before[before_at:] + data[at:], 0
        self._held, self._held_at = data, at
        self._unfinished.held_bytes += len(data)
        self._flow.pause_reading()
        self._flow.held = True
        if self._unfinished.is_too_much:
            self._reading = _REST
            self.transport.abort()

    def _release(self) -> tuple[bytes, int]:
        """What was held, and where in it the next request begins."""
        held, at = self._held, self._held_at
        self._unfinished.held_bytes -= len(held)
        self._held, self._held_at = b"", 0
        return held, at

    def _parse(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # upstream: an upgrade that the server does not know is passed over
        except httptools.HttpParserError:
            self._refuse(HeadRefusal(400))

    # --- what the parser finds ----------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._reading != _HEAD:
            raise RuntimeError("a request begins before the one ahead of it has ended")
        self.url = b""
        self.headers = []
        self._framing = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._reading != _HEAD:
            return  # a trailer
        name = name.lower()
        if name in FRAMING:
            self._framing.append((name, value))
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._cancel_deadline()
        self._blank_lines = 0
        version, method = self.parser.get_http_version(), self.parser.get_method()
        frame = find_frame(version, method, self.parser.should_upgrade(), self._framing)
        target = split_target(self.url)
        if isinstance(frame, HeadRefusal):
            self._refuse(frame)
        elif isinstance(target, HeadRefusal):
            self._refuse(target)
        else:
            if target.authority:
                self._replace_host(target.authority)
            self.scope = {
                "type": "http",
                "asgi": _ASGI,  # type: ignore[typeddict-item]
                "http_version": version,
                "method": method.decode("ascii"),
                "scheme": self.scheme,  # type: ignore[typeddict-item]
                "path": target.path,
                "raw_path": target.raw_path,
                "query_string": target.query,
                "root_path": "",
                "headers": self.headers,
                "client": self.client,
                "server": self.server,
                "extensions": self._extensions,
            }
            self._body_left = frame.body_bytes
            self._wire_bytes = self._body_bytes = self._discarded_bytes = 0
            self._tail = b""
            self._reading = _CHUNKS if frame.body_bytes == CHUNKED else _BODY
            self._start(expects_continue=frame.expects_continue, is_newest=version == "1.1")

    def _start(self, *, expects_continue: bool, is_newest: bool) -> None:
        self.cycle = ResponseCycle(
            self.scope,
            self._answers_to,
            self._flow,
            self.server_state.default_headers,
            expects_continue=expects_continue,
            keep_alive=is_newest and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
            may_discard=self._may_discard,
        )
        task = self.loop.create_task(self.cycle.run_asgi(self.app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_body(self, body: bytes) -> None:
        if self._reading == _REST:
            return
        self._body_bytes += len(body)
        if self.cycle.response_complete:
            self._discarded_bytes += len(body)
            if not self._may_discard():
                self._linger()
            return
        self.cycle.body += body
        if len(self.cycle.body) > HIGH_WATER_LIMIT:
            self._flow.pause_reading()
        self.cycle.message_event.set()

    def on_message_complete(self) -> None:
        if self._reading == _REST:
            return
        self._cancel_deadline()
        self.cycle.more_body = False
        self.cycle.message_event.set()
        self._reading = _NOTHING
        if self.cycle.response_complete:
            self._expect_request()

    # --- what the application does ------------------------------------------------------------

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self._reading == _REST or self.transport.is_closing():
            return
        if self._reading == _NOTHING:
            self._expect_request()
            held, at = self._release()
            self._take(held, at)
        self._flow.resume_reading()

    def shutdown(self) -> None:
        """Told by the server: no request after this one."""
        if self.cycle is None or self.cycle.response_complete:
            self._close()
        else:
            self.cycle.keep_alive = False

    def _may_discard(self) -> bool:
        """Whether the rest of a body that nobody reads may be passed over."""
        return max(self._body_left, self._discarded_bytes) <= self._limits.max_discarded_bytes

    def _end_answered(self) -> None:
        """The answer was the last of this connection."""
        if self._reading in (_BODY, _CHUNKS):
            self._linger()
        else:
            self._close()

    # --- times and ends -----------------------------------------------------------------------

    def _expect_head(self) -> None:
        self._wait(self._limits.head_timeout_s, self._close)
        self._is_head_timed = True

    def _expect_request(self) -> None:
        self._reading = _HEAD
        self._flow.held = False
        self._wait(self._limits.idle_timeout_s, self._close)

    def _body_is_late(self) -> None:
        self._refuse(HeadRefusal(408, "the body did not arrive in time"))

    def _refuse(self, refusal: HeadRefusal) -> None:
        """Answer and end, if nothing else is being answered."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
            if cycle.response_started:
                self._reading = _REST
                self.transport.abort()
                return
        self.transport.write(refusal.as_bytes())
        self._linger()

    def _linger(self) -> None:
        """End what is sent and throw away what arrives: a client that is still sending would lose
        the answer if the connection were closed at once."""
        self._reading = _REST
        self._forget()
        self._flow.held = False
        self._flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._wait(self._limits.linger_s, self._close)

    def _close(self) -> None:
        """End the connection once what was written is taken, or is not."""
        self._reading = _REST
        self.transport.close()
        self._wait(self._limits.write_timeout_s, self.transport.abort)

    def _forget(self) -> None:
        self._gathered.clear()
        self._release()

    def _replace_host(self, authority: bytes) -> None:
        self.headers[:] = [pair for pair in self.headers if pair[0] != b"host"]
        self.headers.append((b"host", authority))

    # Deadlines come and go with every request and hardly ever pass: one timer serves all of them,
    # and looks when it fires whether the deadline of the moment is due.

    def _wait(self, timeout_s: float, then: Callable[[], None]) -> None:
        self._is_head_timed = False
        self._due_s = self.loop.time() + timeout_s
        self._when_due = then
        if self._timer is None or self._timer.when() > self._due_s:
            self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_at(self._due_s, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        self._timer = None
        if self._when_due is None:
            return
        if self._due_s > self.loop.time():
            self._set_timer()
            return
        then, self._when_due = self._when_due, None
        then()

    def _cancel_deadline(self) -> None:
        self._is_head_timed = False
        self._when_due = None
