"""Pods as the server starts them and keeps them: phase, quality of service, generation.

A pod's status is the server's at creation and the kubelet's afterwards; updates of the pod itself
never touch it. Label keys that affinity terms and spread constraints are to match become ordinary
selector expressions, with the values of the pod's own labels, so that every reader of the pod sees
the same selector.

Namespaces and nodes as the server starts them and keeps them.
"""

from collections import deque
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.workloads import NAMESPACE_LABEL
from podium.kubernetes.rules.labels import merge_label_keys
from podium.kubernetes.rules.pod_level_resources import qos_class
from podium.kubernetes.strategy.preparation import keep_field, keep_metadata

_GATED: Final = "Scheduling is blocked due to non-empty scheduling gates"


def prepare_create(pod: JsonObject, now: str) -> None:
    spec = pod["spec"]
    given = (pod.get("status") or {}).get("qosClass")
    pod["metadata"]["generation"] = 1
    pod["status"] = {"phase": "Pending", "qosClass": given or qos_class(spec)}
    if spec.get("schedulingGates"):
        pod["status"]["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": now,
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    merge_label_keys(spec, pod["metadata"].get("labels") or {})


def prepare_status_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    metadata, before = new["metadata"], old["metadata"]
    if before.get("ownerReferences"):
        metadata["ownerReferences"] = before["ownerReferences"]
    else:
        metadata.pop("ownerReferences", None)
    status = new.setdefault("status", {})
    earlier: JsonObject = old.get("status") or {}
    if not status.get("qosClass") and earlier.get("qosClass"):
        status["qosClass"] = earlier["qosClass"]
    _keep_observed_generations(status, earlier)


def _keep_observed_generations(status: JsonObject, earlier: JsonObject) -> None:
    """A client that does not know these fields does not clear them."""
    if not status.get("observedGeneration") and earlier.get("observedGeneration"):
        status["observedGeneration"] = earlier["observedGeneration"]
    known: dict[str, deque[int]] = {}
    for condition in earlier.get("conditions") or ():
        seen = condition.get("observedGeneration") or 0
        known.setdefault(condition.get("type") or "", deque()).append(seen)
    for condition in status.get("conditions") or ():
        before = known.get(condition.get("type") or "")
        generation = before.popleft() if before else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def prepare_ephemeral_containers(new: JsonObject, old: JsonObject, _now: str) -> None:
    """Only the list of ephemeral containers changes."""
    _keep_all_but_spec(new, old)
    added = new["spec"].get("ephemeralContainers")
    new["spec"] = dict(old["spec"])
    if added:
        new["spec"]["ephemeralContainers"] = added
    else:
        new["spec"].pop("ephemeralContainers", None)


def prepare_resize(new: JsonObject, old: JsonObject, _now: str) -> None:
    """Only resources and resize policies change; reordered containers are left to validation."""
    _keep_all_but_spec(new, old)
    spec, before = new["spec"], old["spec"]
    kept = dict(before)
    for kind in ("containers", "initContainers"):
        containers, earlier = spec.get(kind) or [], before.get(kind) or []
        names = [container.get("name") for container in containers]
        if names != [container.get("name") for container in earlier]:
            return
        if containers:
            kept[kind] = [
                _resize_container(container, base)
                for container, base in zip(containers, earlier, strict=True)
            ]
    if spec.get("resources") is not None:
        kept["resources"] = spec["resources"]
    else:
        kept.pop("resources", None)
    new["spec"] = kept


def _keep_all_but_spec(new: JsonObject, old: JsonObject) -> None:
    keep_field(new, old, "status")
    keep_metadata(new, old)


def _resize_container(container: JsonObject, base: JsonObject) -> JsonObject:
    merged = dict(base)
    for field in ("resources", "resizePolicy"):
        if container.get(field) is not None:
            merged[field] = container[field]
        else:
            merged.pop(field, None)
    return merged


def prepare_namespace(namespace: JsonObject, _now: str) -> None:
    namespace["status"] = {"phase": "Active"}
    metadata = namespace["metadata"]
    if metadata.get("name"):  # also where the name was made from a prefix
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, NAMESPACE_LABEL: metadata["name"]}
    spec = namespace.setdefault("spec", {})
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        spec["finalizers"] = [*finalizers, "kubernetes"]


def prepare_namespace_update(new: JsonObject, old: JsonObject, _now: str) -> None:
    spec = new.setdefault("spec", {})
    keep_field(spec, old.get("spec") or {}, "finalizers")


def prepare_node(node: JsonObject, _now: str) -> None:
    """Drop the field of a feature that is no more."""
    (node.get("spec") or {}).pop("configSource", None)


def prepare_node_update(new: JsonObject, _old: JsonObject, now: str) -> None:
    prepare_node(new, now)
