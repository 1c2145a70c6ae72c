"""Which rule is applied to which kind, and in which order."""

from podium.golang.json_values import JsonObject
from podium.kubernetes.admission import (
    certificate_requests,
    devices,
    ingresses,
    limits,
    namespaces,
    pod_groups,
    pods,
    priorities,
    quotas,
    runtime_classes,
    storage,
)
from podium.kubernetes.admission.lookup import DEFAULT_SETTINGS, AdmissionSettings, Lookup
from podium.kubernetes.resources.resource import Resource


def admit_create(
    resource: Resource,
    namespace: str,
    obj: JsonObject,
    lookup: Lookup,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
) -> None:
    """Change a new object as the cluster demands; StatusError if it is refused."""
    if namespace:
        name = obj["metadata"].get("name", "")
        namespaces.refuse_content(resource, namespace, name, lookup)
    if resource.group:
        _admit_of_group(resource, obj, lookup)
    elif resource.kind == "Pod":
        _admit_new_pod(resource, obj, lookup, settings)
    elif resource.kind == "Node":
        if settings.taint_new_nodes:
            pods.taint_new_node(obj)
    elif resource.kind == "PersistentVolumeClaim":
        storage.set_default_class(obj, lookup)
        storage.protect(resource, obj)
    elif resource.kind == "PersistentVolume":
        storage.protect(resource, obj)


def _admit_of_group(resource: Resource, obj: JsonObject, lookup: Lookup) -> None:
    if (resource.group, resource.kind) == ("networking.k8s.io", "Ingress"):
        ingresses.set_default_class(obj, lookup)
    elif (resource.group, resource.kind) == ("scheduling.k8s.io", "PodGroup"):
        pod_groups.set_priority(resource, obj, lookup)


def _admit_new_pod(
    resource: Resource, pod: JsonObject, lookup: Lookup, settings: AdmissionSettings
) -> None:
    limits.fill_in(pod, pod["metadata"].get("namespace") or "", lookup)
    priorities.set_priority(resource, pod, lookup)
    pods.add_default_tolerations(pod, settings)
    runtime_classes.apply_class(resource, pod, lookup)
    node = pod["spec"].get("nodeName")
    if node:
        pods.copy_topology(pod, node, lookup)


def admit_update(
    resource: Resource,
    namespace: str,
    new: JsonObject,
    old: JsonObject,
    _lookup: Lookup,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
) -> None:
    """The same for a changed object; not for its subresources."""
    if resource.group or resource.kind != "Pod" or not namespace:
        return
    priorities.keep_priority(new, old)
    pods.add_default_tolerations(new, settings)


def admit_delete(resource: Resource, namespace: str, name: str) -> None:
    """StatusError if the object may not go."""
    if not namespace:
        namespaces.refuse_deletion(resource, name)
        priorities.refuse_deletion(resource, name)


def admit_binding(binding: JsonObject, lookup: Lookup) -> None:
    """Labels that the pod takes over from its node, by way of the binding."""
    target: JsonObject = binding.get("target") or {}
    if target.get("kind") == "Node" and target.get("name"):
        pods.copy_topology(binding, target["name"], lookup)


def review_create(resource: Resource, obj: JsonObject, lookup: Lookup) -> None:
    """What can only be judged when the object is final; StatusError if it is refused."""
    if (resource.group, resource.kind) == ("scheduling.k8s.io", "PriorityClass"):
        priorities.refuse_second_default(resource, obj, lookup)
    elif (resource.group, resource.kind) == ("scheduling.k8s.io", "PodGroup"):
        pod_groups.refuse_without_template(resource, obj, lookup)
    elif resource.kind == "CertificateSigningRequest":
        certificate_requests.refuse_masters(resource, obj)
    elif (resource.group, resource.kind) == ("", "Pod"):
        limits.refuse_beyond(resource, obj, lookup)
        if obj["spec"].get("overhead"):
            runtime_classes.refuse_own_overhead(resource, obj, lookup)
    elif (resource.group, resource.kind) == ("", "PersistentVolumeClaim"):
        limits.refuse_beyond(resource, obj, lookup)
    elif resource.group == "resource.k8s.io" and resource.namespaced:
        devices.refuse_administration(resource, obj, lookup)


def charge_create(resource: Resource, obj: JsonObject, lookup: Lookup) -> None:
    """Quotas, after everybody else had their say; StatusError if one is exceeded."""
    if resource.namespaced:
        quotas.refuse_beyond(resource, obj, lookup)


def review_update(resource: Resource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
    if (resource.group, resource.kind) == ("scheduling.k8s.io", "PriorityClass"):
        priorities.refuse_second_default(resource, new, lookup)
    elif (resource.group, resource.kind) == ("", "PersistentVolumeClaim"):
        limits.refuse_beyond(resource, new, lookup)
        storage.refuse_growth(resource, new, old, lookup)


def charge_update(resource: Resource, new: JsonObject, old: JsonObject, lookup: Lookup) -> None:
    if resource.namespaced:
        quotas.refuse_beyond(resource, new, lookup, old)
