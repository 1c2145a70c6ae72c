"""A request's body as a value, and which of its fields were written twice.

JSON is the common form and is read by msgspec, with one pass more where the request wants to know
of duplicate fields. YAML is read as kubectl reads it. Numbers that fit no 64-bit integer become
floats, as in Go. What cannot be read raises `Unreadable` with the words of Go's decoder.
"""

import json
import math
from itertools import islice
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import msgspec

from podium.golang.errors import InputError
from podium.golang.json_syntax import syntax_error
from podium.golang.json_values import JsonValue
from podium.golang.quoting import quoted
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
"""How it begins if keys stand twice in a map of YAML."""


class Read(NamedTuple, Generic[V]):
    value: V
    duplicates: tuple[str, ...]
    """`duplicate field "metadata.name"`, in the order of the text."""
    pairs: "_Pairs | None" = None
    """The text's fields as they were written, if there are duplicates."""

    def merge_problems(self, unknown: list[str]) -> list[str]:
        """Duplicates and unknown fields in the order of the text.

        upstream: nothing is told of what stands in, or repeats, a field that nobody knows.
        """
        if self.pairs is None or not unknown:
            return [*self.duplicates, *unknown]
        found: dict[str, None] = {}
        _collect(self.pairs, "", found, frozenset(unknown))
        return _first(found)


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
        value = json.loads(body.decode("utf-8", "replace"), parse_int=_integer, parse_float=_float)
        return _without_halves(value) if b"\\u" in body else value
    except (ValueError, RecursionError):
        raise Unreadable("exceeded max depth") from None


def _without_halves(value: JsonValue) -> JsonValue:
    """The value with half characters, such as a lone `\\ud800`, replaced as in Go."""
    if isinstance(value, str):
        return _without_half_characters(value)
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    if isinstance(value, dict):
        return {
            _without_half_characters(name): _without_halves(item) for name, item in value.items()
        }
    return value


def _without_half_characters(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
    lines = [f"  line {line}: key {quoted(key)} already set in map" for line, key in repeated]
    told = "\n".join((REPEATED_IN_YAML, *lines))
    return Read(sort_fields(value), (told,) if lines else ())


def sort_fields(value: JsonValue) -> JsonValue:
    """The value with its fields in the order in which Go writes them."""
    if isinstance(value, dict):
        return {name: sort_fields(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [sort_fields(item) for item in value]
    return value


class _Repeated(Exception):
    """A field occurs twice in an object."""


class _Pairs(list[tuple[str, Any]]):
    """An object whose fields were not merged."""


def _merged(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _Repeated


_find_repeated = json.JSONDecoder(object_pairs_hook=_merged).decode
_keep_repeated = json.JSONDecoder(object_pairs_hook=_Pairs).decode


def _with_duplicates(value: JsonValue, body: bytes) -> Read[JsonValue]:
    """Walk the text once more; twice where a field was found to be repeated."""
    text = body.decode("utf-8", "replace")
    try:
        _find_repeated(text)
    except _Repeated:
        pairs = cast(_Pairs, _keep_repeated(text))
        found: dict[str, None] = {}
        _collect(pairs, "", found)
        return Read(value, tuple(_first(found)), pairs)
    except (ValueError, RecursionError):
        pass
    return Read(value, ())


def _first(found: dict[str, None]) -> list[str]:
    return list(islice(found, _MAX_PROBLEMS))


def _collect(
    value: object, path: str, found: dict[str, None], unknown: frozenset[str] = frozenset()
) -> None:
    """Each repeated field once, and those of `unknown`, in the order of the text."""
    if isinstance(value, _Pairs):
        known: set[str] = set()
        for name, item in value:
            below = f"{path}.{name}" if path else name
            shown = quoted(_without_half_characters(below)) if unknown or name in known else ""
            if unknown and (told := f"unknown field {shown}") in unknown:
                found[told] = None
                continue
            if name in known:
                found[f"duplicate field {shown}"] = None
            known.add(name)
            _collect(item, below, found, unknown)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _collect(item, f"{path}[{place}]", found, unknown)
