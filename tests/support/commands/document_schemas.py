"""Checking documents against `docs/schemas`: as much of JSON Schema 2020-12 as those files use.

A keyword that is not known here is an error, so that no schema says what nobody checks.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).parents[3] / "docs" / "schemas"

_TYPES: Final[dict[str, Any]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}
_ANNOTATIONS: Final = {"$schema", "$defs", "title", "description"}
_CHECKED: Final = {
    *("$ref", "type", "const", "enum", "pattern", "minimum", "required", "properties"),
    *("additionalProperties", "items", "prefixItems", "minItems"),
    *("maxItems", "anyOf", "oneOf"),
}


def require_valid(document: Any) -> None:
    """The document is as the schema of its kind says; fails with every place where it is not."""
    assert list(document)[:2] == ["apiVersion", "kind"]
    found = list(problems(document))
    assert not found, "\n".join(found[:10])


def problems(document: Any) -> Iterator[str]:
    file = f"{document['kind']}.json"
    yield from _Check(file).problems(load(file), document, "")


def schema_problems(value: Any, schema: Any) -> Iterator[str]:
    """What is wrong with a value by a schema that refers to no other."""
    yield from _Check("").problems(schema, value, "")


@cache
def load(file: str) -> Any:
    return json.loads((SCHEMAS / file).read_text())


def resolve(reference: str, file: str) -> tuple[Any, str]:
    """The schema that is referred to, and the file that it is in."""
    named, _, pointer = reference.partition("#")
    schema, name = load(named or file), named or file
    for part in pointer.split("/")[1:]:
        schema = schema[part]
    return schema, name


def kinds() -> set[str]:
    """The kinds that have a schema."""
    return {path.stem for path in SCHEMAS.glob("*.json")}


class _Check:
    """Values against schemas of one file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def problems(self, schema: Any, value: Any, at: str) -> Iterator[str]:
        if isinstance(schema, bool):
            if not schema:
                yield f"{at}: not allowed"
            return
        unknown = schema.keys() - _CHECKED - _ANNOTATIONS
        assert not unknown, f"{self._file}: cannot check {unknown}"
        yield from self._single(schema, value, at)
        yield from self._combined(schema, value, at)
        if isinstance(value, list):
            yield from self._array(schema, value, at)
        if isinstance(value, dict):
            yield from self._object(schema, value, at)

    def _single(self, schema: Any, value: Any, at: str) -> Iterator[str]:
        types = schema.get("type", [])
        types = types if isinstance(types, list) else [types]
        if types and not any(_is(value, each) for each in types):
            yield f"{at}: {value!r} is no {' or '.join(types)}"
        if "const" in schema and not _equal(value, schema["const"]):
            yield f"{at}: {value!r} is not {schema['const']!r}"
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {value!r} is none of {schema['enum']}"
        pattern = schema.get("pattern", "")
        if isinstance(value, str) and not re.search(pattern, value):
            yield f"{at}: {value!r} does not match {pattern}"
        if "minimum" in schema and _is(value, "number") and value < schema["minimum"]:
            yield f"{at}: {value} is less than {schema['minimum']}"

    def _combined(self, schema: Any, value: Any, at: str) -> Iterator[str]:
        if "$ref" in schema:
            target, file = resolve(schema["$ref"], self._file)
            yield from _Check(file).problems(target, value, at)
        for keyword in ("anyOf", "oneOf"):
            found = [list(self.problems(each, value, at)) for each in schema.get(keyword, ())]
            right = sum(not wrong for wrong in found)
            if found and not right:
                yield from min(found, key=len)
            if keyword == "oneOf" and right > 1:
                yield f"{at}: fits {right} alternatives"

    def _array(self, schema: Any, value: list[Any], at: str) -> Iterator[str]:
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: has {len(value)} items"
        first = schema.get("prefixItems", [])
        for place, item in enumerate(value):
            inner = first[place] if place < len(first) else schema.get("items", True)
            yield from self.problems(inner, item, f"{at}[{place}]")

    def _object(self, schema: Any, value: dict[str, Any], at: str) -> Iterator[str]:
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{at}: lacks {name}"
        known = schema.get("properties", {})
        for name, item in value.items():
            inner = known.get(name, schema.get("additionalProperties"))
            if inner is not None:
                yield from self.problems(inner, item, f"{at}.{name}")


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
