"""The fields by which each resource can be selected, and how they are read from an object.

Every resource can be selected by `metadata.name`, namespaced ones by `metadata.namespace`, which
the store knows by itself. The others are read once per write and kept beside the object, so that
selecting never decodes one. Fields that are absent read as the text that Go's zero value gives.
"""

from collections.abc import Callable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.field_selector_text import FieldSelectorError, FieldTerm
from podium.apiserver.store.collection import FieldReader, no_fields
from podium.apiserver.store.stored import Stored

NAME: Final = "metadata.name"
NAMESPACE: Final = "metadata.namespace"

_Read = Callable[[JsonObject], str]
_EMPTY: Final[JsonObject] = {}


def _text(path: str, absent: str = "") -> _Read:
    *parents, last = path.split(".")

    def read(value: JsonObject) -> str:
        for name in parents:
            value = value.get(name) or _EMPTY
        found = value.get(last)
        if found is None:
            return absent
        if isinstance(found, str):
            return found
        if isinstance(found, bool):
            return "true" if found else "false"
        return str(found)

    return read


def _reporting(value: JsonObject) -> str:
    source = value.get("source") or _EMPTY
    component: str = source.get("component") or ""
    return component or value.get("reportingComponent") or ""


def _texts(*paths: str) -> dict[str, _Read]:
    return {path: _text(path) for path in paths}


_POD = {
    **_texts("spec.nodeName", "spec.restartPolicy", "spec.schedulerName"),
    **_texts("spec.serviceAccountName"),
    "spec.hostNetwork": _text("spec.hostNetwork", "false"),
    **_texts("status.phase", "status.podIP", "status.nominatedNodeName"),
}
_EVENT = {
    **_texts(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "type",
    ),
    "source": _reporting,
}
_REPLICAS = {"status.replicas": _text("status.replicas", "0")}

_FIELDS: Final[dict[tuple[str, str], dict[str, _Read]]] = {
    ("", "Pod"): _POD,
    ("", "Node"): {"spec.unschedulable": _text("spec.unschedulable", "false")},
    ("", "Namespace"): _texts("status.phase"),
    ("certificates.k8s.io", "CertificateSigningRequest"): _texts("spec.signerName"),
    ("", "Secret"): _texts("type"),
    ("", "Service"): _texts("spec.clusterIP", "spec.type"),
    ("", "ReplicationController"): _REPLICAS,
    ("", "Event"): _EVENT,
    ("apps", "ReplicaSet"): _REPLICAS,
    ("batch", "Job"): {"status.successful": _text("status.succeeded", "0")},
    ("resource.k8s.io", "ResourceSlice"): _texts("spec.driver", "spec.nodeName"),
}
_ALIASES: Final[dict[tuple[str, str], dict[str, str]]] = {
    # upstream: the names that the newer group gives to the same fields.
    ("events.k8s.io", "Event"): {
        "regarding.kind": "involvedObject.kind",
        "regarding.namespace": "involvedObject.namespace",
        "regarding.name": "involvedObject.name",
        "regarding.uid": "involvedObject.uid",
        "regarding.apiVersion": "involvedObject.apiVersion",
        "regarding.resourceVersion": "involvedObject.resourceVersion",
        "regarding.fieldPath": "involvedObject.fieldPath",
        "reportingController": "reportingComponent",
        "reason": "reason",
        "type": "type",
    }
}
_REFUSALS: Final = {
    ("", "Pod"): "field label not supported: {field}",
    ("", "Node"): "field label not supported: {field}",
    ("", "Namespace"): "field label not supported: {field}",
    ("", "Secret"): "field label not supported: {field}",
    ("", "Service"): "field label not supported: {field}",
    ("", "Event"): "field label not supported: {field}",
    ("", "ReplicationController"): "field label not supported: {field}",
    ("apps", "ReplicaSet"): "field label not supported for appsv1.ReplicaSet: {field}",
    ("batch", "Job"): 'field label "{field}" not supported for Job',
    ("events.k8s.io", "Event"): "field label not supported: {field}",
    ("resource.k8s.io", "ResourceSlice"): (
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {field}"
    ),
}


def fields_of(resource: Resource) -> dict[str, _Read]:
    """The readers of a resource's selectable fields beyond name and namespace."""
    if resource.is_custom:
        return _texts(*resource.selectable_fields)
    group = "" if resource.group == "events.k8s.io" else resource.group
    return _FIELDS.get((group, resource.kind), {})


def reader_of(resource: Resource) -> FieldReader:
    """Reads all selectable fields of an object at once."""
    readers = tuple(fields_of(resource).values())
    if not readers:
        return no_fields

    def read(value: JsonObject) -> tuple[str, ...]:
        return tuple([reader(value) for reader in readers])

    return read


class FieldFilter:
    """The terms of a field selector, made ready for the versions of one resource."""

    __slots__ = ("_name", "_namespace", "_terms", "name")

    def __init__(self, resource: Resource, terms: tuple[FieldTerm, ...]) -> None:
        aliases = _ALIASES.get((resource.group, resource.kind))
        places = {field: place for place, field in enumerate(fields_of(resource))}
        self._terms: list[tuple[int, bool, str]] = []
        self._name: list[tuple[bool, str]] = []
        self._namespace: list[tuple[bool, str]] = []
        for field, equal, value in terms:
            if field == NAME:
                self._name.append((equal, value))
            elif field == NAMESPACE and resource.namespaced:
                self._namespace.append((equal, value))
            else:
                known = aliases.get(field, "") if aliases else field
                if known not in places:
                    raise FieldSelectorError(_refusal(resource, field))
                self._terms.append((places[known], equal, value))
        self.name = next((value for equal, value in self._name if equal), None)
        """The only name that can match, if there is one."""

    def matches(self, version: Stored) -> bool:
        for equal, value in self._name:
            if (version.name == value) is not equal:
                return False
        for equal, value in self._namespace:
            if (version.namespace == value) is not equal:
                return False
        fields = version.fields
        return all((fields[place] == value) is equal for place, equal, value in self._terms)


def _refusal(resource: Resource, field: str) -> str:
    text = _REFUSALS.get((resource.group, resource.kind))
    if text is not None:
        return text.format(field=field)
    if resource.selectable_fields:
        return f"field label not supported: {field}"
    return f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
