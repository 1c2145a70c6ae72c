"""The items of a JSON list, told apart and not yet decoded.

`kubectl get -o json` writes one `kind: List`, with hundreds of megabytes in it for a large cluster.
Decoding all of that into dicts to make objects of it takes most of the time and memory of reading;
so items can be had as the text that they are, and each is decoded as what it is.

Contract: `read_json_list` gives a list only where `documents.read_documents` would give one
document that `expand_lists` takes apart, with the same items in the same order. For every other
text it gives None, sound or not.
"""

import re
from typing import Final, Protocol

import msgspec

from podium.golang.documents import (
    DEFAULT_LIMITS,
    Document,
    Limits,
    has_more_values_than,
    read_json_value,
    with_type,
)
from podium.golang.errors import InputError
from podium.golang.field_paths import join

_UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS: Final = bytes.maketrans(b"{[}]", b"(())")
_OTHER_BYTES: Final = bytes(set(range(256)) - set(b"{[}]"))
_OUTER_LEVELS: Final = 2
"""Those of the list itself."""


class Located(Protocol):
    """Something in a file, which can say where it is."""

    @property
    def place(self) -> str: ...

    def error(self, problem: str, *, path: str = "", remedy: str = "") -> InputError: ...


class TypeMeta(msgspec.Struct, rename="camel", frozen=True):
    api_version: str = ""
    kind: str = ""


class _WrittenType(msgspec.Struct, rename="camel"):
    api_version: str | msgspec.UnsetType = msgspec.UNSET
    kind: str | msgspec.UnsetType = msgspec.UNSET


class _WrittenList(_WrittenType):
    items: list[msgspec.Raw] | None = None


class JsonListItem(msgspec.Struct, frozen=True):
    """One item: `raw` is its text, `owner` the list that it is in, without its items."""

    owner: Document
    index: int
    raw: msgspec.Raw
    item_type: TypeMeta
    """What an item is that does not say so itself."""

    @property
    def place(self) -> str:
        return self.error("").place

    def error(self, problem: str, *, path: str = "", remedy: str = "") -> InputError:
        return self.owner.error(problem, path=join(f"items[{self.index}]", path), remedy=remedy)

    def type_meta(self) -> TypeMeta | None:
        """What the item says it is, or else what its list says; None if it says something odd."""
        try:
            written = _TYPE.decode(self.raw)
        except _UNDECODABLE:
            return None
        kind, api_version = written.kind, written.api_version
        if isinstance(kind, str) and isinstance(api_version, str):
            return TypeMeta(api_version, kind)
        return TypeMeta(
            api_version if isinstance(api_version, str) else self.item_type.api_version,
            kind if isinstance(kind, str) else self.item_type.kind,
        )

    def document(self, *, keeps_repeated: bool = False) -> Document:
        """The item decoded; with `keeps_repeated` it tells of members that occur twice."""
        owner, kind = self.owner, self.item_type
        decode = read_json_value if keeps_repeated else msgspec.json.decode
        value = with_type(decode(bytes(self.raw)), kind.kind, kind.api_version)
        return Document(
            owner.source, owner.index, owner.line, value, f"items[{self.index}]", owner.of
        )


class JsonList(msgspec.Struct, frozen=True):
    """`document` is the list without its items."""

    document: Document
    items: list[JsonListItem]


_TYPE: Final = msgspec.json.Decoder(_WrittenType)
_LIST: Final = msgspec.json.Decoder(_WrittenList)


def read_json_list(data: bytes, source: str, limits: Limits = DEFAULT_LIMITS) -> JsonList | None:
    """The list that a file is, if it is one and can be read."""
    try:
        if len(data) > limits.size_bytes or not data[:4096].lstrip().startswith(b"{"):
            return None
        if has_more_values_than(limits.values, data):
            return None
        if not data.isascii():
            data.decode()
        written = _LIST.decode(data)
        kind = written.kind
        # An absent list of items is another document than an empty one.
        if not isinstance(kind, str) or not kind.endswith("List") or not written.items:
            return None
        if len(written.items) > limits.objects:
            return None
        if any(_is_deeper_than(limits.depth - _OUTER_LEVELS, bytes(raw)) for raw in written.items):
            return None
    except _UNDECODABLE:
        return None
    api_version = written.api_version if isinstance(written.api_version, str) else ""
    listed = TypeMeta(api_version, kind.removesuffix("List"))
    head = Document(source, 1, 1, {"apiVersion": api_version, "kind": kind})
    return JsonList(
        head, [JsonListItem(head, index, raw, listed) for index, raw in enumerate(written.items)]
    )


def _is_deeper_than(limit: int, text: bytes) -> bool:
    """Whether brackets are nested more than `limit` levels deep in sound JSON."""
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    brackets = _STRING.sub(b"", text).translate(_BRACKETS, _OTHER_BYTES)
    for _ in range(limit):
        brackets = brackets.replace(b"()", b"")
        if not brackets:
            return False
    return True
