"""What pods get or are refused because of the cluster around them."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import AdmissionSettings, Lookup

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


def taint_new_node(node: JsonObject) -> None:
    """A new node takes no pods until somebody has seen that it is ready."""
    spec = node["spec"]
    taints = spec.get("taints") or []
    if not any(
        taint.get("key") == _NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints
    ):
        spec["taints"] = [*taints, {"key": _NOT_READY, "effect": "NoSchedule"}]
