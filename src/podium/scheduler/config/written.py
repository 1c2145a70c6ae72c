"""A configuration file as it was written, JSON or YAML: its values, and what only the text tells.

The first character decides: a file that starts with `{` is JSON and nothing else, all others are
YAML. Besides the values, three things of the text are kept for the messages: the text itself, the
keys that occur twice, and the line of every field.

YAML as kube-scheduler reads a configuration: one document, equal keys noted and not refused. The
values are those of `podium.golang.yaml_reader`; what differs is what surrounds them. Upstream turns
YAML into JSON, with the keys of every map sorted, and reports equal keys together with unknown
fields instead of giving up at once. Only the first document counts, whatever follows it. Syntax
errors are worded by go-yaml, a port of libyaml, so libyaml's own words are kept.

From the events of a YAML parser to values, with go-yaml's words for what cannot become JSON.
upstream: a document is parsed to its end before any value is looked at, then read as Go values,
then turned into JSON. A tag that its value defies, a list that is a key or a number that JSON lacks
is therefore told only if the syntax is right, and one of an earlier step before one of a later.
`ValueBuilder.refusal` keeps it until then.
"""

import re
import struct
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import yaml

from podium.golang.base64_text import base64_fault
from podium.golang.json_reader import WrittenFloat
from podium.golang.quoting import go_quote, json_number
from podium.golang.yaml_reader import PARSER, Anchored, Builder, Open
from podium.golang.yaml_scalars import ScalarError, key_text, plain
from podium.scheduler.config.decode_values import (
    MAX_VALUES,
    SHORT,
    read_json_text,
    too_many,
)
from podium.scheduler.config.errors import ConfigurationError

_DEPTH: Final = 100
_READ_VERSION: Final = (1, 1)

LinesOf = Mapping[tuple[int, str], int]
"""Line by (id of the map, key); the ids are those of maps inside the value that comes with it."""


@dataclass(frozen=True, slots=True)
class YamlText:
    """The first document, the equal keys in it as upstream words them, and where its keys are."""

    value: Any
    repeated: tuple[str, ...]
    lines: LinesOf


def read_yaml_text(data: bytes) -> YamlText:
    """Raises ConfigurationError, for syntax errors with go-yaml's text."""
    builder = ValueBuilder(_DEPTH)
    try:
        for event in yaml.parse(data, Loader=PARSER):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if isinstance(event, yaml.DocumentStartEvent):
                _check_version(event)
            else:
                builder.take(event)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"yaml: {_word_error(error)}", line=_line_of(error)) from None
    if builder.refusal is not None:
        raise builder.refusal
    _sort_keys(builder.value)
    return YamlText(builder.value, tuple(builder.repeated), builder.lines)


def _check_version(event: yaml.DocumentStartEvent) -> None:
    if event.version is not None and event.version != _READ_VERSION:
        raise ConfigurationError("yaml: found incompatible YAML document", line=1)


def _word_error(error: yaml.YAMLError) -> str:
    """What go-yaml prints. It counts lines from 0, except in errors of the scanner."""
    if isinstance(error, yaml.reader.ReaderError):
        return str(error.reason)
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error)
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    problem = error.problem or "unknown problem parsing YAML content"
    return f"line {line}: {problem}" if line else problem


def _line_of(error: yaml.YAMLError) -> int | None:
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark is not None else None


def _sort_keys(value: Any) -> None:
    """Sort every map in place, however often an alias repeats it."""
    done: set[int] = set()
    left = [value]
    while left:
        container = left.pop()
        if id(container) in done or not isinstance(container, dict | list):
            continue
        done.add(id(container))
        if isinstance(container, dict):
            entries = [(str(key), container[key]) for key in sorted(container)]
            container.clear()
            container.update(entries)
        left.extend(container.values() if isinstance(container, dict) else container)


LARGEST_BYTES: Final = 2 * 1024 * 1024
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    value: Any
    text: str | None = None
    repeated_keys: tuple[str, ...] = ()
    lines: LinesOf = field(default_factory=dict)

    def _first_line(self, value: Any, line: int | None) -> int | None:
        """Where an entry of a list begins, if it is a map."""
        keys = value if isinstance(value, dict) else ()
        return min((self.lines.get((id(value), key), 0) for key in keys), default=0) or line

    def line_of(self, path: str) -> int | None:
        """The line of a field such as `profiles[0].schedulerName`, or of what is nearest above."""
        if not self.lines and self.text is not None:
            return _line_of_json(self.text, path)
        value, line = self.value, None
        for step in _STEP.finditer(path):
            index, key = step[1], step[2]
            if index is not None and isinstance(value, list) and int(index) < len(value):
                value = value[int(index)]
                line = self._first_line(value, line)
            elif key is not None and isinstance(value, dict) and key in value:
                line = self.lines.get((id(value), key), line)
                value = value[key]
            else:
                break
        return line


@lru_cache(maxsize=1)
def _json_as_yaml(text: str) -> WrittenFile | None:
    """A JSON text once more, with lines: nearly all JSON is YAML too."""
    try:
        found = read_yaml_text(text.encode())
    except ConfigurationError:
        return None
    return WrittenFile(found.value, None, (), found.lines)


def _line_of_json(text: str, path: str) -> int | None:
    if not text.lstrip().startswith("{"):
        return None
    twin = _json_as_yaml(text)
    return None if twin is None else twin.line_of(path)


def read_written(data: bytes) -> WrittenFile:
    """Raises ConfigurationError."""
    if len(data) > LARGEST_BYTES:
        raise ConfigurationError(f"larger than {LARGEST_BYTES // 1024 // 1024} MiB", remedy=SHORT)
    text = data.decode(errors="replace")
    if text.lstrip().startswith("{"):
        # Bytes that are no UTF-8 are shown as they are where they are out of place.
        value = read_json_text(data.decode(errors="surrogateescape"))
        return WrittenFile(value, text)
    found = read_yaml_text(data)
    return WrittenFile(
        {} if found.value is None else found.value, text, found.repeated, found.lines
    )


_TAG: Final = "tag:yaml.org,2002:"
_FLOAT_WORDS: Final = {"nan": "NaN", "inf": "+Inf", "+inf": "+Inf", "-inf": "-Inf"}
_KEY_OF_FLOAT_WORD: Final = {"NaN": ".nan", "+Inf": ".inf", "-Inf": "-.inf"}
_TIMESTAMP: Final = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:[Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
# The steps after parsing, in upstream's order.
_READING, _KEYS, _JSON = range(3)


class _RawKey(str):
    """The text of a key that was no text, and its value."""

    raw: Any

    def __new__(cls, text: str, raw: Any) -> "_RawKey":
        key = super().__new__(cls, text)
        key.raw = raw
        return key


class ValueBuilder(Builder):
    """`repeated` has the keys that occur twice, `lines` where each key is."""

    def __init__(self, depth: int) -> None:
        self.repeated: list[str] = []
        self.lines: dict[tuple[int, str], int] = {}
        self._refusals: dict[int, ConfigurationError] = {}
        self._keys_of: dict[int, set[tuple[type, Any]]] = {}
        self._maps: list[dict[str, Any]] = []
        self._repeated_before: list[int] = []
        self._repeated_inside: dict[str, list[str]] = {}
        super().__init__("", depth, MAX_VALUES)

    @property
    def refusal(self) -> ConfigurationError | None:
        """What is wrong although the syntax is right."""
        return self._refusals[min(self._refusals)] if self._refusals else None

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            before, anchor = self._repeated_before.pop(), self._open[-1].anchor
            if anchor:
                self._repeated_inside[anchor] = self.repeated[before:]
        super().take(event)
        if self._nodes > MAX_VALUES:
            raise too_many()
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._repeated_before.append(len(self.repeated))

    def _refuse(self, step: int, text: str, line: int) -> None:
        self._refusals.setdefault(step, ConfigurationError(text, line=line))

    def _error(self, line: int, problem: str, remedy: str = "") -> ConfigurationError:
        return ConfigurationError(f"yaml: line {line}: {problem}", remedy=remedy, line=line)

    # --- keys ---------------------------------------------------------------------------------

    def _collection_as_key(self, line: int) -> None:
        """Nothing yet: it is shown whole, and has not been read."""

    def _key(self, _parent: Open, value: Any, line: int) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, dict | list):
            self._refuse(_READING, f"yaml: invalid map key: {go_syntax(value)}", line)
            return ""
        if isinstance(value, float):
            return _RawKey(_go_float32(value), value)
        return _RawKey("" if value is None else key_text(value), value)

    def _set(self, target: dict[str, Any], key: str, value: Any, _line: int) -> None:
        raw = key.raw if isinstance(key, _RawKey) else key
        if raw is None or (isinstance(raw, int) and raw >= 2**63):
            kind, shown = ("%!s(<nil>)", "<nil>") if raw is None else ("uint64", hex(raw))
            text = f"unsupported map key of type: {kind}, key: {shown}, value: {go_syntax(value)}"
            self._refuse(_KEYS, text, _line)
        if id(target) not in self._keys_of:
            # Kept alive, also if a later key takes its place: ids of the dead are given away again.
            self._maps.append(target)
        keys = self._keys_of.setdefault(id(target), set())
        if (type(raw), raw) in keys:
            self.repeated.append(f"line {_line}: key {go_syntax(raw)} already set in map")
        keys.add((type(raw), raw))
        target[key] = value
        self.lines[id(target), key] = _line

    def _merge(self, target: dict[str, Any], value: Any, line: int) -> None:
        merged = value if isinstance(value, list) else [value]
        if all(isinstance(inner, dict) for inner in merged):
            super()._merge(target, value, line)
        else:
            text = "yaml: map merge requires map or sequence of maps as the value"
            self._refuse(_READING, text, line)

    # --- scalars and aliases ------------------------------------------------------------------

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> Any:
        short = (event.tag or "").removeprefix(_TAG)
        if short == "binary":
            return self._binary(event.value, line)
        if short == "timestamp" and not _TIMESTAMP.fullmatch(event.value):
            return self._refuse_scalar(event.value, short, line)
        try:
            value = super()._scalar(event, line)
        except ConfigurationError:
            number = _float_word(event.value)
            if number and short in ("", "float"):
                if self._expects_key():
                    return _KEY_OF_FLOAT_WORD[number]
                self._refuse(_JSON, f"json: unsupported value: {number}", line)
                return None
            return self._refuse_scalar(event.value, short, line)
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            # Go has it as a float, and shows no more digits than that has.
            return WrittenFloat(json_number(float(value)))
        return value

    def _binary(self, text: str, line: int) -> str:
        if base64_fault(text) is None:
            return b64decode(text).decode(errors="replace")
        self._refuse(_READING, "yaml: !!binary value contains invalid base64 data", line)
        return ""

    def _refuse_scalar(self, text: str, short: str, line: int) -> None:
        found = _resolved_tag(text)
        self._refuse(_READING, f"yaml: cannot decode !!{found} `{text}` as a !!{short}", line)

    def _alias(self, name: str | None, line: int) -> Anchored:
        if name is None or name not in self._anchors:
            raise ConfigurationError(f"yaml: unknown anchor '{name}' referenced", line=line)
        if self._anchors[name] is None:
            raise ConfigurationError(f"yaml: anchor '{name}' value contains itself", line=line)
        self.repeated.extend(self._repeated_inside.get(name, ()))
        return super()._alias(name, line)


def go_syntax(value: Any) -> str:
    """A value as Go's `%#v` shows it.

    >>> print(go_syntax({"a": [1, None, "b"]}))
    map[interface {}]interface {}{"a":[]interface {}{1, interface {}(nil), "b"}}
    """
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case str():
            return go_quote(value)
        case int() | float():
            return json_number(value)
        case dict():
            pairs = (f"{_inner(getattr(k, 'raw', k))}:{_inner(v)}" for k, v in value.items())
            return f"map[interface {{}}]interface {{}}{{{', '.join(pairs)}}}"
    return f"[]interface {{}}{{{', '.join(map(_inner, value))}}}"


def _inner(value: Any) -> str:
    return "interface {}(nil)" if value is None else go_syntax(value)


def _float_word(text: str) -> str:
    return _FLOAT_WORDS.get(text.replace(".", "", 1).lower(), "") if "." in text else ""


def _resolved_tag(text: str) -> str:
    """The type that a scalar has without its tag."""
    try:
        value = plain(text)
    except ScalarError:
        return "float"
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str():
            return "str"
        case int() if "." not in text and not re.fullmatch(r"[-+0-9_]+[eE].*", text):
            return "int"
    return "float"


def _go_float32(number: float) -> str:
    """A float as a key: the shortest text that is the same with 32 bits, in Go's `%g`."""
    single = _round_number(number)
    texts = (f"{number:.{digits}e}" for digits in range(17))
    text = next((text for text in texts if _round_number(float(text)) == single), "")
    if single is None or not text:
        return ".inf" if number > 0 else "-.inf"
    mantissa, _, exponent = text.partition("e")
    if -4 <= int(exponent) < 6:
        return json_number(float(text))
    return f"{mantissa}e{int(exponent):+03d}"


def _round_number(number: float) -> float | None:
    """The nearest number of 32 bits; None if it is too large for that."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return None
    return rounded
