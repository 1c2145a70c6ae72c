"""The `scale` subresource: how many replicas, for every kind that has replicas.

A Scale is a view: reading makes it from the object, writing puts its number into the object. The
definition of a custom resource says where its numbers are.
"""

from typing import Final, NamedTuple

from podium.apiserver.requests.call import Call
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.registry import Registry
from podium.apiserver.requests.updating import (
    check_name,
    check_uid,
    check_version,
    track,
    write,
)
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.crds import CustomRules
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import object_selector, selector_of_map
from podium.kubernetes.schema import schema_of
from podium.kubernetes.status_errors import invalid
from podium.kubernetes.validation import validate_scale

_KEPT_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class _Paths(NamedTuple):
    """Where an object has what its Scale shows."""

    wanted: tuple[str, ...] = ("spec", "replicas")
    running: tuple[str, ...] = ("status", "replicas")
    selector: tuple[str, ...] = ("spec", "selector")


def _paths(registry: Registry, resource: ApiResource) -> _Paths:
    rules = registry.rules(resource)
    if not isinstance(rules, CustomRules):
        return _Paths()
    written = rules.scale or {}
    return _Paths(
        _path(written.get("specReplicasPath")),
        _path(written.get("statusReplicasPath")),
        _path(written.get("labelSelectorPath")),
    )


def _path(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in (text or "").split(".") if part)


def scale_of(registry: Registry, resource: ApiResource, obj: JsonObject) -> JsonObject:
    metadata = obj["metadata"]
    paths = _paths(registry, resource)
    wanted = _at(obj, paths.wanted)
    shown: JsonObject = {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _KEPT_METADATA if name in metadata},
        "spec": {"replicas": wanted} if wanted else {},
        "status": {"replicas": _at(obj, paths.running) or 0},
    }
    selector = _selector_text(resource, _at(obj, paths.selector))
    if selector:
        shown["status"]["selector"] = selector
    return shown


def _at(obj: JsonObject, path: tuple[str, ...]) -> DecodedValue:
    value: DecodedValue = obj if path else None
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _selector_text(resource: ApiResource, written: DecodedValue) -> str:
    if isinstance(written, str):
        return written
    if resource.kind == "ReplicationController":
        selector = selector_of_map(written)
    else:
        selector = object_selector(written)
    return "" if selector.nothing or selector.empty else str(selector)


def update_scale(
    registry: Registry,
    resource: ApiResource,
    namespace: str,
    name: str,
    scale: JsonObject,
    before: Stored,
    call: Call,
) -> JsonObject:
    """Write a Scale's number of replicas; gives the Scale as it is then."""
    metadata = scale["metadata"]
    check_name(resource, namespace, name, metadata)
    old = registry.read(resource, before)
    stored = old["metadata"]
    check_uid(resource, before, metadata, stored)
    check_version(resource, name, metadata.get("resourceVersion", ""), stored["resourceVersion"])
    current = scale_of(registry, resource, old)
    where = (registry, resource, namespace, name, scale, current, call)
    mutate_write(*where, subresource="scale", schema=schema_of("autoscaling", "v1", "Scale"))
    problems = validate_scale(scale)
    if problems:
        raise invalid("autoscaling", "Scale", name, problems)
    new = registry.read(resource, before)
    *parents, last = _paths(registry, resource).wanted
    place = new
    for parent in parents:
        place = place.setdefault(parent, {})
    place[last] = (scale.get("spec") or {}).get("replicas", 0)
    track(registry, resource, "scale", old, new, call)
    for entry in new["metadata"].get("managedFields") or ():
        if entry.get("subresource") == "scale":
            entry.pop("time", None)  # upstream: times get lost between a Scale and its object
    scale["status"] = current["status"]
    review_write(*where, subresource="scale")
    written = write(registry, resource, "", before, old, new, call, reviewed=False)
    return scale_of(registry, resource, registry.read(resource, written))
