"""All built-in kinds by group, version and kind.

A kind is made of the release's data when it is requested, so that commands without a server do not
pay for it.

Makes shapes of the API types of a release. The types are data (`kubernetes/releases`); a struct is
made when it is first asked for, together with all that it refers to.

Contract: asked twice for a struct, the same one is returned.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from podium.golang.shapes import (
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
from podium.kubernetes.releases.entries import FieldEntry, TypeEntry
from podium.kubernetes.releases.release import release

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
_TYPE_META: Final = {
    "kind": Field("kind", _PRIMITIVES["string"]),
    "apiVersion": Field("apiVersion", _PRIMITIVES["string"]),
}
_OMITTED: Final = {
    "empty": Omitted.WHEN_EMPTY,
    "zero": Omitted.WHEN_ZERO,
    "never": Omitted.NEVER,
}
_KEPT_WHEN_EMPTY: Final = frozenset({"managedFields"})
"""Lists that are kept though empty, as if they were pointers: who sends `managedFields: []` asks
for all owners to be forgotten."""
_REFERENCE: Final = "LocalObjectReference"
_DEVICES: Final = "DeviceConfiguration"
_EMBEDDED: Final = {
    "ConfigMapEnvSource": (_REFERENCE, {"optional"}),
    "ConfigMapKeySelector": (_REFERENCE, {"key", "optional"}),
    "ConfigMapProjection": (_REFERENCE, {"items", "optional"}),
    "ConfigMapVolumeSource": (_REFERENCE, {"defaultMode", "items", "optional"}),
    "DeviceAllocationConfiguration": (_DEVICES, {"requests", "source"}),
    "DeviceClaimConfiguration": (_DEVICES, {"requests"}),
    "DeviceClassConfiguration": (_DEVICES, set[str]()),
    "EphemeralContainer": ("EphemeralContainerCommon", {"targetContainerName"}),
    "PersistentVolumeSpec": (
        "PersistentVolumeSource",
        {
            "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity",
            "persistentVolumeReclaimPolicy", "storageClassName", "volumeAttributesClassName",
            "volumeMode",
        },
    ),
    "Probe": (
        "ProbeHandler",
        {
            "failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold",
            "terminationGracePeriodSeconds", "timeoutSeconds",
        },
    ),
    "SecretEnvSource": (_REFERENCE, {"optional"}),
    "SecretKeySelector": (_REFERENCE, {"key", "optional"}),
    "SecretProjection": (_REFERENCE, {"items", "optional"}),
    "Volume": ("VolumeSource", {"name"}),
}  # fmt: skip
"""Structs whose other fields are those of a struct inside them, which Go names on the way."""
_TYPE: Final = re.compile(r"(\*?)((?:\[\]|map\[\w+\])*)([\w./]+)")
_PREFIX: Final = re.compile(r"\[\]|map\[(\w+)\]")


@dataclass(frozen=True, slots=True)
class _Type:
    shape: Shape
    is_pointer: bool


class ReleaseTypes:
    """The structs of a release by section and name."""

    def __init__(self, types: Mapping[str, Mapping[str, TypeEntry]]) -> None:
        self._types = types
        self._shapes: dict[tuple[str, str], Shape] = {}
        self._granular: dict[Struct, Struct] = {}

    def struct(self, section: str, name: str) -> Struct:
        """Raises KeyError."""
        shape = self._shape(section, name)
        if not isinstance(shape, Struct):
            raise KeyError((section, name))
        return shape

    def structs(self) -> list[Struct]:
        return [
            self.struct(section, name)
            for section, types in self._types.items()
            for name, entry in types.items()
            if not entry.type
        ]

    def _shape(self, section: str, name: str) -> Shape:
        shape = self._shapes.get((section, name))
        if shape is not None:
            return shape
        entry = self._types[section][name]
        if entry.type:
            shape = self._shapes[section, name] = self._build_named_shape(section, name, entry)
            return shape
        struct = Struct(
            section, name, is_atomic=entry.struct_type == "atomic", is_object=entry.is_object
        )
        # Before its fields, which may refer to it.
        self._shapes[section, name] = struct
        for field in entry.fields:
            struct.fields.update(self._fields(section, field))
        inside, own = _EMBEDDED.get(name, ("", set[str]()))
        struct.embedded = {each: inside for each in struct.fields if inside and each not in own}
        return struct

    def _build_named_shape(self, section: str, name: str, entry: TypeEntry) -> Shape:
        shown = f"{version_of(section)}.{name}"
        shape = self._type(section, entry.type).shape
        if isinstance(shape, Scalar):
            return Scalar(shape.form, shown, entry.enum)
        assert isinstance(shape, ListOf | MapOf), name
        return replace(shape, go_alias=shown)

    def _fields(self, section: str, entry: FieldEntry) -> Mapping[str, Field]:
        if not entry.inline:
            return {entry.name: self._field(section, entry)}
        if entry.name == "TypeMeta":
            return _TYPE_META
        inlined = self._lookup(section, entry.type)
        assert isinstance(inlined, Struct), entry.type
        return inlined.fields

    def _field(self, section: str, entry: FieldEntry) -> Field:
        found = self._type(section, entry.type)
        shape = found.shape
        match shape:
            case ListOf() if entry.list_type != "atomic":
                is_set = entry.list_type == "set"
                shape = replace(shape, keys=entry.list_map_keys, is_set=is_set)
            case MapOf() if entry.map_type == "atomic":
                shape = replace(shape, is_atomic=True)
            case Struct() if entry.struct_type == "granular":
                shape = self._granular.setdefault(shape, shape.granular())
        strategies = entry.patch_strategy.split(",")
        return Field(
            entry.name,
            shape,
            is_pointer=found.is_pointer or entry.name in _KEPT_WHEN_EMPTY,
            omitted=_OMITTED[entry.omit],
            is_required=entry.required,
            default=entry.default,
            merge_key=entry.patch_merge_key,
            merges="merge" in strategies,
            replaces="replace" in strategies,
            retains_keys="retainKeys" in strategies,
        )

    def _type(self, section: str, written: str) -> _Type:
        match = _TYPE.fullmatch(written)
        assert match is not None, written
        pointer, prefixes, name = match[1], match[2], match[3]
        if name == "byte":
            shape: Shape = _BYTES
            prefixes = prefixes.removesuffix("[]")
        else:
            shape = self._lookup(section, name)
        for prefix in reversed(list(_PREFIX.finditer(prefixes))):
            key = prefix[1]
            if key is None:
                shape = ListOf(shape)
            else:
                shape = MapOf(shape, key if key == "string" else f"v1.{key}")
        return _Type(shape, bool(pointer))

    def _lookup(self, section: str, name: str) -> Shape:
        if "." in name:
            return self._shape(*name.split(".", 1))
        for place in (section, "core", "meta"):
            if name in self._types.get(place, ()):
                return self._shape(place, name)
        return _PRIMITIVES[name]


SECTIONS: Final = {
    "": "core",
    "apps": "apps",
    "batch": "batch",
    "node.k8s.io": "node",
    "policy": "policy",
    "autoscaling": "autoscaling",
    "scheduling.k8s.io": "scheduling",
    "storage.k8s.io": "storage",
    "resource.k8s.io": "resource",
    "coordination.k8s.io": "coordination",
    "events.k8s.io": "events",
    "discovery.k8s.io": "discovery",
    "authentication.k8s.io": "authentication",
    "authorization.k8s.io": "authorization",
    "rbac.authorization.k8s.io": "rbac",
    "networking.k8s.io": "networking",
    "apiextensions.k8s.io": "apiextensions",
    "admission.k8s.io": "admission",
    "admissionregistration.k8s.io": "admissionregistration",
    "flowcontrol.apiserver.k8s.io": "flowcontrol",
    "apiregistration.k8s.io": "apiregistration",
    "certificates.k8s.io": "certificates",
    "meta.k8s.io": "meta",
}
"""The section of the data that has the kinds of a group in version v1; those of another version
have it behind a slash: `autoscaling/v2`."""


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """The fields of one kind. There is one Schema of each kind: it can be a key of caches."""

    group: str
    version: str
    kind: str
    root: Struct
    is_custom: bool = False
    has_status: bool = False
    """Its status is written through a subresource only."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@cache
def built_in_types() -> ReleaseTypes:
    """Everything that is built in."""
    return ReleaseTypes(release().types)


def built_in_struct(section: str, name: str) -> Struct:
    """A type that is built in. Raises KeyError."""
    return built_in_types().struct(section, name)


@cache
def schema_of(group: str, version: str, kind: str) -> Schema:
    """The schema of a built-in kind; KeyError when there is none."""
    section = SECTIONS[group] if version == "v1" else f"{SECTIONS[group]}/{version}"
    struct = built_in_struct(section, kind)
    if not struct.is_object:
        raise KeyError((group, version, kind))
    return Schema(group, version, kind, struct, has_status="status" in struct.fields)
