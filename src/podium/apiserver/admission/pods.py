"""What pods get or are refused because of the cluster around them."""

from typing import Final

from podium.apiserver import status_errors
from podium.apiserver.admission.lookup import AdmissionSettings, Lookup
from podium.apiserver.json_values import JsonObject
from podium.apiserver.resources.resource import Resource

_NOT_READY: Final = "node.kubernetes.io/not-ready"
_UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_TOPOLOGY: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def add_default_tolerations(pod: JsonObject, settings: AdmissionSettings) -> None:
    """Pods stay for a while on nodes that stop answering, unless they say otherwise.

    A toleration for such a node, whatever its operator and value, says otherwise.
    """
    spec = pod["spec"]
    tolerations = spec.get("tolerations") or []
    wanted = (
        (_NOT_READY, settings.not_ready_toleration_s),
        (_UNREACHABLE, settings.unreachable_toleration_s),
    )
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
        for key, seconds in wanted
        if not any(_concerns(toleration, key) for toleration in tolerations)
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _concerns(toleration: JsonObject, key: str) -> bool:
    return (toleration.get("key") or key) == key and (
        toleration.get("effect") or "NoExecute"
    ) == "NoExecute"


def copy_topology(holder: JsonObject, node_name: str, lookup: Lookup) -> None:
    """Give a pod, or the binding that becomes part of it, the zone and region of its node."""
    node = lookup.find("", "nodes", "", node_name)
    labels = (node or {}).get("metadata", {}).get("labels") or {}
    copied = {key: labels[key] for key in _TOPOLOGY if key in labels}
    if copied:
        metadata = holder["metadata"]
        metadata["labels"] = {**(metadata.get("labels") or {}), **copied}


def refuse_unknown_runtime(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    name = pod["spec"].get("runtimeClassName")
    if name and lookup.find("node.k8s.io", "runtimeclasses", "", name) is None:
        why = f'pod rejected: RuntimeClass "{name}" not found'
        raise status_errors.forbidden(resource, pod["metadata"].get("name", ""), why)


def refuse_own_overhead(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Overhead comes from a pod's runtime class, never from the pod."""
    overhead = pod["spec"].get("overhead")
    name = pod["spec"].get("runtimeClassName")
    found = lookup.find("node.k8s.io", "runtimeclasses", "", name) if name else None
    fixed = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead == fixed:
        return
    why = (
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        if fixed is None
        else "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    )
    raise status_errors.forbidden(resource, pod["metadata"].get("name", ""), why)


def taint_new_node(node: JsonObject) -> None:
    """A new node takes no pods until somebody has seen that it is ready."""
    spec = node["spec"]
    taints = spec.get("taints") or []
    if not any(
        taint.get("key") == _NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints
    ):
        spec["taints"] = [*taints, {"key": _NOT_READY, "effect": "NoSchedule"}]
