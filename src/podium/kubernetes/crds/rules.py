"""How objects of a custom resource are read, prepared and judged when they are written.

The same interface as that of the built-in kinds (`kubernetes/kind_rules.py`).

What the server serves for a definition: a resource for each served version.
"""

from typing import Final

from podium.golang.json_values import JsonObject, JsonValue, copy_json
from podium.kubernetes import status_errors
from podium.kubernetes.crds.expressions import rule_errors
from podium.kubernetes.crds.rule_costs import (
    MAX_WORK,
    TooManyChecks,
    bounded_checks,
    bounded_matching,
)
from podium.kubernetes.crds.rule_tree import build_rule_tree
from podium.kubernetes.crds.structural import (
    SchemaNode,
    custom_schema,
    fill_defaults,
    prune_unknown_fields,
    read_schema,
)
from podium.kubernetes.crds.values import problems, repeated_items
from podium.kubernetes.kinds.record import STATUS_VERBS, Subresource
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import maturity
from podium.kubernetes.rules.field_errors import FieldError, forbidden, invalid
from podium.kubernetes.schema.decoding import Decoded
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import meta_errors, meta_of, meta_update_errors

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


def resources_of_definition(crd: JsonObject) -> list[ApiResource]:
    """The resources of all served versions."""
    spec = crd["spec"]
    return [
        _resource(spec, version) for version in spec.get("versions") or () if version.get("served")
    ]


def _resource(spec: JsonObject, version: JsonObject) -> ApiResource:
    names, kind = spec["names"], spec["names"]["kind"]
    declared = version.get("subresources") or {}
    subresources = []
    if declared.get("status") is not None:
        subresources.append(Subresource("status", kind, STATUS_VERBS))
    if declared.get("scale") is not None:
        subresources.append(Subresource("scale", "Scale", STATUS_VERBS, "autoscaling", "v1"))
    return ApiResource(
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


_LARGEST_REPLICAS: Final = 2**31 - 1


class CustomRules:
    """The rules of one version of a definition."""

    def __init__(self, crd: JsonObject, resource: ApiResource) -> None:
        self._resource = resource
        written = schema_of_version(crd, resource.version)
        self._root = read_schema(written)
        self._rules = build_rule_tree(written)
        subresources = version_of(crd, resource.version).get("subresources") or {}
        self._has_status = subresources.get("status") is not None
        self.scale: JsonObject | None = subresources.get("scale")
        self.schema = custom_schema(
            resource.group,
            resource.version,
            resource.kind,
            self._root,
            has_status=self._has_status,
        )

    def decode(self, obj: JsonObject, *, after_strategic_patch: bool = False) -> Decoded:
        """The object with known fields only; custom resources take no strategic patches."""
        del after_strategic_patch
        return prune_unknown_fields(obj, self._root)

    def set_defaults(self, obj: JsonObject) -> None:
        try:
            with bounded_checks():
                fill_defaults(obj, self._root)
        except TooManyChecks as problem:
            raise status_errors.bad_request(str(problem)) from None

    def prepare_create(self, obj: JsonObject, now: str) -> None:
        del now
        if self._has_status:
            obj.pop("status", None)
        obj.setdefault("metadata", {})["generation"] = 1

    def prepare_update(self, subresource: str, new: JsonObject, old: JsonObject, now: str) -> None:
        """Keep the stored status, or with a write to the status everything else."""
        del now
        if subresource == "status":
            self._keep_all_but_status(new, old)
            return
        if self._has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = copy_json(old["status"])
        generation = meta_of(old).get("generation") or 1
        changed = _without_metadata(new) != _without_metadata(old)
        new["metadata"]["generation"] = generation + 1 if changed else generation

    def _keep_all_but_status(self, new: JsonObject, old: JsonObject) -> None:
        status, entries = new.get("status"), meta_of(new).get("managedFields")
        had_status = "status" in new
        kept = copy_json({key: value for key, value in old.items() if key != "status"})
        new.clear()
        new.update(kept)
        if had_status:
            new["status"] = status
        if entries is None:
            new["metadata"].pop("managedFields", None)
        else:
            new["metadata"]["managedFields"] = entries

    def validate_create(self, obj: JsonObject) -> list[FieldError]:
        errors = self._kind_errors(obj)
        if errors:
            return errors
        found = _schema_problems(obj, self._root, "")
        errors = [
            *meta_errors(meta_of(obj), self._resource.namespaced, subdomain_problems),
            *found,
            *self._scale_errors(obj),
            *repeated_items(obj, self._root),
        ]
        return self._with_broken_rules(errors, obj, None)

    def validate_update(
        self, subresource: str, new: JsonObject, old: JsonObject
    ) -> list[FieldError]:
        errors = self._kind_errors(new)
        if errors:
            return errors
        errors = meta_update_errors(meta_of(new), meta_of(old))
        if subresource == "status":
            status = self._root.properties.get("status")
            if status is not None and "status" in new:
                errors += _schema_problems(new["status"], status, "status", old.get("status"))
        else:
            errors += _schema_problems(new, self._root, "", old)
        errors += self._scale_errors(new)
        if not repeated_items(old, self._root):
            errors += repeated_items(new, self._root)
        return self._with_broken_rules(errors, new, old)

    def _with_broken_rules(
        self, errors: list[FieldError], new: JsonObject, old: JsonObject | None
    ) -> list[FieldError]:
        if self._rules is None:
            return errors
        return errors + rule_errors(self._rules, new, old, errors)

    def _kind_errors(self, obj: JsonObject) -> list[FieldError]:
        errors = []
        kind, version = obj.get("kind"), obj.get("apiVersion")
        if kind != self._resource.kind:
            errors.append(invalid("kind", kind, f"must be {self._resource.kind}"))
        if version != self._resource.api_version:
            told = f"must be {self._resource.api_version}"
            errors.append(invalid("apiVersion", version, told))
        return errors

    def _scale_errors(self, obj: JsonObject) -> list[FieldError]:
        errors = []
        for name in ("specReplicasPath", "statusReplicasPath"):
            path: str = (self.scale or {}).get(name) or ""
            replicas = _at(obj, path) if path else None
            if not isinstance(replicas, int) or isinstance(replicas, bool):
                continue
            if replicas < 0:
                errors.append(invalid(path, replicas, "should be a non-negative integer"))
            elif replicas > _LARGEST_REPLICAS:
                told = f"should be less than or equal to {_LARGEST_REPLICAS}"
                errors.append(invalid(path, replicas, told))
        return errors


def _schema_problems(
    value: JsonValue, node: SchemaNode, path: str, *old: JsonValue
) -> list[FieldError]:
    try:
        with bounded_matching(MAX_WORK), bounded_checks():
            return problems(value, node, path, *old)
    except TooManyChecks as problem:
        return [forbidden("<nil>", str(problem))]


def _at(obj: JsonObject, path: str) -> JsonValue:
    value: JsonValue = obj
    for name in path.removeprefix(".").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _without_metadata(obj: JsonObject) -> JsonObject:
    return {key: value for key, value in obj.items() if key != "metadata"}
