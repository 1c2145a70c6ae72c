"""YAML as kube-scheduler reads a configuration: one document, equal keys noted and not refused.

The values are those of `podium.api.yaml_reader`; what differs is what surrounds them. Upstream
turns YAML into JSON, with the keys of every map sorted, and reports equal keys together with
unknown fields instead of giving up at once. Only the first document counts, whatever follows it.
Syntax errors are worded by go-yaml, a port of libyaml, so libyaml's own words are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from podium.api.yaml_reader import PARSER, Builder
from podium.config.errors import ConfigurationError

_DEPTH: Final = 100
_ALIAS_NODES: Final = 100_000
_NOT_IN_JSON: Final = {"nan": "NaN", "inf": "+Inf", "+inf": "+Inf", "-inf": "-Inf"}

LinesOf = Mapping[tuple[int, str], int]
"""Line by (id of the map, key); the ids are those of maps inside the value that comes with it."""


@dataclass(frozen=True, slots=True)
class YamlText:
    """The first document, the equal keys in it as upstream words them, and where its keys are."""

    value: Any
    repeated: tuple[str, ...]
    lines: LinesOf


def read_yaml_text(data: bytes) -> YamlText:
    """Raises ConfigurationError with go-yaml's text."""
    builder = _ConfigurationBuilder()
    try:
        for event in yaml.parse(data, Loader=PARSER):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            if not isinstance(event, yaml.DocumentStartEvent):
                builder.take(event)
    except yaml.YAMLError as error:
        raise ConfigurationError(f"yaml: {_worded(error)}", line=_line_of(error)) from None
    _sort_keys(builder.value)
    return YamlText(builder.value, tuple(builder.repeated), builder.lines)


class _ConfigurationBuilder(Builder):
    def __init__(self) -> None:
        self.repeated: list[str] = []
        self.lines: dict[tuple[int, str], int] = {}
        super().__init__("", _DEPTH, _ALIAS_NODES)

    def _repeated_key(self, key: str, first: int, line: int) -> None:
        """Nothing yet: upstream gives the line of the value, which has not been read."""

    def _set(self, target: dict[str, Any], key: str, value: Any, _line: int) -> None:
        if key in target:
            self.repeated.append(f'line {_line}: key "{key}" already set in map')
        target[key] = value
        self.lines[id(target), key] = _line

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> Any:
        number = _NOT_IN_JSON.get(event.value.replace(".", "", 1).lower())
        try:
            return super()._scalar(event, line)
        except ConfigurationError:
            if number is not None:
                raise ConfigurationError(f"json: unsupported value: {number}", line=line) from None
            raise

    def _alias(self, name: str | None, line: int) -> Any:
        if name is None or name not in self._anchors:
            raise ConfigurationError(f"yaml: unknown anchor '{name}' referenced", line=line)
        if self._anchors[name] is None:
            raise ConfigurationError(f"yaml: anchor '{name}' value contains itself", line=line)
        return super()._alias(name, line)

    def _error(self, line: int, problem: str, remedy: str = "") -> ConfigurationError:
        return ConfigurationError(f"yaml: line {line}: {problem}", remedy=remedy, line=line)


def _worded(error: yaml.YAMLError) -> str:
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
            entries = sorted(container.items())
            container.clear()
            container.update(entries)
        left.extend(container.values() if isinstance(container, dict) else container)
