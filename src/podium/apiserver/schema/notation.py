"""The notation in which `fields/` writes down the kinds, and its reader.

Close to Go, so that a line can be checked against Kubernetes' types at a glance:

    [apps]                                      the group whose structs follow, in version v1
    [autoscaling/v2]                            the same in another version
    DaemonSetConditionType, JobType = string    names for texts
    PullPolicy = Always | IfNotPresent | Never  a text with these values
    ResourceList = map[ResourceName]Quantity    a name for another type
    Deployment object                           a struct; `object`: with kind and apiVersion;
        metadata ObjectMeta; ...                `atomic`: owned as a whole; its fields, with `;`
        ...Container                            between them; all fields of another struct

A field is `name type marks`, several names of one type are `a, b type`. After a name:

    !   required, and written even when empty       +   written even when empty
    !?  required, left out when empty               (nothing) left out when empty

Types are `*` (a pointer: kept even when zero), `[]`, `map[key]` before a name. `[]T{a b}` is a
list whose items are told apart by their fields a and b, `[]T{}` a set, `[]T` is owned as a whole.
Names are looked for in the own group, then in core, then in meta. Marks:

    merge           strategic patches merge the list, by the first key (`merge=key` by another)
    replace         they replace the value
    retainKeys      they may drop other keys
    atomic          a map owned as a whole; `granular`: a struct owned by fields
    omitzero        left out when zero, though it is a struct
    =value          its default
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from podium.golang.json_values import JsonValue
from podium.kubernetes.schema.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Shape,
    Struct,
    version_of,
)

_PRIMITIVES: Final[dict[str, Shape]] = {
    "string": Scalar(Form.STRING, "string"),
    "bool": Scalar(Form.BOOL, "bool"),
    "int32": Scalar(Form.INT32, "int32"),
    "int64": Scalar(Form.INT64, "int64"),
    "float64": Scalar(Form.FLOAT, "float64"),
    "UID": Scalar(Form.STRING, "types.UID"),
    "Quantity": Scalar(Form.QUANTITY, "resource.Quantity"),
    "Time": Scalar(Form.TIME, "v1.Time"),
    "MicroTime": Scalar(Form.MICRO_TIME, "v1.MicroTime"),
    "IntOrString": Scalar(Form.INT_OR_STRING, "intstr.IntOrString"),
    "RawExtension": AnyValue("runtime.RawExtension"),
    "FieldsV1": AnyValue("v1.FieldsV1"),
    "JSON": AnyValue("v1.JSON"),
    "JSONSchemaPropsOrArray": AnyValue("v1.JSONSchemaPropsOrArray"),
    "JSONSchemaPropsOrBool": AnyValue("v1.JSONSchemaPropsOrBool"),
    "JSONSchemaPropsOrStringArray": AnyValue("v1.JSONSchemaPropsOrStringArray"),
}
_BYTES: Final = Scalar(Form.BYTES, "[]uint8")
_KIND: Final = Field("kind", _PRIMITIVES["string"])
_API_VERSION: Final = Field("apiVersion", _PRIMITIVES["string"])
_TYPE: Final = re.compile(r"(\*?)((?:\[\]|map\[\w+\])*)([\w.]+)(?:\{([^}]*)\})?")
_PREFIX: Final = re.compile(r"\[\]|map\[(\w+)\]")
_NAME: Final = re.compile(r"([^!?+]+)([!?+]*)")


@dataclass(frozen=True, slots=True)
class _Declared:
    struct: Struct
    body: str


@dataclass(frozen=True, slots=True)
class _Type:
    shape: Shape
    is_pointer: bool


class Notation:
    """All structs of a set of texts, by group and name."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._aliases: dict[tuple[str, str], str] = {}
        self._shapes: dict[tuple[str, str], Shape] = {}
        self._declared: list[_Declared] = []
        self._granular: dict[Struct, Struct] = {}
        for text in texts:
            self._declare(text)
        for declared in self._declared:
            declared.struct.fields.update(self._fields(declared))

    def struct(self, group: str, name: str) -> Struct:
        """Raises KeyError."""
        shape = self._shapes[group, name]
        if not isinstance(shape, Struct):
            raise KeyError((group, name))
        return shape

    def structs(self) -> list[Struct]:
        return [declared.struct for declared in self._declared]

    def _declare(self, text: str) -> None:
        group = ""
        for statement in _statements(text):
            if statement.startswith("["):
                group = statement.strip("[]")
                continue
            if re.match(r"[\w, ]+ = ", statement):
                names, meaning = statement.split(" = ", 1)
                for name in names.split(", "):
                    self._aliases[group, name] = meaning
                continue
            head, _, body = statement.partition("\n")
            name, *marks = head.split()
            struct = Struct(group, name, is_atomic="atomic" in marks, is_object="object" in marks)
            self._shapes[group, name] = struct
            self._declared.append(_Declared(struct, body))

    def _fields(self, declared: _Declared) -> dict[str, Field]:
        group = declared.struct.group
        found = {"kind": _KIND, "apiVersion": _API_VERSION} if declared.struct.is_object else {}
        for part in filter(None, declared.body.split("; ")):
            if part.startswith("..."):
                other = self._lookup(group, part[3:])
                assert isinstance(other, Struct)
                found.update(other.fields)
                continue
            *names, last = part.split(", ")
            name, written, *marks = last.split(" ")
            if "{" in written:  # the keys of a list have spaces between them
                while not written.endswith("}"):
                    written += f" {marks.pop(0)}"
            for each in (*names, name):
                found_field = self._field(group, each, written, marks)
                found[found_field.name] = found_field
        return found

    def _field(self, group: str, name: str, written: str, marks: list[str]) -> Field:
        match = _NAME.fullmatch(name)
        assert match is not None, name
        kind = self._type(group, written)
        shape = kind.shape
        if "atomic" in marks and isinstance(shape, MapOf):
            shape = replace(shape, is_atomic=True)
        if "granular" in marks and isinstance(shape, Struct):
            shape = self._granular.setdefault(shape, shape.granular())
        omitted = Omitted.WHEN_EMPTY
        if match[2] in ("!", "+"):
            omitted = Omitted.NEVER
        elif "omitzero" in marks:
            omitted = Omitted.WHEN_ZERO
        merge = next((mark for mark in marks if mark.startswith("merge")), "")
        keys = shape.keys if isinstance(shape, ListOf) else ()
        default = next((mark[1:] for mark in marks if mark.startswith("=")), None)
        return Field(
            match[1],
            shape,
            is_pointer=kind.is_pointer,
            omitted=omitted,
            is_required="!" in match[2],
            default=_default(shape, default),
            merge_key=merge.partition("=")[2] or (keys[0] if merge and keys else ""),
            merges=bool(merge),
            replaces="replace" in marks,
            retains_keys="retainKeys" in marks,
        )

    def _type(self, group: str, written: str) -> _Type:
        match = _TYPE.fullmatch(written)
        assert match is not None, written
        pointer, prefixes, name, keys = match[1], match[2], match[3], match[4]
        if name == "byte":
            shape: Shape = _BYTES
            prefixes = prefixes.removesuffix("[]")
        else:
            shape = self._lookup(group, name)
        for prefix in reversed(list(_PREFIX.finditer(prefixes))):
            if prefix[1] is None:
                shape = ListOf(shape)
            else:
                key = prefix[1]
                shape = MapOf(shape, key if key == "string" else f"v1.{key}")
        if keys is not None:
            assert isinstance(shape, ListOf), written
            shape = replace(shape, keys=tuple(keys.split()), is_set=not keys)
        return _Type(shape, bool(pointer))

    def _lookup(self, group: str, name: str) -> Shape:
        places = (group, "core", "meta")
        if "." in name:
            group, name = name.split(".")
            places = (group, group, group)
        for place in places:
            if (place, name) in self._shapes:
                return self._shapes[place, name]
            if (place, name) in self._aliases:
                shape = self._alias(place, name)
                self._shapes[place, name] = shape
                return shape
        return _PRIMITIVES[name]

    def _alias(self, group: str, name: str) -> Shape:
        meaning, shown = self._aliases[group, name], f"{version_of(group)}.{name}"
        if meaning == "string" or " | " in meaning:
            values = () if meaning == "string" else tuple(meaning.split(" | "))
            return Scalar(Form.STRING, shown, values)
        shape = self._type(group, meaning).shape
        assert isinstance(shape, ListOf | MapOf), name
        return replace(shape, go_alias=shown)


def _statements(text: str) -> Iterable[str]:
    """Headings, aliases and structs; the lines of each joined, a struct's head on a line alone."""
    statement = ""
    for line in filter(None, text.split("\n")):
        if line[0] == " " or statement.endswith(","):
            glue = "\n" if statement[-1] not in ";,|" and "\n" not in statement else " "
            if " = " in statement:
                glue = " "
            statement += glue + line.strip()
            continue
        if statement:
            yield statement
        statement = line
    if statement:
        yield statement


def _default(shape: Shape, written: str | None) -> JsonValue:
    if written is None or not isinstance(shape, Scalar):
        return written
    match shape.form:
        case Form.INT32 | Form.INT64:
            return int(written)
        case Form.BOOL:
            return written == "true"
        case _:
            return written
