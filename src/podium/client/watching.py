"""The events of a watch, read from its bytes, and the objects in them.

An event is a line of JSON. The object in it stays as it came; only what every reader needs is
looked at: the kind of event, the object's key and its resource version. A line that breaks off
with the stream is no event, since whatever it would have told comes again when the watch resumes.

Reading objects as they come: one that makes no sense stops no other. Whoever takes in a collection
decodes each object once, at the door. What cannot be decoded is counted, logged with its key, and
passed over.
"""

import logging
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from podium.golang.errors import ObjectError, PodiumError
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


T = TypeVar("T")
Decoder = Callable[[msgspec.Raw], T]

_STEP: Final = 100
"""How many objects of a list are taken in at a time."""
_LOG: Final = logging.getLogger("podium.client")
_UNDECODABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, ObjectError, ValueError)


def decoder_of(kind: type[T]) -> Decoder[T]:
    """For a struct of msgspec, or `dict` for plain objects."""
    decode: Decoder[T] = msgspec.json.Decoder(kind).decode
    return decode


class ObjectReader(Generic[T]):
    """`what` names the collection in the log."""

    def __init__(self, what: str, decode: Decoder[T]) -> None:
        self.undecodable = 0
        """How many objects could not be read, and were passed over."""
        self._what = what
        self._decode = decode

    def read(self, key: Key, item: Any) -> T | None:
        try:
            return self._decode(item)
        except _UNDECODABLE as problem:
            self._pass_over(str(key), problem)
            return None

    def read_list(
        self,
        items: Iterable[msgspec.Raw],
        delete_unlisted: Callable[[Container[Key]], None],
        put: Callable[[Head, msgspec.Raw], None],
    ) -> Iterator[None]:
        """Become a list, in steps: deletions first, then its items in their order, each once."""
        heads: dict[Key, tuple[Head, msgspec.Raw]] = {}
        for number, item in enumerate(items):
            if number % _STEP == _STEP - 1:
                yield
            try:
                head = head_of(item)
            except BrokenStream as problem:
                self._pass_over("an item", problem)
                continue
            heads[head.key] = (head, item)
        delete_unlisted(heads.keys())
        for number, (head, item) in enumerate(heads.values()):
            if number % _STEP == _STEP - 1:
                yield
            put(head, item)

    def _pass_over(self, which: str, problem: Exception) -> None:
        self.undecodable += 1
        _LOG.error("%s: %s cannot be read and is passed over: %s", self._what, which, problem)
