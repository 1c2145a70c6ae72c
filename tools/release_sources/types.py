"""API types: fields, numbers, how lists are keyed and merged, values of texts.

Read from the struct tags and the `+markers` of types.go. Only types that the wanted ones need are
written, since an API group has more than is served.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from release_sources.go_source import SourceError, constants, go_files, imports, read

_STAGING: Final = "staging/src/"
_PATHS: Final = {
    "meta": "k8s.io/apimachinery/pkg/apis/meta",
    "apiextensions": "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions",
    "apiregistration": "k8s.io/kube-aggregator/pkg/apis/apiregistration",
}
"""Packages of sections that are not below k8s.io/api."""
_OPAQUE: Final = frozenset(
    {
        *("Time", "MicroTime", "FieldsV1", "Quantity", "IntOrString", "RawExtension", "UID"),
        *("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool"),
        "JSONSchemaPropsOrStringArray",
    }
)
"""Types with a JSON form of their own, which the schema knows by name."""
_BASIC: Final = frozenset({"string", "bool", "int32", "int64", "float64", "byte"})
_DECLARATION: Final = re.compile(r"^type (\w+) (?:(struct) \{|(.+))$")
_FIELD: Final = re.compile(r"^\t(\w+) +(\S+)(?:\s+`(.*)`)?(?:\s*//.*)?$")
_EMBEDDED: Final = re.compile(r"^\t([\w.]+) +`(.*)`(?:\s*//.*)?$")
_TYPE: Final = re.compile(r"(\*?(?:\[\]|map\[([\w.]+)\])*)([\w.]+)")
_TAG: Final = re.compile(r'(\w+):"((?:[^"\\]|\\.)*)"')

Entry = dict[str, Any]


@dataclass(slots=True)
class GoType:
    section: str
    name: str
    markers: list[str]
    meaning: str = ""
    imports: Mapping[str, str] = field(default_factory=dict)
    fields: list["GoField"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GoField:
    name: str
    """Of the embedded type where `json` is empty."""
    type: str
    tags: Mapping[str, str]
    markers: tuple[str, ...]


def read_types(source: Path, wanted: Iterable[tuple[str, str]]) -> dict[str, dict[str, Entry]]:
    """Entries of the wanted types and all that they need, by section and name."""
    return _Reader(source).entries(wanted)


class _Reader:
    def __init__(self, source: Path) -> None:
        self._source = source
        self._packages: dict[str, dict[str, GoType]] = {}
        self._values: dict[str, dict[str, list[str]]] = {}
        self._constants: dict[str, dict[str, str]] = {}
        self._found: dict[tuple[str, str], Entry] = {}

    def entries(self, wanted: Iterable[tuple[str, str]]) -> dict[str, dict[str, Entry]]:
        for section, name in wanted:
            self._add(section, name)
        sections: dict[str, dict[str, Entry]] = {}
        for section, name in sorted(self._found):
            sections.setdefault(section, {})[name] = self._found[section, name]
        return sections

    def _add(self, section: str, name: str) -> None:
        if (section, name) in self._found:
            return
        try:
            found = self._package(section)[name]
        except KeyError:
            raise SourceError(f"{section}: no type {name}") from None
        entry: Entry = {}
        self._found[section, name] = entry
        atomic = _marked(found.markers, "structType")
        if atomic:
            entry["structType"] = atomic
        if found.meaning:
            entry["type"] = self._type(found, found.meaning)
            if "enum" in found.markers:
                entry["enum"] = sorted(self._value(found, v) for v in self._values[section][name])
        else:
            entry["fields"] = [e for f in found.fields for e in self._field(found, f)]

    def _field(self, owner: GoType, found: GoField) -> Iterator[Entry]:
        json_name, *options = found.tags.get("json", "").split(",")
        is_exported = found.name.rpartition(".")[2][0].isupper()
        if json_name == "-" or not is_exported:
            return
        entry: Entry = {"name": json_name}
        if "inline" in options or (found.name == found.type and not json_name):
            entry = {"name": found.name.rpartition(".")[2], "inline": True}
        number = found.tags.get("protobuf", "").split(",")
        if len(number) > 1:
            entry["number"] = int(number[1])
        if entry.get("inline"):
            if entry["name"] != "TypeMeta":
                entry["type"] = self._type(owner, found.type)
            yield entry
            return
        entry["type"] = self._type(owner, found.type)
        optional = "optional" in found.markers
        omitted = "omitempty" in options
        if "omitzero" in options:
            entry["omit"] = "zero"
        elif not omitted:
            entry["omit"] = "never"
        if (not omitted and not optional) or "required" in found.markers:
            entry["required"] = True
        default = _marked(found.markers, "default")
        if default:
            entry["default"] = self._default(owner, default)
        for marker in ("listType", "mapType", "structType"):
            value = _marked(found.markers, marker)
            if value and value != _IMPLIED.get(marker):
                entry[marker] = value
        keys = [m.partition("=")[2] for m in found.markers if m.startswith("listMapKey=")]
        if keys:
            entry["listMapKeys"] = [key.strip('"') for key in keys]
        for tag in ("patchStrategy", "patchMergeKey"):
            if tag in found.tags:
                entry[tag] = found.tags[tag]
        yield entry

    def _value(self, owner: GoType, written: str) -> str:
        """A text, or what the constant of another package that is written as `=v1.Name` has."""
        if not written.startswith("="):
            return written
        package, _, name = written[1:].rpartition(".")
        section = self._section(owner, package) if package else owner.section
        self._package(section)
        return self._constants[section][name]

    def _default(self, owner: GoType, written: str) -> Any:
        """A JSON value, or the constant that `ref(path.Name)` names."""
        name = re.fullmatch(r"ref\((?:[\w./-]+\.)?(\w+)\)", written)
        return self._constants[owner.section][name[1]] if name else json.loads(written)

    def _type(self, owner: GoType, written: str) -> str:
        """A Go type with its package as a section, or none where the name alone is found."""
        match = _TYPE.fullmatch(written)
        if match is None:
            raise SourceError(f"{owner.section}.{owner.name}: unknown type {written!r}")
        prefix, key, name = match[1], match[2], match[3]
        if key:
            prefix = prefix.replace(f"map[{key}]", f"map[{self._name(owner, key)}]")
        return prefix + self._name(owner, name)

    def _name(self, owner: GoType, written: str) -> str:
        package, _, name = written.rpartition(".")
        if name in _OPAQUE or (not package and name in _BASIC):
            return name
        section = self._section(owner, package) if package else owner.section
        self._add(section, name)
        for place in (owner.section, "core", "meta"):
            if name in self._package(place):
                return name if place == section else f"{section}.{name}"
        return f"{section}.{name}"

    def _section(self, owner: GoType, package: str) -> str:
        path = owner.imports.get(package, "")
        folder, _, version = path.rpartition("/")
        for section, at in _PATHS.items():
            if folder == at:
                return section if version == "v1" else f"{section}/{version}"
        group = folder.removeprefix("k8s.io/api/")
        if group == folder or "/" in group:
            raise SourceError(f"{owner.section}.{owner.name}: {package} is {path!r}")
        return group if version == "v1" else f"{group}/{version}"

    def _package(self, section: str) -> dict[str, GoType]:
        if section not in self._packages:
            group, _, version = section.partition("/")
            path = _PATHS.get(group, f"k8s.io/api/{group}")
            folder = self._source / _STAGING / path / (version or "v1")
            types: dict[str, GoType] = {}
            values: dict[str, list[str]] = {}
            named: dict[str, str] = {}
            for file in go_files(folder):
                if file.name.startswith(("zz_", "generated")) or file.name.endswith(".pb.go"):
                    continue
                text = read(file)
                for found in _declarations(section, text):
                    types[found.name] = found
                for name, (kind, value) in constants(text).items():
                    values.setdefault(kind, []).append(value)
                    named[name] = value
            self._packages[section] = types
            self._values[section] = values
            self._constants[section] = named
        return self._packages[section]


_IMPLIED: Final = {"listType": "atomic", "mapType": "granular"}
"""What a list and a map are without a marker."""


def _marked(markers: Iterable[str], name: str) -> str:
    return next((m.partition("=")[2] for m in markers if m.startswith(f"{name}=")), "")


def _declarations(section: str, text: str) -> Iterator[GoType]:
    known = imports(text)
    current: GoType | None = None
    markers: list[str] = []
    before: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("//"):
            comment = stripped[2:].strip()
            if comment.startswith("+"):
                markers.append(comment[1:])
            continue
        if not stripped:
            before, markers = markers, []
            continue
        if current is None:
            match = _DECLARATION.match(line)
            if match:
                found = GoType(section, match[1], [*before, *markers], imports=known)
                if match[2]:
                    current = found
                elif match[3] == "struct{}":
                    yield found
                elif not re.match(r"(func|interface)\b", match[3]):
                    found.meaning = match[3].partition(" //")[0].removeprefix("= ")
                    yield found
            before, markers = [], []
            continue
        if line == "}":
            yield current
            current = None
        elif match := _EMBEDDED.match(line):
            tags = dict(_TAG.findall(match[2]))
            current.fields.append(GoField(match[1], match[1], tags, tuple(markers)))
        elif match := _FIELD.match(line):
            tags = dict(_TAG.findall(match[3] or ""))
            current.fields.append(GoField(match[1], match[2], tags, tuple(markers)))
        before, markers = [], []
