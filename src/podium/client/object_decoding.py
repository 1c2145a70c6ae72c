"""Reading objects as they come: one that makes no sense stops no other.

Whoever takes in a collection decodes each object once, at the door. What cannot be decoded is
counted, logged with its key, and passed over.
"""

import logging
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec

from podium.client.watching import BrokenStream, Head, head_of
from podium.golang.errors import ObjectError
from podium.kubernetes.controllers.object_keys import Key

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
