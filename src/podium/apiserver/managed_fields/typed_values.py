"""An applied configuration as values with types: checked, turned into the set of its fields.

An apply says what it wants to own, so its fields are taken literally: an unknown field or a value
of another type is refused, and the set holds what is written and no more (no parents, except items
of keyed lists and keys of maps).

Putting an applied configuration into the live object, and taking fields out of an object.
Objects and maps are merged field by field, keyed lists and sets item by item, everything else
is replaced. Items keep the order of the live list, except that items that both have come in the
order of the configuration; new items are where the configuration has them among these.
"""

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from podium.apiserver.managed_fields.comparing import step_of
from podium.apiserver.managed_fields.field_sets import (
    LEAF,
    SELF,
    VOID,
    FieldSet,
    NotOfItsType,
    format_path_element,
    is_member,
    without_voids,
)
from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.quoting import go_value
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct

_NOTHING: Final[FieldSet] = {VOID: LEAF}
_NUMERIC: Final = frozenset({Form.INT32, Form.INT64, Form.FLOAT})
_TEXTS: Final = frozenset({Form.STRING, Form.BYTES})
_GO_TYPES: Final = {
    str: "string", bool: "bool", list: "[]interface {}", dict: "map[string]interface {}",
}  # fmt: skip


class OtherValue(NamedTuple):
    """A value that an expression has made and JSON does not have, as Go's texts show it."""

    go_type: str
    syntax: str
    text: str

    def __str__(self) -> str:
        return self.text


def problems(value: JsonValue, shape: Shape, path: str = "") -> list[str]:
    """What does not fit the types, as `path: text`."""
    if value is None:
        return []
    match shape:
        case Scalar():
            text = _scalar_problem(value, shape)
            return [f"{path}: {text}"] if text else []
        case ListOf():
            if not isinstance(value, list):
                return [f"{path}: expected list, got {_format_value(value)}"]
            return _list_problems(value, shape, path)
        case MapOf() | Struct():
            if not isinstance(value, dict):
                return [f"{path}: expected map, got {_format_value(value)}"]
            return _object_problems(value, shape, path)
        case AnyValue():
            return list(_other_problems(value, path))


def _other_problems(value: Any, path: str) -> Iterator[str]:
    """Values that JSON does not have, where everything else fits."""
    if isinstance(value, OtherValue):
        yield f"{path}: expected any scalar, got {_format_value(value)}"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _other_problems(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _other_problems(item, f"{path}[{index}]")


def _scalar_problem(value: JsonValue, shape: Scalar) -> str:
    if shape.form in _NUMERIC:
        if value.__class__ in (int, float):
            return ""
        return f"expected numeric (int or float), got {_go_type(value)}"
    if shape.form in _TEXTS:
        return "" if isinstance(value, str) else f"expected string, got {_go_syntax(value)}"
    if shape.form is Form.BOOL:
        return "" if isinstance(value, bool) else f"expected boolean, got {_format_value(value)}"
    is_scalar = not isinstance(value, dict | list | OtherValue)
    return "" if is_scalar else f"expected any scalar, got {_format_value(value)}"


def _list_problems(value: list[JsonValue], shape: ListOf, path: str) -> list[str]:
    found: list[str] = []
    if not shape.is_associative:
        for index, item in enumerate(value):
            found += problems(item, shape.item, f"{path}[{index}]")
        return found
    seen: set[str] = set()
    step_of_item = step_of(shape)
    for index, item in enumerate(value):
        try:
            step = step_of_item(item)
        except NotOfItsType as error:
            return [*found, f"{path}: element {index}: {error}"]
        if step in seen:
            found.append(f"{path}: duplicate entries for key {format_path_element(step)}")
        seen.add(step)
        for problem in problems(item, shape.item):
            found.append(f"{path}{format_path_element(step)}{problem}")
    return found


def _object_problems(value: dict[str, JsonValue], shape: MapOf | Struct, path: str) -> list[str]:
    found: list[str] = []
    for key, item in value.items():
        below = shape_below(shape, key)
        if below is None:
            return [*found, f"{path}.{key}: field not declared in schema"]
        found += problems(item, below, f"{path}.{key}")
    return found


def shape_below(shape: Shape, key: str) -> Shape | None:
    """The shape of a field or of a key of a map."""
    if isinstance(shape, Struct):
        field = shape.fields.get(key)
        return shape.rest if field is None else field.shape
    if isinstance(shape, MapOf):
        return shape.value
    return shape if isinstance(shape, AnyValue) else None


def is_split(shape: Shape, value: JsonValue) -> bool:
    """Whether parts of a value can have different owners."""
    match shape:
        case Struct() | MapOf():
            return not shape.is_atomic
        case ListOf():
            return shape.is_associative
        case AnyValue():
            return shape.granular and isinstance(value, dict)
        case _:
            return False


def field_set(value: JsonValue, shape: Shape) -> FieldSet:
    """The root of the set of all fields that a configuration mentions."""
    return without_voids(field_set_with_voids(value, shape))


def field_set_with_voids(value: JsonValue, shape: Shape) -> FieldSet:
    """The same, where fields that hold nothing to be owned have a void below them."""
    node = _node(value, shape)
    return {} if node is None else {key: below for key, below in node.items() if key != SELF}


def _node(value: JsonValue, shape: Shape) -> FieldSet | None:
    """What a value adds below its path; None: nothing, LEAF: the path itself."""
    if not is_split(shape, value):
        return LEAF
    if isinstance(value, list) and isinstance(shape, ListOf):
        return _list_node(value, shape)
    if not isinstance(value, dict):
        return None
    out: FieldSet = {}
    names = shape.fields if isinstance(shape, Struct) else {}
    for key, item in value.items():
        below = shape_below(shape, key)
        node = LEAF if below is None or below.__class__ is Scalar else _node(item, below)
        if node is not LEAF and (item is None or item == {} or key not in names):
            node = _as_member(node)
        out[f"f:{key}"] = _NOTHING if node is None else node
    return out or None


def _list_node(value: list[JsonValue], shape: ListOf) -> FieldSet | None:
    out: FieldSet = {}
    step = step_of(shape)
    for item in value:
        name = step(item)
        out[name] = LEAF if name in out else _as_member(_node(item, shape.item))
    return out or None


def _as_member(node: FieldSet | None) -> FieldSet:
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def _go_type(value: JsonValue) -> str:
    return value.go_type if isinstance(value, OtherValue) else _GO_TYPES[value.__class__]


def _format_value(value: Any) -> str:
    """As Go prints a value that is wrapped in a struct."""
    return f"&{{{go_value(value)}}}"


def _go_syntax(value: JsonValue) -> str:
    return f"&value.valueUnstructured{{Value:{_go_literal(value)}}}"


def _go_literal(value: Any) -> str:
    match value:
        case OtherValue():
            return value.syntax
        case str():
            return f'"{value}"'
        case dict():
            inner = ", ".join(f'"{key}":{_go_literal(value[key])}' for key in sorted(value))
            return f"map[string]interface {{}}{{{inner}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_go_literal, value))}}}"
        case _:
            return go_value(value)


_MISSING: Final = object()


def merge_values(live: DecodedValue, config: DecodedValue, shape: Shape) -> DecodedValue:
    """The live value with the configuration in it. Neither is changed."""
    if not is_split(shape, config) or (not live and not config):
        return config
    if isinstance(shape, ListOf):
        if not live or not config:
            return config or live
        return _merged_lists(live, config, shape)
    if not isinstance(live, dict) or not isinstance(config, dict):
        return config if isinstance(config, dict) else live
    out = dict(live)
    for key, item in config.items():
        before = out.get(key, _MISSING)
        below = shape_below(shape, key)
        out[key] = (
            item if before is _MISSING or below is None else merge_values(before, item, below)
        )
    return out


def _merged_lists(live: list[Any], config: list[Any], shape: ListOf) -> list[Any]:
    step = step_of(shape)
    mine = {step(item): item for item in config}
    names = [step(item) for item in live]
    order = _merged_order(names, list(mine))
    theirs = _once_each(names, live)
    repeated = iter([item for name, item in zip(names, live, strict=True) if name not in theirs])
    out = []
    for name in order:
        if name not in mine:
            out.append(theirs[name] if name in theirs else next(repeated))
        elif name in theirs:
            out.append(merge_values(theirs[name], mine[name], shape.item))
        else:
            out.append(mine[name])
    return out


def _once_each(names: list[str], items: list[Any]) -> dict[str, Any]:
    """The items that share their step with no other."""
    found = dict(zip(names, items, strict=True))
    if len(found) == len(names):
        return found
    times = Counter(names)
    return {name: item for name, item in found.items() if times[name] == 1}


def _merged_order(live: list[str], config: list[str]) -> list[str]:
    """The steps of both in the order of the result; shared steps occur once."""
    shared = set(live) & set(config)
    awaited = deque(name for name in config if name in shared)
    out: list[str] = []
    placed: set[str] = set()
    left, right = 0, 0
    while left < len(live) or right < len(config):
        if left < len(live):
            name = live[left]
            if name not in shared:
                out.append(name)
                left += 1
                continue
            out_of_turn = right < len(config) and awaited and name != awaited[0]
            if name in placed or (out_of_turn and name != config[right]):
                left += 1
                continue
        if right < len(config):
            name = config[right]
            out.append(name)
            placed.add(name)
            right += 1
            if awaited and awaited[0] == name:
                awaited.popleft()
    return out


def with_named_fields(node: FieldSet, shape: Shape | None) -> FieldSet:
    """The set, to which every named field belongs that has a member below it."""
    names = shape.fields if isinstance(shape, Struct) else {}
    out: FieldSet = {}
    for step, below in node.items():
        if below:
            inner = with_named_fields(below, _shape_at(shape, step))
            if SELF not in inner and step[:2] == "f:" and step[2:] in names:
                inner = {SELF: LEAF, **inner}
            out[step] = inner
        else:
            out[step] = LEAF
    return out


def _shape_at(shape: Shape | None, step: str) -> Shape | None:
    if shape is None:
        return None
    if step.startswith("f:"):
        return shape_below(shape, step[2:])
    return shape.item if isinstance(shape, ListOf) else None


def remove_fields(value: JsonValue, fields: FieldSet, shape: Shape | None) -> Any:
    """The value without the members of a set; None when nothing is left of it."""
    if isinstance(value, list):
        if not value or not isinstance(shape, ListOf) or not shape.is_associative:
            return None
        return _removed_items(value, fields, shape) or None
    if not isinstance(value, dict):
        return value
    if not value or shape is None or not is_split(shape, value):
        return None
    out: JsonObject = {}
    for key, item in value.items():
        node = fields.get(f"f:{key}")
        if node is None:
            out[key] = item
        elif not is_member(node):
            out[key] = remove_fields(item, node, shape_below(shape, key))
    return out or None


def _removed_items(value: list[Any], fields: FieldSet, shape: ListOf) -> list[Any]:
    step = step_of(shape)
    out = []
    for item in value:
        node = fields.get(step(item))
        if node is None:
            out.append(item)
        elif not is_member(node):
            out.append(remove_fields(item, node, shape.item))
    return out
