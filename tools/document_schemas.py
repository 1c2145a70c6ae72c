"""Writes the JSON Schemas of documents from the structs that documents are made of.

    python tools/document_schemas.py            writes docs/schemas
    python tools/document_schemas.py --check    names the files that it would write otherwise

A document is a struct that names its `KIND`; whoever adds one runs this, and lists it nowhere.
Descriptions are the docstring of a class and the text below a field. Everything that a struct has
is required, since all of it is written; only fields that are UNSET by default may be left out, and
defaults where the class omits them. Other files in the folder are removed.
"""

import argparse
import ast
import importlib
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from podium.golang.document_structs import Alternatives, Document
from podium.net.files.versioned_documents import API_VERSION

ROOT: Final = Path(__file__).parent.parent
SCHEMAS: Final = ROOT / "docs" / "schemas"
WIDTH: Final = 120
_REFERENCE: Final = "#/$defs/{name}"

Schema = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_checks = parser.parse_args().check
    written = write_schemas()
    stale = [name for name, text in written.items() if _read(SCHEMAS / name) != text]
    stale += [path.name for path in SCHEMAS.glob("*.json") if path.name not in written]
    if not only_checks:
        for name in stale:
            if name in written:
                (SCHEMAS / name).write_text(written[name])
            else:
                (SCHEMAS / name).unlink()
    sys.stdout.writelines(f"{name}\n" for name in stale)
    return 1 if stale and only_checks else 0


def _read(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def write_schemas() -> dict[str, str]:
    """All files with what they say."""
    found: dict[str, str] = {}
    for kind, document in find_documents().items():
        found[f"{kind}.json"] = render(schema_of(document))
        if document.LISTED:
            found[f"{kind}List.json"] = render(schema_of_list(document))
    return found


def find_documents() -> dict[str, type[Document]]:
    """Every kind with its struct, wherever that stands."""
    source = ROOT / "src"
    for path in sorted(source.rglob("*.py")):
        if "KIND: ClassVar[str] = " in path.read_text():
            importlib.import_module(".".join(path.relative_to(source).with_suffix("").parts))
    found = (each for each in _subclasses(Document) if each.__module__.startswith("podium."))
    return {each.KIND: each for each in found if "KIND" in vars(each)}


def _subclasses(parent: type[Document]) -> Iterator[type[Document]]:
    for each in parent.__subclasses__():
        yield each
        yield from _subclasses(each)


def schema_of_list(document: type[Document]) -> Schema:
    """The schema of several documents of one kind, which refers to that of the kind."""
    items = {
        "type": "array",
        "items": {"$ref": f"{document.KIND}.json"},
        "description": "The documents, each with its own apiVersion and kind.",
    }
    return _whole(f"{document.KIND}List", document.LISTED, ["items"], {"items": items})


def schema_of(document: type[Document]) -> Schema:
    """The schema of one kind, complete in itself."""
    named = {each.__name__: each for each in _named_in(msgspec.inspect.type_info(document))}
    forms = [each for each in named.values() if _forms(each.__base__)]
    _, parts = msgspec.json.schema_components((document, *forms), ref_template=_REFERENCE)
    found = {name: _part(named[name], part) for name, part in sorted(parts.items())}
    whole = found.pop(document.__name__)
    schema = _whole(document.KIND, whole["description"], whole["required"], whole["properties"])
    return {**schema, **({"$defs": found} if found else {})}


def _whole(kind: str, description: str, required: list[str], properties: Schema) -> Schema:
    """A document's schema, with what every document begins with."""
    head = {
        "apiVersion": {
            "const": API_VERSION,
            "description": "The version of the format. Within a version fields are added, never "
            "renamed.",
        },
        "kind": {"const": kind, "description": "What the document is."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind,
        "description": description,
        "type": "object",
        "required": [*head, *required],
        "properties": {**head, **properties},
        "additionalProperties": False,
    }


def _named_in(info: Any, seen: frozenset[type] = frozenset()) -> Iterator[type]:
    """All structs and enumerations that a type is made of."""
    if isinstance(info, msgspec.inspect.EnumType):
        yield info.cls
    if isinstance(info, msgspec.inspect.StructType):
        if info.cls in seen:
            return
        yield info.cls
        for field in info.fields:
            yield from _named_in(field.type, seen | {info.cls})
        for form in _forms(info.cls):
            yield from _named_in(msgspec.inspect.type_info(form), seen | {info.cls})
        return
    for name in ("type", "item_type", "key_type", "value_type"):
        if inner := getattr(info, name, None):
            yield from _named_in(inner, seen)
    for name in ("types", "item_types"):
        for inner in getattr(info, name, ()):
            yield from _named_in(inner, seen)


def _forms(struct: type | None) -> list[type]:
    """The forms that a part comes in, if they are several."""
    return struct.__subclasses__() if struct and Alternatives in struct.__bases__ else []


def _part(struct: type, schema: Schema) -> Schema:
    """An object's schema with what msgspec does not know: texts, and what is always written."""
    if forms := _forms(struct):
        references = [{"$ref": _REFERENCE.format(name=each.__name__)} for each in forms]
        return {"oneOf": references, "description": _docstring(struct)}
    if issubclass(struct, Enum):
        return {"enum": [each.value for each in struct], "description": _docstring(struct)}
    texts = field_texts(struct)
    info = msgspec.inspect.type_info(struct)
    assert isinstance(info, msgspec.inspect.StructType)
    properties = {}
    for field in info.fields:
        found = _compact(schema["properties"][field.encode_name])
        description = texts.get(field.name) or found.pop("description", "")
        found.pop("description", None)
        properties[field.encode_name] = {**found, "description": description}
        if not description and "$ref" in found:
            del properties[field.encode_name]["description"]
    omits = struct.__struct_config__.omit_defaults
    may_lack = {
        each.encode_name
        for each in msgspec.structs.fields(struct)
        if each.default is msgspec.UNSET or (omits and not each.required)
    }
    return {
        "type": "object",
        "description": _docstring(struct),
        "required": [name for name in properties if name not in may_lack],
        "properties": properties,
        "additionalProperties": False,
    }


def _docstring(struct: type) -> str:
    return inspect.cleandoc(struct.__doc__ or "").replace("\n", " ")


def _compact(schema: Schema) -> Schema:
    """The same without defaults, which nobody has to know, and with `null` among the types."""
    found = {key: value for key, value in schema.items() if key not in ("default", "title")}
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = _compact(found[key])
    if "anyOf" in found:
        choices = [_compact(each) for each in found.pop("anyOf")]
        one = [each for each in choices if each != {"type": "null"}]
        if len(one) == 1 and len(choices) == 2 and "type" in one[0]:
            return {**one[0], "type": [one[0]["type"], "null"], **found}
        found = {"anyOf": choices, **found}
    return found


@cache
def field_texts(struct: type) -> dict[str, str]:
    """The texts below the fields of a struct and of what it inherits from."""
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        if not issubclass(base, msgspec.Struct) or base is msgspec.Struct:
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(words))):
                    found[name] = " ".join(words.split())
    return found


def render(schema: Any) -> str:
    """JSON in which what is short stands on one line."""
    return _render(schema, "") + "\n"


def _render(value: Any, indent: str) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(indent) + len(flat) < WIDTH:
        return flat
    deeper = indent + "  "
    if isinstance(value, list):
        if all(isinstance(each, str) for each in value):
            return flat
        items = [_render(each, deeper) for each in value]
        first, last = "[", "]"
    else:
        items = [f"{json.dumps(key)}: {_render(each, deeper)}" for key, each in value.items()]
        first, last = "{", "}"
    listed = ",\n".join(f"{deeper}{item}" for item in items)
    return f"{first}\n{listed}\n{indent}{last}"


if __name__ == "__main__":
    sys.exit(main())
