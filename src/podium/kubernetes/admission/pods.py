"""What pods get or are refused because of the cluster around them: tolerations, topology, runtime
classes.

A pod of a runtime class gets its overhead and goes to nodes that can run it; one that asks for
something else is refused.
"""

from typing import Final

from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import AdmissionSettings, Lookup
from podium.kubernetes.resources.resource import ApiResource

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


_NODE_GROUP: Final = "node.k8s.io"
_RUNTIME_CLASSES: Final = "runtimeclasses"


def admit_runtime_class(resource: ApiResource, pod: JsonObject, lookup: Lookup) -> None:
    """Give a pod what its runtime class says; StatusError if there is none or it contradicts."""
    name = pod["spec"].get("runtimeClassName")
    if not name:
        return
    found = lookup.find(_NODE_GROUP, _RUNTIME_CLASSES, "", name)
    if found is None:
        raise _refuse_class(resource, pod, f'pod rejected: RuntimeClass "{name}" not found')
    try:
        apply_runtime_class(pod["spec"], found)
    except RuntimeClassConflict as conflict:
        raise _refuse_class(resource, pod, str(conflict)) from None


def refuse_own_overhead(resource: ApiResource, pod: JsonObject, lookup: Lookup) -> None:
    """Overhead comes from a pod's runtime class, never from the pod."""
    overhead = pod["spec"].get("overhead")
    name = pod["spec"].get("runtimeClassName")
    found = lookup.find(_NODE_GROUP, _RUNTIME_CLASSES, "", name) if name else None
    fixed = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead != fixed:
        raise _refuse_class(resource, pod, OWN_OVERHEAD if fixed is None else OTHER_OVERHEAD)


def _refuse_class(resource: ApiResource, pod: JsonObject, why: str) -> status_errors.StatusError:
    return status_errors.forbidden(resource, pod["metadata"].get("name", ""), why)


OTHER_OVERHEAD: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
OWN_OVERHEAD: Final = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)


class RuntimeClassConflict(Exception):
    """A pod says otherwise than its runtime class; the text tells what."""


def apply_runtime_class(spec: JsonObject, runtime_class: JsonObject) -> None:
    """Give a pod what its runtime class says. Raises RuntimeClassConflict."""
    overhead = runtime_class.get("overhead")
    if overhead is not None:
        fixed = overhead.get("podFixed") or {}
        if spec.get("overhead") and spec["overhead"] != fixed:
            raise RuntimeClassConflict(OTHER_OVERHEAD)
        if fixed:
            spec["overhead"] = copy_json(fixed)
    scheduling = runtime_class.get("scheduling")
    if scheduling is not None:
        _restrict_nodes(spec, scheduling)


def _restrict_nodes(spec: JsonObject, scheduling: JsonObject) -> None:
    chosen = dict(spec.get("nodeSelector") or {})
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if chosen.setdefault(key, value) != value:
            raise RuntimeClassConflict(
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                f" pod.spec.nodeSelector[{key}] = {chosen[key]}"
            )
    if chosen:
        spec["nodeSelector"] = chosen
    tolerations = [*(spec.get("tolerations") or ()), *(scheduling.get("tolerations") or ())]
    if tolerations:
        spec["tolerations"] = [copy_json(each) for each in _merge_tolerations(tolerations)]


def _merge_tolerations(tolerations: list[JsonObject]) -> list[JsonObject]:
    """Without those that another one includes; of equals the first stays."""
    merged: list[JsonObject] = []
    for number, each in enumerate(tolerations):
        if any(_includes(kept, each) for kept in merged):
            continue
        if any(other != each and _includes(other, each) for other in tolerations[number + 1 :]):
            continue
        merged.append(each)
    return merged


def _includes(wide: JsonObject, narrow: JsonObject) -> bool:
    if wide == narrow:
        return True
    operator = wide.get("operator") or "Equal"
    key, effect = wide.get("key") or "", wide.get("effect") or ""
    if (narrow.get("key") or "") != key and (key or operator != "Exists"):
        return False
    if effect and (narrow.get("effect") or "") != effect:
        return False
    seconds = wide.get("tolerationSeconds")
    if effect == "NoExecute" and seconds is not None:
        other = narrow.get("tolerationSeconds")
        if other is None or other > seconds:
            return False
    if operator == "Equal":
        # upstream: a toleration that leaves out its operator is not taken for an equal one.
        return narrow.get("operator") == "Equal" and (narrow.get("value") or "") == (
            wide.get("value") or ""
        )
    return bool(operator == "Exists")
