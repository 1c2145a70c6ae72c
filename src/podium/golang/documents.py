"""Text to documents: the one way in which files, YAML or JSON, become plain values.

A file may hold several documents: YAML separated by `---`, or JSON values one after the other.
YAML is read as kubectl reads it (`yaml_scalars`). Nothing a file can contain makes this module do
more than read it: size, nesting and alias expansion are bounded, and whatever is wrong ends in an
`InputError` with the file's name and, where known, the line.

In JSON the last of two equal keys counts, as everywhere, and the object is one of `RepeatedMembers`
for those who mind; in YAML, which people write, equal keys are refused.

The items of a JSON list, told apart and not yet decoded. `kubectl get -o json` writes one `kind:
List`, with hundreds of megabytes in it for a large cluster. Decoding all of that into dicts to make
objects of it takes most of the time and memory of reading; so items can be had as the text that
they are, and each is decoded as what it is.

Contract: `read_json_list` gives a list only where `documents.read_documents` would give one
document that `expand_lists` takes apart, with the same items in the same order. For every other
text it gives None, sound or not.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from podium.golang.errors import InputError
from podium.golang.json_reader import find_repeated
from podium.golang.json_values import JsonValue
from podium.golang.mistakes import join
from podium.golang.yaml_reader import read_yaml

_JSON_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Bounds that no honest input comes near."""

    size_bytes: int = 256 * 1024 * 1024
    depth: int = 100
    alias_nodes: int = 1_000_000
    values: int = 25_000_000
    """Maps, lists and what is in them: a few bytes of text become a hundred in memory."""
    yaml_values: int = 5_000_000
    """The same in YAML, of which a processor reads some hundred thousand in a second."""
    objects: int = 1_000_000
    """Documents of a file, and items of lists in it."""


DEFAULT_LIMITS = DocumentLimits()


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document of a file, or one item of a list in it.

    `index` counts a file's documents from 1, `of` says how many there are, `line` is where this one
    starts, and `item` leads from the document to `value` if that is an item of a list.
    """

    source: str
    index: int
    line: int
    value: JsonValue
    item: str = ""
    of: int = 1

    @property
    def place(self) -> str:
        """Where it is, such as `dump.json: items[12]` or `pods.yaml: document 2 (line 14)`."""
        return self.error("").place

    def error(self, problem: str, *, path: str = "", remedy: str = "") -> InputError:
        """An error about this document; its number and line are only told if there are several."""
        alone = self.of == 1
        return InputError(
            problem,
            source=self.source,
            document=None if alone else self.index,
            line=None if alone else self.line,
            path=join(self.item, path),
            remedy=remedy,
        )


def read_documents(
    text: str | bytes, source: str, limits: DocumentLimits = DEFAULT_LIMITS
) -> list[SourceDocument]:
    """The documents of a file, without the empty ones."""
    if len(text) > limits.size_bytes:
        raise _too_large(source, limits)
    if has_more_values_than(limits.values, text):
        raise _too_many(f"more than {limits.values:,} values", source)
    characters = _decode_text(text, source)
    start = _after_space(characters, 0)
    # Two braces open no JSON but a template, on which the YAML reader has better advice.
    if characters.startswith(("{", "["), start) and not characters.startswith("{{", start):
        found = _read_json(characters, source, limits)
    else:
        found = _read_yaml(characters, source, limits)
    if len(found) > limits.objects:
        raise _too_many_objects(source, limits)
    return [
        SourceDocument(source, index, line, value, of=len(found))
        for index, (line, value) in enumerate(found, 1)
    ]


def has_more_values_than(limit: int, text: str | bytes) -> bool:
    """Whether JSON text has so many maps, lists and separators, those in strings included."""
    if len(text) <= limit:
        return False
    if isinstance(text, str):
        return sum(text.count(sign) for sign in "{[,") > limit
    return sum(text.count(sign) for sign in (b"{", b"[", b",")) > limit


def expand_lists(
    documents: Iterable[SourceDocument], limits: DocumentLimits = DEFAULT_LIMITS
) -> Iterator[SourceDocument]:
    """The documents with every list replaced by its items, lists in lists included.

    Items of a typed list (`PodList`) come without kind and apiVersion from an API server and get
    those of their list. Raises InputError if there are more than a file may have.
    """
    for number, document in enumerate(_expand(documents), 1):
        if number > limits.objects:
            raise _too_many_objects(document.source, limits)
        yield document


def _expand(documents: Iterable[SourceDocument]) -> Iterator[SourceDocument]:
    for document in documents:
        items = _items_of(document.value)
        if items is None:
            yield document
            continue
        prefix, kind, api_version, values = items
        yield from _expand(
            SourceDocument(
                document.source,
                document.index,
                document.line,
                with_type(value, kind, api_version),
                join(document.item, f"{prefix}[{index}]"),
                document.of,
            )
            for index, value in enumerate(values)
        )


def _items_of(value: JsonValue) -> tuple[str, str, str, list[JsonValue]] | None:
    if isinstance(value, list):
        return "", "", "", value
    if not isinstance(value, dict):
        return None
    kind, items = value.get("kind"), value.get("items", ...)
    if not isinstance(kind, str) or not kind.endswith("List"):
        return None
    if items is not None and not isinstance(items, list):
        return None
    api_version = value.get("apiVersion")
    return (
        "items",
        kind.removesuffix("List"),
        api_version if isinstance(api_version, str) else "",
        items or [],
    )


def with_type(value: JsonValue, kind: str, api_version: str) -> JsonValue:
    """An item of a list of a kind, which says itself what it is."""
    if not kind or not isinstance(value, dict) or ("kind" in value and "apiVersion" in value):
        return value
    return {"apiVersion": api_version, "kind": kind, **value}


def _decode_text(text: str | bytes, source: str) -> str:
    try:
        if isinstance(text, str):
            text.encode()
            return text.removeprefix("\ufeff")
        if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return text.decode("utf-16")
        return text.decode("utf-8-sig")
    except UnicodeError as error:
        remedy = "save the file as UTF-8"
        if isinstance(error, UnicodeDecodeError):
            line = error.object.count(b"\n", 0, error.start) + 1
            raise InputError("not UTF-8", source=source, line=line, remedy=remedy) from None
        raise InputError("not Unicode text", source=source, remedy=remedy) from None


def _read_yaml(text: str, source: str, limits: DocumentLimits) -> list[tuple[int, JsonValue]]:
    return list(
        read_yaml(
            text,
            source,
            depth=limits.depth,
            alias_nodes=limits.alias_nodes,
            nodes=limits.yaml_values,
        )
    )


# --- JSON -------------------------------------------------------------------------------------

_UNREADABLE = (msgspec.DecodeError, RecursionError)


def _read_json(text: str, source: str, limits: DocumentLimits) -> list[tuple[int, JsonValue]]:
    """One JSON value quickly, or several one after the other, or an error that names the line."""
    try:
        values = [(1, read_json_value(text))]
    except _UNREADABLE:
        values = _read_json_stream(text, source, limits)
    for line, value in values:
        if is_deeper_than(limits.depth, value):
            raise _too_deep(source, line, limits)
    return values


def read_json_value(text: str | bytes) -> JsonValue:
    """Raises msgspec's errors, or a RecursionError."""
    value: JsonValue = msgspec.json.decode(text)
    repeated: JsonValue = find_repeated(text if isinstance(text, str) else text.decode())
    return value if repeated is None else repeated


def _read_json_stream(
    text: str, source: str, limits: DocumentLimits
) -> list[tuple[int, JsonValue]]:
    """The standard library's decoder finds where each value ends, and what is wrong with it."""
    decoder = json.JSONDecoder()
    values: list[tuple[int, JsonValue]] = []
    line, position = 1, 0
    while (start := _after_space(text, position)) < len(text):
        if len(values) > limits.objects:
            raise _too_many_objects(source, limits)
        line += text.count("\n", position, start)
        if text.startswith("---", start):
            return _read_yaml(text, source, limits)
        try:
            _, position = decoder.raw_decode(text, start)
            values.append((line, read_json_value(text[start:position])))
        except json.JSONDecodeError as error:
            raise InputError(f"not JSON: {error.msg}", source=source, line=error.lineno) from None
        except msgspec.DecodeError as error:
            raise InputError(f"not JSON: {error}", source=source, line=line) from None
        except RecursionError:
            raise _too_deep(source, line, limits) from None
        line += text.count("\n", start, position)
    return values


def _after_space(text: str, position: int) -> int:
    match = _JSON_SPACE.match(text, position)
    return match.end() if match else position


def is_deeper_than(limit: int, value: JsonValue) -> bool:
    """Whether maps and lists are nested more than `limit` levels deep; this does not recurse."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _too_deep(source: str, line: int, limits: DocumentLimits) -> InputError:
    return InputError(f"nested more than {limits.depth} levels deep", source=source, line=line)


def _too_many(problem: str, source: str) -> InputError:
    return InputError(problem, source=source, remedy="split the file")


def _too_many_objects(source: str, limits: DocumentLimits) -> InputError:
    return _too_many(f"more than {limits.objects:,} objects", source)


def _too_large(source: str, limits: DocumentLimits) -> InputError:
    size_mib = limits.size_bytes / 1024 / 1024
    return InputError(f"larger than {size_mib:g} MiB", source=source, remedy="split the file")


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

    owner: SourceDocument
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

    def document(self, *, keeps_repeated: bool = False) -> SourceDocument:
        """The item decoded; with `keeps_repeated` it tells of members that occur twice."""
        owner, kind = self.owner, self.item_type
        decode = read_json_value if keeps_repeated else msgspec.json.decode
        value = with_type(decode(bytes(self.raw)), kind.kind, kind.api_version)
        return SourceDocument(
            owner.source, owner.index, owner.line, value, f"items[{self.index}]", owner.of
        )


class JsonList(msgspec.Struct, frozen=True):
    """`document` is the list without its items."""

    document: SourceDocument
    items: list[JsonListItem]


_TYPE: Final = msgspec.json.Decoder(_WrittenType)
_LIST: Final = msgspec.json.Decoder(_WrittenList)


def read_json_list(
    data: bytes, source: str, limits: DocumentLimits = DEFAULT_LIMITS
) -> JsonList | None:
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
    head = SourceDocument(source, 1, 1, {"apiVersion": api_version, "kind": kind})
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
