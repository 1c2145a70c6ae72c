"""The events of a watch, read from the bytes of its stream.

An event is a line of JSON. The object in it stays as it came; only what every reader needs is
looked at: the kind of event, the object's key and its resource version. A line that breaks off
with the stream is no event, since whatever it would have told comes again when the watch resumes.
"""

from collections.abc import AsyncIterator
from typing import Final

import msgspec

from podium.golang.errors import PodiumError
from podium.kubernetes.controllers.object_keys import Key

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"

_LONGEST_LINE: Final = 64 << 20
_INITIAL_END: Final = "k8s.io/initial-events-end"


class BrokenStream(PodiumError):
    """What came is no watch: lines without end, or no JSON."""


class WatchEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class HeadMeta(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class Head(msgspec.Struct):
    """What every object has."""

    metadata: HeadMeta

    @property
    def key(self) -> Key:
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def ends_initial_events(self) -> bool:
        return (self.metadata.annotations or {}).get(_INITIAL_END) == "true"


_EVENTS: Final = msgspec.json.Decoder(WatchEvent)
_HEADS: Final = msgspec.json.Decoder(Head)


def head_of(written: msgspec.Raw | bytes) -> Head:
    """Raises BrokenStream for what is no object."""
    try:
        return _HEADS.decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise BrokenStream(f"not an object: {problem}") from None


async def events(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[WatchEvent]]:
    """The events of each piece that completes some, together."""
    rest: list[bytes] = []
    size = 0
    async for piece in pieces:
        last = piece.rfind(b"\n")
        if last < 0:
            rest.append(piece)
            size += len(piece)
            if size > _LONGEST_LINE:
                raise BrokenStream(f"a line is longer than {_LONGEST_LINE} B")
            continue
        whole = b"".join((*rest, piece[:last]))
        rest, size = [piece[last + 1 :]], len(piece) - last - 1
        found = [_event(line) for line in whole.split(b"\n") if line.strip()]
        if found:
            yield found


def _event(line: bytes) -> WatchEvent:
    try:
        return _EVENTS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise BrokenStream(f"not an event: {problem}") from None
