"""Reading what clients send: JSON or YAML into values, with Go's words where it is neither.

A request's body as a value, and which of its fields were written twice. JSON is the common form
and is read by msgspec, with one pass more where the request wants to know of duplicate fields.
YAML is read as kubectl reads it. Numbers that fit no 64-bit integer become floats, as in Go.
What cannot be read raises `Unreadable` with the words of Go's decoder.
"""

import json
import math
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from podium.golang.errors import InputError
from podium.golang.json_reader import (
    find_repeated,
    members,
    mend_halves,
    mend_surrogates,
    syntax_error,
)
from podium.golang.json_values import JsonValue
from podium.golang.quoting import go_quote
from podium.golang.yaml_reader import read_first_document

JSON: Final = "application/json"
YAML: Final = "application/yaml"
MAX_DEPTH: Final = 200
MAX_PARTS: Final = 25_000
"""Objects and lists in one body; the largest definitions of custom resources have 20,000."""
MAX_VALUES: Final = 75_000
"""Values of any type in one body; what is made of them takes a few microseconds each."""
MAX_YAML_VALUES: Final = 100_000
"""The same for YAML, which is slower to read; keys count too."""
_MAX_YAML_DIRECTIVES: Final = 100
"""libyaml compares each `%TAG` line with all before it."""
_MAX_PROBLEMS: Final = 100
"""upstream: the decoder stops counting what strict clients are told."""
_decode = msgspec.json.Decoder().decode


V = TypeVar("V")


class Unreadable(Exception):
    """The body is neither JSON nor YAML; the text is Go's."""


REPEATED_IN_YAML: Final = "yaml: unmarshal errors:"
"""How it begins if keys occur twice in a map of YAML."""


class Read(NamedTuple, Generic[V]):
    value: V
    duplicates: tuple[str, ...]
    """`duplicate field "metadata.name"`, in the order of the text."""
    written: V | None = None
    """The value with its fields as they were written, if there are duplicates."""


def read_json(body: bytes, *, find_duplicates: bool = False) -> Read[JsonValue]:
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = _read_slowly(body)
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH or body.count(b",") >= MAX_VALUES:
        check_size(value)
    return _with_duplicates(value, body) if find_duplicates else Read(value, ())


def check_size(value: JsonValue) -> None:
    """Refuse what is nested too deeply or has too many parts or values.

    Walks level by level, so that depth costs no stack.
    """
    level: list[Any] = [value]
    parts = values = 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        values += sum(len(item) for item in level if isinstance(item, (dict, list)))
        if values > MAX_VALUES:
            raise Unreadable(f"exceeded max number of values ({MAX_VALUES})")
        for item in level:
            if isinstance(item, dict):
                below.extend(each for each in item.values() if isinstance(each, (dict, list)))
            elif isinstance(item, list):
                below.extend(each for each in item if isinstance(each, (dict, list)))
        parts += len(below)
        if parts > MAX_PARTS:
            raise Unreadable(f"exceeded max number of objects and lists ({MAX_PARTS})")
        if not below:
            return
        level = below
    raise Unreadable("exceeded max depth")


def _read_slowly(body: bytes) -> JsonValue:
    """Read what the fast decoder refused but Go may take: odd bytes in texts, huge numbers."""
    problem = syntax_error(body)
    if problem:
        raise Unreadable(problem)
    try:
        value: JsonValue = json.loads(
            body.decode("utf-8", "replace"), parse_int=_integer, parse_float=_float
        )
        if b"\\u" in body:
            value = mend_halves(value)
        return value
    except (ValueError, RecursionError):
        raise Unreadable("exceeded max depth") from None


def _integer(digits: str) -> int | float:
    if len(digits) < 19:
        return int(digits)
    if len(digits) < 21 and -(1 << 63) <= int(digits) < 1 << 63:
        return int(digits)
    return _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Unreadable(f"json: cannot unmarshal number {digits} into Go value of type float64")
    return value


def read_yaml_body(body: bytes) -> Read[JsonValue]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Unreadable("error converting YAML to JSON: yaml: invalid UTF-8") from None
    if text.count("\n%") > _MAX_YAML_DIRECTIVES:
        raise Unreadable("error converting YAML to JSON: yaml: too many directives")
    repeated: list[tuple[int, str]] = []
    try:
        # upstream: what follows the first document is not even read.
        value = read_first_document(text, depth=MAX_DEPTH, nodes=MAX_YAML_VALUES, repeated=repeated)
    except InputError as problem:
        raise Unreadable(f"error converting YAML to JSON: yaml: {problem}") from None
    check_size(value)
    lines = [f"  line {line}: key {go_quote(key)} already set in map" for line, key in repeated]
    told = "\n".join((REPEATED_IN_YAML, *lines))
    return Read(sort_fields(value), (told,) if lines else ())


def sort_fields(value: JsonValue) -> JsonValue:
    """The value with its fields in the order in which Go writes them."""
    if isinstance(value, dict):
        return {name: sort_fields(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sort_fields(item) for item in value]
    return value


def _with_duplicates(value: JsonValue, body: bytes) -> Read[JsonValue]:
    """Walk the text once more; twice where a field was found to be repeated."""
    try:
        written = find_repeated(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        written = None
    if written is None:
        return Read(value, ())
    found: dict[str, None] = {}
    _collect(written, "", found)
    return Read(value, tuple(islice(found, _MAX_PROBLEMS)), mend_halves(written))


def _collect(value: object, path: str, found: dict[str, None]) -> None:
    """Each repeated field once, in the order of the text."""
    if isinstance(value, dict):
        known: set[str] = set()
        for name, item in members(value):
            below = f"{path}.{name}" if path else name
            if name in known:
                found[f"duplicate field {go_quote(mend_surrogates(below))}"] = None
            known.add(name)
            _collect(item, below, found)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _collect(item, f"{path}[{place}]", found)
