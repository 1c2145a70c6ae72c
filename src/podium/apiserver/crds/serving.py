"""What the server serves for a definition: a resource for each served version."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import STATUS_VERBS, Subresource
from podium.kubernetes.resources.maturity import maturity
from podium.kubernetes.resources.resource import Resource

_VERBS: Final = (
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
)
"""In the order in which discovery lists them for custom resources."""


def version_of(crd: JsonObject, name: str) -> JsonObject:
    """Raises KeyError when the definition has no such version."""
    for version in crd["spec"].get("versions") or ():
        if version["name"] == name:
            found: JsonObject = version
            return found
    raise KeyError(name)


def schema_of_version(crd: JsonObject, name: str) -> JsonObject:
    """The openAPIV3Schema of a version."""
    schema = (version_of(crd, name).get("schema") or {}).get("openAPIV3Schema")
    return schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def resources_of_definition(crd: JsonObject) -> list[Resource]:
    """The resources of all served versions."""
    spec = crd["spec"]
    return [
        _resource(spec, version) for version in spec.get("versions") or () if version.get("served")
    ]


def _resource(spec: JsonObject, version: JsonObject) -> Resource:
    names, kind = spec["names"], spec["names"]["kind"]
    declared = version.get("subresources") or {}
    subresources = []
    if declared.get("status") is not None:
        subresources.append(Subresource("status", kind, STATUS_VERBS))
    if declared.get("scale") is not None:
        subresources.append(Subresource("scale", "Scale", STATUS_VERBS, "autoscaling", "v1"))
    return Resource(
        group=spec["group"],
        version=version["name"],
        kind=kind,
        plural=names["plural"],
        singular=names.get("singular") or kind.lower(),
        namespaced=spec.get("scope") == "Namespaced",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=tuple(subresources),
        verbs=_VERBS,
        is_custom=True,
        storage_version=_storage_version(spec),
        deprecation=_deprecation(spec, version),
        list_kind_name=names.get("listKind") or "",
        selectable_fields=tuple(
            field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or ()
        ),
    )


def _storage_version(spec: JsonObject) -> str:
    return next((each["name"] for each in spec["versions"] if each.get("storage")), "")


def _deprecation(spec: JsonObject, version: JsonObject) -> str:
    """What the definition says of an outdated version, or else which one to use instead."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    kind, group = spec["names"]["kind"], spec["group"]
    told = f"{group}/{version['name']} {kind} is deprecated"
    better = [
        each["name"]
        for each in spec["versions"]
        if each.get("served")
        and not each.get("deprecated")
        and maturity(each["name"]) < maturity(version["name"])
    ]
    return f"{told}; use {group}/{min(better, key=maturity)} {kind}" if better else told
