"""Writes through the pure parts of the API server, on a shelf of objects instead of a store.

The order of a write is that of the server: decode, defaults, admission, strategy, validation,
review. What a request brings along (uid, times, versions) has fixed values.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from podium.kubernetes import admission, defaulting, status_errors, strategy, validation
from podium.kubernetes.admission import DEFAULT_SETTINGS, AdmissionSettings
from podium.kubernetes.admission.lookup import Summaries
from podium.kubernetes.patching import STRATEGIC_MERGE_PATCH, merge_patch, strategic_merge
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.resources.table import ResourceTable, served_resources
from podium.kubernetes.schema import decode, schema_of

T = TypeVar("T")
Object = dict[str, Any]

ALL_GATES = FeatureGates({"AllAlpha": True, "AllBeta": True})
RESOURCES = ResourceTable(served_resources(ALL_GATES))
"""All resources, also those behind feature gates."""
NOW = "2026-01-01T00:00:00Z"
UID = "8d7f9a3e-0000-4000-8000-000000000000"
VERSION = "7"


def resource_of(kind: str, group: str = "", version: str = "v1") -> ApiResource:
    """A built-in resource by its kind."""
    found = RESOURCES.find_kind(group, version, kind)
    assert found is not None
    return found


def read(resource: ApiResource, written: Object) -> Object:
    """What a client wrote, as the server reads it, with defaults."""
    schema = schema_of(resource.group, resource.version, resource.kind)
    named = {"apiVersion": resource.api_version, "kind": resource.kind, **written}
    obj: Object = decode(named, schema).value
    obj.setdefault("metadata", {})
    defaulting.set_defaults(resource, obj)
    return obj


def pod_written(name: str = "p", /, metadata: Object | None = None, **spec: Any) -> Object:
    """A small pod as a client writes it."""
    containers = [{"name": "c", "image": "img:1"}]
    return {
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": containers, **spec},
    }


class Shelf:
    """Objects by resource, namespace and name; what admission looks things up in."""

    def __init__(self, settings: AdmissionSettings = DEFAULT_SETTINGS) -> None:
        self._settings = settings
        self._addresses = strategy.ServiceAddresses()
        self._objects: dict[tuple[str, str, str, str], Object] = {}

    def find(
        self, group: str, plural: str, namespace: str, name: str, _version: str = "v1"
    ) -> Object | None:
        return self._objects.get((group, plural, namespace, name))

    def get_derived(self, group: str, plural: str, derive: Callable[[Sequence[Object]], T]) -> T:
        return derive([obj for key, obj in self._objects.items() if key[:2] == (group, plural)])

    def summaries(
        self,
        group: str,
        plural: str,
        namespace: str,
        summarise: Callable[[Object], T],
        _version: str = "v1",
    ) -> Summaries[T]:
        return Summaries(
            (key[3], summarise(obj))
            for key, obj in self._objects.items()
            if key[:3] == (group, plural, namespace)
        )

    def put(self, resource: ApiResource, obj: Object) -> None:
        """Place an object without asking anybody."""
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "") if resource.namespaced else ""
        self._objects[resource.group, resource.plural, namespace, metadata["name"]] = obj

    def add_namespace(self, name: str) -> None:
        self.create(resource_of("Namespace"), "", {"metadata": {"name": name}})

    def take(self, resource: ApiResource, namespace: str, name: str) -> None:
        self._objects.pop((resource.group, resource.plural, namespace, name), None)

    def create(self, resource: ApiResource, namespace: str, written: Object) -> Object:
        """The stored object; StatusError if it is refused."""
        obj = read(resource, written)
        metadata = obj["metadata"]
        if namespace:
            metadata["namespace"] = namespace
        admission.admit_create(resource, namespace, obj, self, self._settings)
        metadata.pop("selfLink", None)
        metadata["uid"], metadata["creationTimestamp"] = UID, NOW
        strategy.prepare_create(resource, obj, NOW)
        problems = validation.validate_create(resource, obj)
        if not problems and (resource.group, resource.kind) == ("", "Service"):
            problems = self._addresses.allocate(obj)
        if problems:
            raise status_errors.invalid(*_shown(resource), metadata.get("name", ""), problems)
        admission.review_create(resource, obj, self)
        admission.charge_create(resource, obj, self)
        metadata["resourceVersion"] = VERSION
        self.put(resource, obj)
        return obj

    def patch(
        self,
        resource: ApiResource,
        subresource: str,
        old: Object,
        patch: Object,
        media_type: str = "",
    ) -> Object:
        """The object after a patch to itself or to a subresource."""
        schema = schema_of(resource.group, resource.version, resource.kind)
        if media_type == STRATEGIC_MERGE_PATCH:
            patched = strategic_merge.apply(old, patch, schema)
        else:
            patched = merge_patch.apply(old, patch)
        return self.update(resource, subresource, old, patched)

    def update(
        self, resource: ApiResource, subresource: str, old: Object, written: Object
    ) -> Object:
        """The object in place of an old one; StatusError if it is refused."""
        new, namespace = read(resource, written), old["metadata"].get("namespace", "")
        for field in ("namespace", "uid", "creationTimestamp", "resourceVersion", "generation"):
            if field in old["metadata"]:
                new["metadata"].setdefault(field, old["metadata"][field])
        if not subresource:
            admission.admit_update(resource, namespace, new, old, self, self._settings)
            strategy.prepare_update(resource, new, old, NOW)
            problems = validation.validate_update(resource, new, old)
        elif subresource == "status":
            strategy.prepare_status_update(resource, new, old, NOW)
            problems = validation.validate_status_update(resource, new, old)
        else:
            strategy.prepare_subresource_update(resource, subresource, new, old, NOW)
            problems = validation.validate_subresource_update(resource, subresource, new, old)
        if problems:
            raise status_errors.invalid(*_shown(resource), old["metadata"]["name"], problems)
        admission.review_update(resource, new, old, self)
        admission.charge_update(resource, new, old, self)
        self.put(resource, new)
        return new


def _shown(resource: ApiResource) -> tuple[str, str]:
    return ("" if resource.kind == "Event" else resource.group), resource.kind
