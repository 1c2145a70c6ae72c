"""The head of a request, from however many pieces it arrives in, and never too much of it.

It is gathered here and parsed at once: a parser that is fed byte by byte copies what it has with
each one. All connections of a server share what may wait unparsed.
"""

from dataclasses import dataclass

from podium.net.serving.limits import Limits
from podium.net.serving.request_head import Refusal


@dataclass(slots=True)
class Unfinished:
    """The bytes that all connections of a server hold unparsed: incomplete heads, and what waits
    behind a request that is being answered."""

    max_bytes: int
    held_bytes: int = 0

    @property
    def is_too_much(self) -> bool:
        return self.held_bytes > self.max_bytes


class HeadBuffer:
    def __init__(self, limits: Limits, unfinished: Unfinished) -> None:
        self._limits = limits
        self._unfinished = unfinished
        self._head = bytearray()
        self._counted_bytes = 0
        self.rest_at = 0
        """Where in the data that was taken last the head has ended."""

    def take(self, data: bytes, at: int) -> bytes | Refusal | None:
        """The head, if this is the end of it; None if there must be more to come."""
        gathered = len(self._head)
        if gathered:
            self._head += data[at:]
            end = _blank_line(self._head, max(0, gathered - 2))
            size = end or len(self._head)
        else:
            end = _blank_line(data, at)
            size = (end or len(data)) - at
        if size > self._limits.max_head_bytes:
            return Refusal(431)
        if not end:
            if not gathered:
                self._head += data[at:]
            return self._count()
        if gathered:
            head = bytes(self._head[:end])
            self.rest_at = at + end - gathered
            self.clear()
        else:
            head = data[at:end]
            self.rest_at = end
        return Refusal(431) if head.count(b"\n") > self._limits.max_headers + 2 else head

    def clear(self) -> None:
        self._unfinished.held_bytes -= self._counted_bytes
        self._counted_bytes = 0
        self._head = bytearray()

    def _count(self) -> Refusal | None:
        self._unfinished.held_bytes += len(self._head) - self._counted_bytes
        self._counted_bytes = len(self._head)
        return (
            Refusal(503, "too many unfinished requests") if self._unfinished.is_too_much else None
        )


def _blank_line(data: bytes | bytearray, start: int) -> int:
    """Where the first blank line ends, 0 without one; the parser refuses bare line feeds."""
    end = data.find(b"\n\r\n", start)
    bare = data.find(b"\n\n", start, end if end >= 0 else len(data))
    if bare >= 0:
        return bare + 2
    return end + 3 if end >= 0 else 0
