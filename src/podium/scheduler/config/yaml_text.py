"""YAML as kube-scheduler reads a configuration: one document, equal keys noted and not refused.

The values are those of `podium.golang.yaml_reader`; what differs is what surrounds them. Upstream
turns YAML into JSON, with the keys of every map sorted, and reports equal keys together with
unknown fields instead of giving up at once. Only the first document counts, whatever follows it.
Syntax errors are worded by go-yaml, a port of libyaml, so libyaml's own words are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from podium.golang.yaml_reader import PARSER
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.yaml_values import ValueBuilder

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
        raise ConfigurationError(f"yaml: {_worded(error)}", line=_line_of(error)) from None
    if builder.refusal is not None:
        raise builder.refusal
    _sort_keys(builder.value)
    return YamlText(builder.value, tuple(builder.repeated), builder.lines)


def _check_version(event: yaml.DocumentStartEvent) -> None:
    if event.version is not None and event.version != _READ_VERSION:
        raise ConfigurationError("yaml: found incompatible YAML document", line=1)


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
            entries = [(str(key), container[key]) for key in sorted(container)]
            container.clear()
            container.update(entries)
        left.extend(container.values() if isinstance(container, dict) else container)
