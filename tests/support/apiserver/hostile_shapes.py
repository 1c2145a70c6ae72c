"""Objects that have too much of one thing, for every field that any kind has.

A place is a way through the schema of a kind to a list, a map or a text. For each place there are
objects with many items in it, equal or distinct, empty or filled; all else is as small as it can
be. The schema says which places there are, so that no field is forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from support.apiserver.smallest_objects import KINDS, smallest

from podium.apiserver.bodies import MAX_PARTS, MAX_VALUES
from podium.apiserver.http.messages import MAX_BODY_BYTES
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import schema_of

EQUAL, DISTINCT, EMPTY, LONG = "equal", "distinct", "empty", "long"
_DEEPEST = 9
_LIMITS = (MAX_BODY_BYTES - 4096, MAX_PARTS - 200, MAX_VALUES - 1000)
_NUMBERS = frozenset({Form.INT32, Form.INT64, Form.FLOAT})
_TEXTS = frozenset({Form.STRING, Form.BYTES, Form.QUANTITY, Form.INT_OR_STRING})
_LONG_TEXTS = ("a", "a.", "a/", "a-", "$(a)", "é", "1", "\\", "=", "a,", "(", "0.0.0.0/", "::")


@dataclass(frozen=True)
class Place:
    """A field of a kind that can hold much; `path` has a name for a field, 0 for an item."""

    resource: ApiResource
    path: tuple[str | int, ...]
    shape: Shape

    def __str__(self) -> str:
        return f"{self.resource.kind}.{'.'.join(map(str, self.path))}"

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways in which it can hold much."""
        match self.shape:
            case Scalar():
                return tuple(f"{LONG} {text}" for text in _LONG_TEXTS)
            case ListOf(item=Struct() | MapOf() | ListOf()):
                return (EQUAL, DISTINCT, EMPTY)
            case ListOf():
                return (EQUAL, DISTINCT)
            case _:
                return (DISTINCT,)

    def largest(self, form: str) -> int:
        """As many items as the server reads: what more there is, it refuses by their number."""
        few, many = (self.content(form, count) for count in (100, 200))
        sizes = zip(_LIMITS, _sizes(few), _sizes(many), strict=True)
        count = min(100 * limit // (two - one) for limit, one, two in sizes if two > one)
        while _sizes(self.content(form, count))[0] > _LIMITS[0]:
            count -= count // 20
        return count

    def content(self, form: str, count: int) -> Any:
        """What is put into the place."""
        match self.shape:
            case Scalar():
                return form.removeprefix(f"{LONG} ") * count
            case ListOf(item=item):
                if form == EMPTY:
                    return [_empty(item) for _ in range(count)]
                return [filled(item, number if form == DISTINCT else 7) for number in range(count)]
            case MapOf(value=value):
                return {f"k{number}": filled(value, number) for number in range(count)}
            case _:
                return {f"k{number}": "v" for number in range(count)}

    def object(self, content: Any, name: str = "a") -> dict[str, Any]:
        """An object of the kind with the content in the place."""
        root = schema_of(self.resource.group, self.resource.version, self.resource.kind).root
        kind = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
        return {**_with({**kind, **smallest(self.resource, name)}, root, self.path, content)}


def _sizes(value: Any) -> tuple[int, int, int]:
    """Bytes, objects and lists, values."""
    parts = values = 0
    below = [value]
    while below:
        item = below.pop()
        if isinstance(item, dict | list):
            parts += 1
            values += len(item)
            below += item.values() if isinstance(item, dict) else item
    return len(msgspec.json.encode(value)), parts, values


def _with(holder: Any, shape: Shape, path: tuple[str | int, ...], content: Any) -> Any:
    if not path:
        return content
    step, *rest = path
    match shape:
        case Struct():
            below = shape.fields[str(step)].shape
            inner = (holder or {}).get(step)
            return {**(holder or {}), step: _with(inner, below, tuple(rest), content)}
        case ListOf(item=item):
            items = holder or [filled(item, 0)]
            return [_with(items[0], item, tuple(rest), content), *items[1:]]
        case MapOf(value=value):
            return {"k": _with((holder or {}).get("k"), value, tuple(rest), content)}
        case _:
            return content


def filled(shape: Shape, number: int, depth: int = 2) -> Any:
    """A value of a shape in which every field has something; `number` tells it from others."""
    match shape:
        case Scalar():
            return _scalar(shape, number)
        case AnyValue():
            return {"a": f"x{number}"}
        case ListOf():
            return [filled(shape.item, number, depth - 1)] if depth > 0 else []
        case MapOf():
            return {f"k{number}": filled(shape.value, number, depth - 1)} if depth > 0 else {}
        case Struct():
            return {
                name: filled(field.shape, number, depth - 1)
                for name, field in shape.fields.items()
                if name != "managedFields" and (depth > 0 and isinstance(field.shape, Scalar))
            }


def _scalar(shape: Scalar, number: int) -> Any:
    if shape.values:
        return shape.values[0]
    match shape.form:
        case Form.BOOL:
            return True
        case Form.INT32 | Form.INT64 | Form.FLOAT:
            return number % 60_000 + 1
        case Form.QUANTITY:
            return f"{number + 1}Gi"
        case Form.TIME:
            return "2026-01-01T00:00:00Z"
        case Form.MICRO_TIME:
            return "2026-01-01T00:00:00.000001Z"
        case Form.BYTES:
            return "YWJj"
        case Form.INT_OR_STRING:
            return number % 60_000 + 1
        case _:
            return f"x{number}"


def _empty(shape: Shape) -> Any:
    match shape:
        case ListOf():
            return []
        case Struct() | MapOf() | AnyValue():
            return {}
        case _:
            return ""


def places_of(resource: ApiResource) -> Iterator[Place]:
    """Every place of a kind."""
    root = schema_of(resource.group, resource.version, resource.kind).root
    yield from _below(resource, root, (), ())


def _below(
    resource: ApiResource, shape: Shape, path: tuple[str | int, ...], structs: tuple[Struct, ...]
) -> Iterator[Place]:
    match shape:
        case Scalar():
            if shape.form in _TEXTS and not shape.values:
                yield Place(resource, path, shape)
        case AnyValue():
            yield Place(resource, path, shape)
        case ListOf():
            yield Place(resource, path, shape)
            yield from _below(resource, shape.item, (*path, 0), structs)
        case MapOf():
            yield Place(resource, path, shape)
            yield from _below(resource, shape.value, (*path, 0), structs)
        case Struct():
            if shape in structs or len(structs) > _DEEPEST:
                return
            for name, field in shape.fields.items():
                if path or name not in ("kind", "apiVersion"):
                    yield from _below(resource, field.shape, (*path, name), (*structs, shape))


def all_places() -> Iterator[Place]:
    for resource in KINDS:
        yield from places_of(resource)
