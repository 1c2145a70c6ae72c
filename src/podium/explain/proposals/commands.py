"""The commands that carry a proposal out, in an order that works.

What the pod needs comes first (objects, nodes, room), the pod itself last. What controllers,
provisioners and kubelets do by themselves is left to them.
"""

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from podium.api.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.api.json_values import JsonObject
from podium.api.meta import KubeObject
from podium.api.node import Node
from podium.api.pod import Pod
from podium.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from podium.cluster.catalog import Catalog
from podium.cluster.pod_info import uid_of
from podium.engine.scheduler import Engine
from podium.explain.proposals.owners import Owner, owner_of
from podium.explain.proposals.pod_commands import pod_commands
from podium.explain.proposals.pod_patches import difference
from podium.explain.proposals.proposal import Proposal
from podium.explain.proposals.shell import comment, create, kubectl, patch, replace_with
from podium.explain.proposals.taints import describe_taint
from podium.explain.proposals.volume_claims import BY_HAND
from podium.workloads.provisioning import PROVISIONED_BY

_BY_ITSELF = (CSINode, ResourceSlice)
"""Kinds that come with a node."""
_FIXED = (PersistentVolumeClaim, ResourceClaim)
"""Kinds whose spec cannot be changed."""
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost=-1000"
_WAIT = ("--for=condition=PodScheduled", "--timeout=60s")


def commands_for(proposal: Proposal, pod: Pod, engine: Engine) -> tuple[str, ...]:
    hypothesis, catalog = proposal.hypothesis, engine.cluster.catalog
    lines: list[str] = []
    for obj in hypothesis.objects:
        lines += _object_commands(obj, pod, catalog)
    for node in hypothesis.nodes:
        lines += _node_commands(node, engine)
    lines += _removal_commands(hypothesis.removed, catalog)
    lines += _move_commands(hypothesis.moved, engine)
    lines += pod_commands(pod, hypothesis.pod, catalog)
    return tuple(lines)


# --- objects ----------------------------------------------------------------------------------


def _object_commands(obj: KubeObject, pod: Pod, catalog: Catalog) -> Iterator[str]:
    before = catalog.get(type(obj), obj.name, obj.namespace)
    if isinstance(obj, _BY_ITSELF):
        return
    if isinstance(obj, PersistentVolume):
        if obj.metadata.annotation(PROVISIONED_BY) == BY_HAND:
            yield comment("write where the volume really is in place of hostPath")
            yield create(_without_marks(obj))
        return
    if any(owner.uid == uid_of(pod) for owner in obj.metadata.owner_references or ()):
        if before is not None:
            yield kubectl("delete", _target(obj), namespace=obj.namespace)
        return
    if before is None:
        yield create(_without_marks(obj))
        return
    old, new = _written(before), _written(obj)
    change = difference(old, new)
    if change == {} or not isinstance(change, dict):
        return
    if isinstance(obj, _FIXED):
        yield replace_with(
            _target(obj), {**change, "status": None}, namespace=obj.namespace, kind="merge"
        )
    else:
        yield patch(_target(obj), change, namespace=obj.namespace, kind="merge")


def _target(obj: KubeObject) -> str:
    return f"{obj.kind.lower()}/{obj.name}"


def _written(obj: KubeObject) -> JsonObject:
    """What a user writes of an object: no status, and of a claim not what binding leaves in it."""
    body: JsonObject = msgspec.to_builtins(obj)
    found = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    if isinstance(obj, PersistentVolumeClaim):
        bound = obj.metadata.annotation("pv.kubernetes.io/bind-completed")
        spec = dict(found.get("spec", {}))
        if spec.get("volumeName", "").startswith("pvc-") and bound:
            spec.pop("volumeName")
        found["spec"] = spec
        found["metadata"] = {"annotations": {"pv.kubernetes.io/bind-completed": bound or None}}
    return found


def _without_marks(obj: KubeObject) -> JsonObject:
    body = _written(obj)
    body.pop("metadata", None)
    metadata: JsonObject = {"name": obj.name}
    if obj.namespace:
        metadata["namespace"] = obj.namespace
    if obj.metadata.labels:
        metadata["labels"] = obj.metadata.labels
    spec = body.get("spec")
    if isinstance(obj, PersistentVolumeClaim) and isinstance(spec, dict):
        spec.pop("volumeName", None)
    if isinstance(obj, PersistentVolume) and isinstance(spec, dict):
        spec.get("claimRef", {}).pop("uid", None)
        spec["hostPath"] = {"path": f"/mnt/{obj.name}"}
    if isinstance(obj, DeviceClass):
        body.setdefault("spec", {})
    return {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": metadata, **body}


# --- nodes ------------------------------------------------------------------------------------


def _node_commands(node: Node, engine: Engine) -> Iterator[str]:
    table = engine.cluster.nodes
    if not table.is_present(node.name):
        yield comment("where machines come from a node group, let that grow by one instead")
        yield create(_new_node(node))
        return
    before = table.node(table.row(node.name))
    if before.spec.unschedulable and not node.spec.unschedulable:
        yield kubectl("uncordon", f"node/{node.name}")
    kept = node.spec.taints or ()
    cordoned = before.spec.unschedulable
    gone = [
        f"{describe_taint(taint)}-"
        for taint in before.spec.taints or ()
        if taint not in kept and not (cordoned and taint.key.endswith("/unschedulable"))
    ]
    if gone:
        yield kubectl("taint", "nodes", node.name, *gone)
    was, will = before.metadata.labels or {}, node.metadata.labels or {}
    words = [f"{key}={value}" for key, value in will.items() if was.get(key) != value]
    words += [f"{key}-" for key in was if key not in will]
    if words:
        yield kubectl("label", f"node/{node.name}", *words, options=("--overwrite",))


def _new_node(node: Node) -> JsonObject:
    body: JsonObject = msgspec.to_builtins(node)
    body["apiVersion"], body["kind"] = node.api_version, node.kind
    body["metadata"].pop("uid", None)
    amounts = body.get("status", {}).get("allocatable")
    if amounts is not None:
        body["status"].setdefault("capacity", amounts)
    return body


# --- pods that make room ----------------------------------------------------------------------


def _removal_commands(pods: tuple[Pod, ...], catalog: Catalog) -> Iterator[str]:
    scaled: dict[tuple[str, Owner], list[Pod]] = defaultdict(list)
    for pod in pods:
        owner = owner_of(pod, catalog)
        if owner is not None and owner.replicas and _can_scale(pod, owner):
            scaled[pod.metadata.namespace, owner].append(pod)
            continue
        if owner is not None:
            yield comment(f"{owner.kind} {owner.name} makes it again unless it is scaled down")
        yield kubectl("delete", f"pod/{pod.name}", namespace=pod.metadata.namespace)
    for (namespace, owner), victims in scaled.items():
        if owner.kind != "StatefulSet":
            for pod in victims:
                words = (f"pod/{pod.name}", _DELETION_COST)
                yield kubectl("annotate", *words, options=("--overwrite",), namespace=namespace)
        left = max(0, (owner.replicas or 0) - len(victims))
        options = (f"--replicas={left}",)
        yield kubectl("scale", owner.target, options=options, namespace=namespace)


def _can_scale(pod: Pod, owner: Owner) -> bool:
    """Whether scaling down by one lets this very pod go."""
    if owner.kind == "StatefulSet":
        return pod.name == f"{owner.name}-{(owner.replicas or 0) - 1}"
    return owner.kind in ("Deployment", "ReplicaSet", "ReplicationController")


def _move_commands(pods: tuple[Pod, ...], engine: Engine) -> Iterator[str]:
    """With the node closed, so that what is made again does not come back to it."""
    nodes = {pod.spec.node_name: engine.cluster.nodes for pod in pods}
    closed = [
        name
        for name, table in nodes.items()
        if table.is_present(name) and not table.node(table.row(name)).spec.unschedulable
    ]
    for name in closed:
        yield kubectl("cordon", f"node/{name}")
    for pod in pods:
        yield from _move_one(pod, engine.cluster.catalog)
    for name in closed:
        yield kubectl("uncordon", f"node/{name}")


def _move_one(pod: Pod, catalog: Catalog) -> Iterator[str]:
    name, namespace = f"pod/{pod.name}", pod.metadata.namespace
    if owner_of(pod, catalog) is None:
        yield replace_with(name, {"spec": {"nodeName": None}}, namespace=namespace, kind="merge")
        yield kubectl("wait", name, options=_WAIT, namespace=namespace)
        return
    yield kubectl("delete", name, namespace=namespace)
    labels = ",".join(f"{key}={value}" for key, value in (pod.metadata.labels or {}).items())
    if labels:
        options = (f"--selector={labels}", *_WAIT)
        yield kubectl("wait", "pod", options=options, namespace=namespace)
