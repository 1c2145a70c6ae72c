"""YAML text to plain values, built from parser events rather than by PyYAML's constructors.

Building from events keeps three promises that the ready-made loaders do not: scalars mean what
they mean to kubectl, no document can name a Python object, and hostile documents are stopped while
they are read: nesting and alias expansion are bounded, and nothing here recurses.

What is wrong with a text that is no YAML, in words that help to mend it. libyaml reports the state
of its scanner; people need the line and what to change. Known messages get a remedy, unknown ones
are passed on as they are.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import yaml

from podium.golang.errors import InputError
from podium.golang.json_values import JsonValue
from podium.golang.yaml_scalars import ScalarError, key_text, plain, read_tagged

# libyaml's parser where PyYAML was built with it; both give the same events.
PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mark(Enum):
    """What stands for the key of a map where there is none yet, or `<<`."""

    NO_KEY = "no key"
    MERGE = "<<"


_MERGE: Final = _Mark.MERGE
_NO_KEY: Final = _Mark.NO_KEY


@dataclass(slots=True)
class Open:
    """A map or list that is still being read; `height` is how deep it goes below itself."""

    value: dict[str, JsonValue] | list[JsonValue]
    line: int
    anchor: str | None
    first_node: int
    height: int = 1
    key: str | _Mark = _NO_KEY
    key_lines: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Anchored:
    value: JsonValue
    nodes: int
    height: int


def read_yaml(
    text: str, source: str, *, depth: int, alias_nodes: int, nodes: int | None = None
) -> Iterator[tuple[int, JsonValue]]:
    """Every document that is not empty, with the line on which its content starts.

    No document may be nested deeper than `depth`, aliases may stand for `alias_nodes` values
    in all, and there may be `nodes` values in the text.
    """
    for line, value in _read_all(text, source, Builder(source, depth, alias_nodes, nodes)):
        if value is not None:
            yield line, value


def read_first_document(
    text: str, *, depth: int, nodes: int, repeated: list[tuple[int, str]] | None = None
) -> JsonValue:
    """What the first document holds, be it empty; the rest of the text is not looked at.

    A key that occurs twice in a map is refused; with `repeated` it is noted there, by its line, and
    the last one counts.
    """
    builder = Builder("", depth, nodes, nodes)
    builder.repeated_keys = repeated
    _, value = next(_read_all(text, "", builder), (0, None))
    return value


def _read_all(text: str, source: str, builder: "Builder") -> Iterator[tuple[int, JsonValue]]:
    try:
        for event in yaml.parse(text, Loader=PARSER):
            if isinstance(event, yaml.DocumentStartEvent):
                builder.start_document()
            elif isinstance(event, yaml.DocumentEndEvent):
                yield builder.line, builder.value
            else:
                builder.take(event)
    except yaml.YAMLError as error:
        raise explain_error(error, text, source) from None


class Builder:
    """Puts one document's events together.

    A reader with other ideas about keys overrides `_collection_as_key`, `_key` and `_set`.
    """

    def __init__(self, source: str, depth: int, alias_nodes: int, nodes: int | None = None) -> None:
        self._source = source
        self._depth = depth
        self._alias_nodes_allowed = alias_nodes
        self._alias_nodes = 0
        self._nodes_allowed = sys.maxsize if nodes is None else nodes
        self._nodes = 0
        self.repeated_keys: list[tuple[int, str]] | None = None
        """Keys that occur twice in a map, if they are not to be refused."""
        self.start_document()

    def start_document(self) -> None:
        self.value: JsonValue = None
        self.line = 0
        self._open: list[Open] = []
        self._anchors: dict[str, Anchored | None] = {}

    def take(self, event: yaml.Event) -> None:
        mark = event.start_mark
        line = mark.line + 1 if mark else 0
        if isinstance(event, yaml.ScalarEvent):
            self._count(line)
            self._take_scalar(event, line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._count(line)
            self._begin(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = self._open.pop()
            nodes = self._nodes - done.first_node + 1
            self._remember(done.anchor, done.value, nodes=nodes, height=done.height)
            self._place(done.value, done.line, done.height)
        elif isinstance(event, yaml.AliasEvent):
            anchored = self._alias(event.anchor, line)
            self._place(anchored.value, line, anchored.height)

    def _take_scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        items = self._open[-1].value if self._open else None
        if not isinstance(items, list) and _is_merge(event) and self._expects_key():
            self._open[-1].key = _MERGE
            return
        value = self._scalar(event, line)
        if event.anchor:
            self._remember(event.anchor, value, nodes=1, height=0)
        if isinstance(items, list):  # the shortest way for what there is most of
            items.append(value)
        else:
            self._place(value, line, height=0)

    def _count(self, line: int) -> None:
        self._nodes += 1
        if self._nodes > self._nodes_allowed:
            raise self._error(line, f"more than {self._nodes_allowed} values")

    def _begin(self, event: yaml.CollectionStartEvent, line: int) -> None:
        if self._expects_key():
            self._collection_as_key(line)
        self._check_depth(1, line)
        if event.anchor:
            self._anchors[event.anchor] = None
        is_map = isinstance(event, yaml.MappingStartEvent)
        self._open.append(Open({} if is_map else [], line, event.anchor, self._nodes))

    def _collection_as_key(self, line: int) -> None:
        raise self._error(
            line,
            "a map or list cannot be a key",
            "if this is a template, render it first; if {{ }} is meant as text, quote it",
        )

    def _expects_key(self) -> bool:
        if not self._open:
            return False
        parent = self._open[-1]
        return parent.key is _NO_KEY and isinstance(parent.value, dict)

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> JsonValue:
        try:
            if event.tag is not None:
                return read_tagged(event.tag, event.value)
            return plain(event.value) if event.implicit[0] else event.value
        except ScalarError as error:
            raise self._error(line, str(error)) from None

    def _alias(self, name: str | None, line: int) -> Anchored:
        if name is None or name not in self._anchors:
            raise self._error(line, f"alias *{name} has no anchor &{name} before it")
        anchored = self._anchors[name]
        if anchored is None:
            raise self._error(line, f"anchor &{name} contains itself")
        self._check_depth(anchored.height, line)
        self._nodes += anchored.nodes
        self._alias_nodes += anchored.nodes
        if self._alias_nodes > self._alias_nodes_allowed:
            problem = f"aliases repeat more than {self._alias_nodes_allowed} values"
            raise self._error(line, problem, "write them out")
        return anchored

    def _check_depth(self, below: int, line: int) -> None:
        if len(self._open) + below > self._depth:
            raise self._error(line, f"nested more than {self._depth} levels deep")

    def _remember(self, anchor: str | None, value: JsonValue, *, nodes: int, height: int) -> None:
        if anchor:
            self._anchors[anchor] = Anchored(value, nodes, height)

    def _place(self, value: JsonValue, line: int, height: int) -> None:
        """Puts a finished value where it belongs: the document, a list, a key or a key's value."""
        if not self._open:
            self.value, self.line = value, line
            return
        parent = self._open[-1]
        if height >= parent.height:
            parent.height = height + 1
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is _NO_KEY:
            parent.key = self._key(parent, value, line)
        else:
            if parent.key is _MERGE:
                self._merge(parent.value, value, line)
            else:
                self._set(parent.value, parent.key, value, line)
            parent.key = _NO_KEY

    def _key(self, parent: Open, value: JsonValue, line: int) -> str:
        try:
            key = key_text(None if isinstance(value, dict | list) else value)
        except ScalarError as error:
            raise self._error(line, str(error)) from None
        first = parent.key_lines.get(key)
        if first is not None:
            self._repeated_key(key, first, line)
        parent.key_lines[key] = line
        return key

    def _repeated_key(self, key: str, first: int, line: int) -> None:
        if self.repeated_keys is not None:
            self.repeated_keys.append((line, key))
            return
        problem = f'key "{key}" appears twice in one map, first on line {first}'
        raise self._error(line, problem, "remove one of the two")

    def _set(self, target: dict[str, JsonValue], key: str, value: JsonValue, _line: int) -> None:
        target[key] = value

    def _merge(self, target: dict[str, JsonValue], value: JsonValue, line: int) -> None:
        # upstream: go-yaml merges at the place of `<<`, over what is before it, and the
        # earlier of several merged maps wins.
        for merged in reversed(value) if isinstance(value, list) else (value,):
            if not isinstance(merged, dict):
                raise self._error(line, "<< needs a map or a list of maps")
            for key, inner in merged.items():
                self._set(target, key, inner, line)

    def _error(self, line: int, problem: str, remedy: str = "") -> InputError:
        return InputError(problem, source=self._source, line=line, remedy=remedy)


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return event.value == "<<" and (event.implicit[0] or event.tag == "tag:yaml.org,2002:merge")


_REMEDIES = (
    ("mapping values are not allowed", 'check the indentation, and quote text that contains ": "'),
    ("did not find expected key", "check the indentation of this line and of the one above"),
    ("did not find expected '-'", "check the indentation of this line and of the list above"),
    ("did not find expected ','", "close the bracket or brace, or quote the text"),
    ("unknown escape character", "write the backslash twice, or use single quotes"),
    ("did not find expected <document start>", "separate documents with a line that is ---"),
)
_TAB_REMEDY = "indent with spaces"


def explain_error(error: yaml.YAMLError, text: str, source: str) -> InputError:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.encode()[: error.position].count(b"\n") + 1
        problem = f"character {chr(error.character)!r} is not allowed: {error.reason}"
        return InputError(problem, source=source, line=line)
    if not isinstance(error, yaml.MarkedYAMLError):
        return InputError(f"not YAML: {error}", source=source)

    problem = error.problem or "not YAML"
    mark = error.problem_mark
    if mark is None:
        return InputError(problem, source=source)
    line, remedy = mark.line + 1, ""
    if "unexpected end of stream" in problem and error.context_mark is not None:
        problem, remedy = "a quote is not closed", "add the closing quote"
        line = error.context_mark.line + 1
    elif "tab character" in problem:
        remedy = _TAB_REMEDY
    elif "cannot start any token" in problem:
        character = _character_at(text, mark)
        if character == "\t":
            problem, remedy = "a tab is used for indentation", _TAB_REMEDY
        else:
            problem = f'no value can start with "{character}"'
            remedy = "put the value in quotes"
    else:
        remedy = next((cure for known, cure in _REMEDIES if known in problem), "")
    return InputError(problem, source=source, line=line, remedy=remedy)


def _character_at(text: str, mark: yaml.Mark) -> str:
    lines = text.splitlines()
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""
