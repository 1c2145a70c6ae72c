"""The commands that carry a proposal out, in an order that works, and what they disturb.

What the pod needs comes first (objects, nodes, room), the pod itself last. What controllers,
provisioners and kubelets do by themselves is left to them. Where no command does what a proposal
says, there is none: a pod that its controller makes again at once gives nothing free, and a set
that is scaled down lets go of the pods that wait before any other.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from dataclasses import replace as with_fields

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.pods import DELETION_COST
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume
from podium.kubernetes.rules.tolerations import describe_taint
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.proposals.object_writes import Verb, change_pod, list_object_writes
from podium.scheduler.explain.proposals.owners import owner_of
from podium.scheduler.explain.proposals.proposal import Proposal
from podium.scheduler.explain.proposals.rehearsal import order_of_leaving
from podium.scheduler.explain.proposals.shell import Kubectl, comment
from podium.scheduler.explain.proposals.workload import OwnedPods, workload_of

_CHEAPEST = "-1000"
_WAIT = ("--for=condition=PodScheduled", "--timeout=60s")


class _NoCommandError(Exception):
    """No command does what was proposed."""


def commands_for(
    proposal: Proposal, pod: Pod, engine: Engine, workload: OwnedPods | None, kubectl: Kubectl
) -> Proposal | None:
    """The proposal with its commands; None if there are none that do it."""
    script = _Script(kubectl, engine, pod, workload)
    try:
        script.write(proposal)
    except _NoCommandError:
        return None
    return with_fields(
        proposal, commands=tuple(script.lines), disruptions=tuple(script.disruptions)
    )


@dataclass(slots=True)
class _Script:
    kubectl: Kubectl
    engine: Engine
    pod: Pod
    workload: OwnedPods | None
    lines: list[str] = field(default_factory=list)
    disruptions: list[str] = field(default_factory=list)

    def write(self, proposal: Proposal) -> None:
        hypothesis, outcome = proposal.hypothesis, proposal.outcome
        self.lines += self._object_commands(hypothesis.objects)
        for node in hypothesis.nodes:
            self.lines += self._node_commands(node)
        self.lines += self._removal_commands(hypothesis.removed)
        self.lines += self._move_commands(hypothesis.moved)
        changed = change_pod(
            self.kubectl, self.pod, hypothesis.pod, self.workload, outcome.unavailable
        )
        self.lines += changed.lines
        self.disruptions += changed.disruptions
        if hypothesis.replicas is not None and self.workload is not None:
            self.lines.append(self._scale(self.workload, hypothesis.replicas))
            gone = [each.name for each in self.workload.waiting]
            self.disruptions.append(f"deletes {_join(gone)}, which {_have(gone)} no node")
        if outcome.restarted and self.workload is not None:
            number = outcome.restarted
            pods = "pod" if number == 1 else f"{number} pods"
            self.disruptions.append(f"restarts the {pods} of {self.workload.target} with a node")
        preempted = (
            *(object_key(each.metadata) for each in hypothesis.preempted),
            *outcome.preempted,
        )
        if preempted:
            self.disruptions.append(f"the scheduler evicts {_join(preempted)}")

    # --- objects ------------------------------------------------------------------------------

    def _object_commands(self, objects: tuple[KubeObject, ...]) -> Iterator[str]:
        for write in list_object_writes(objects, self.pod, self.engine.cluster.catalog):
            obj, target, namespace = write.obj, _target(write.obj), write.obj.namespace
            match write.verb:
                case Verb.CREATE:
                    if isinstance(obj, PersistentVolume):
                        yield comment("write where the volume really is in place of hostPath")
                    yield self.kubectl.create(write.body)
                case Verb.DELETE:
                    self._note_deletion(obj, again=False)
                    yield self.kubectl.run("delete", target, namespace=namespace)
                case Verb.REPLACE:
                    self._refuse_if_used(obj)
                    self._note_deletion(obj, again=True)
                    yield self.kubectl.replace_with(
                        target, write.body, namespace=namespace, kind="merge"
                    )
                case Verb.PATCH:
                    yield self.kubectl.patch(target, write.body, namespace=namespace, kind="merge")

    def _note_deletion(self, obj: KubeObject, *, again: bool) -> None:
        rest = " and creates it again" if again else ""
        self.disruptions.append(f"deletes {obj.kind} {obj.namespace}/{obj.name}{rest}")

    def _refuse_if_used(self, claim: KubeObject) -> None:
        """A claim stays for as long as a pod on a node uses it."""
        if isinstance(claim, ResourceClaim):
            if claim.status.reserved_for:
                raise _NoCommandError
            return
        for held in self.engine.cluster.placements.values():
            shape = held.info.shape
            if shape.namespace == claim.namespace and claim.name in shape.claim_names:
                raise _NoCommandError

    # --- nodes --------------------------------------------------------------------------------

    def _node_commands(self, node: Node) -> Iterator[str]:
        table = self.engine.cluster.nodes
        if not table.is_present(node.name):
            hint = comment("where machines come from a node group, let that grow instead")
            if hint not in self.lines:
                self.lines.append(hint)
            yield self.kubectl.create(_new_node(node))
            return
        before = table.node(table.row(node.name))
        if before.spec.unschedulable and not node.spec.unschedulable:
            yield self.kubectl.run("uncordon", f"node/{node.name}")
        kept = node.spec.taints or ()
        cordoned = before.spec.unschedulable
        gone = [
            f"{describe_taint(taint.key, taint.value, taint.effect)}-"
            for taint in before.spec.taints or ()
            if taint not in kept and not (cordoned and taint.key.endswith("/unschedulable"))
        ]
        if gone:
            yield self.kubectl.run("taint", "nodes", node.name, *gone)
        was, will = before.metadata.labels or {}, node.metadata.labels or {}
        words = [f"{key}={value}" for key, value in will.items() if was.get(key) != value]
        words += [f"{key}-" for key in was if key not in will]
        if words:
            yield self.kubectl.run("label", f"node/{node.name}", *words, options=("--overwrite",))

    # --- pods that make room ------------------------------------------------------------------

    def _removal_commands(self, pods: tuple[Pod, ...]) -> Iterator[str]:
        scaled: dict[tuple[str, str], list[Pod]] = defaultdict(list)
        workloads: dict[tuple[str, str], OwnedPods] = {}
        for pod in pods:
            workload = workload_of(pod, self.engine)
            if workload is None:
                self.disruptions.append(
                    f"deletes pod {object_key(pod.metadata)}, which nothing makes again"
                )
                yield self.kubectl.run(
                    "delete", f"pod/{pod.name}", namespace=pod.metadata.namespace
                )
                continue
            scaled[workload.namespace, workload.target].append(pod)
            workloads[workload.namespace, workload.target] = workload
        for owner, victims in scaled.items():
            yield from self._scale_away(workloads[owner], victims)

    def _scale_away(self, workload: OwnedPods, victims: list[Pod]) -> Iterator[str]:
        """Let a workload go without some of its pods, if it is these that it lets go first."""
        owner, left = workload.owner, (workload.owner.replicas or 0) - len(victims)
        own = self.workload is not None and owner == self.workload.owner
        if left < 0 or (own and workload.namespace == self.pod.metadata.namespace):
            raise _NoCommandError
        if owner.kind == "StatefulSet":
            last = {f"{owner.name}-{at}" for at in range(left, owner.replicas or 0)}
            if {pod.name for pod in victims} != last:
                raise _NoCommandError
        elif owner.kind in ("Deployment", "ReplicaSet", "ReplicationController"):
            self._refuse_unless_first(workload, victims)
            for pod in victims:
                words = (f"pod/{pod.name}", f"{DELETION_COST}={_CHEAPEST}")
                yield self.kubectl.run(
                    "annotate", *words, options=("--overwrite",), namespace=workload.namespace
                )
        else:
            raise _NoCommandError
        names = _join([object_key(pod.metadata) for pod in victims])
        self.disruptions.append(f"deletes {names} and leaves {workload.target} with {left}")
        yield self._scale(workload, left)

    def _refuse_unless_first(self, workload: OwnedPods, victims: list[Pod]) -> None:
        uids = {uid_of(pod) for pod in victims}
        everyone = {uid_of(pod): pod for pod in (*workload.placed, *workload.waiting)}
        marked = [_with_deletion_cost(pod) if uid in uids else pod for uid, pod in everyone.items()]
        first = order_of_leaving(marked)[: len(victims)]
        if {uid_of(pod) for pod in first} != uids:
            raise _NoCommandError

    def _scale(self, workload: OwnedPods, replicas: int) -> str:
        options = (f"--replicas={replicas}",)
        return self.kubectl.run(
            "scale", workload.target, options=options, namespace=workload.namespace
        )

    def _move_commands(self, pods: tuple[Pod, ...]) -> Iterator[str]:
        """With the node closed, so that what is made again does not come back to it."""
        table = self.engine.cluster.nodes
        names = dict.fromkeys(pod.spec.node_name for pod in pods)
        closed = [
            name
            for name in names
            if table.is_present(name) and not table.node(table.row(name)).spec.unschedulable
        ]
        for name in closed:
            yield self.kubectl.run("cordon", f"node/{name}")
        for pod in pods:
            yield from self._move_one(pod)
        for name in closed:
            yield self.kubectl.run("uncordon", f"node/{name}")

    def _move_one(self, pod: Pod) -> Iterator[str]:
        name, namespace = f"pod/{pod.name}", pod.metadata.namespace
        self.disruptions.append(
            f"deletes pod {object_key(pod.metadata)}, which is made again on another node"
        )
        if owner_of(pod, self.engine.cluster.catalog) is None:
            change: JsonObject = {"spec": {"nodeName": None}}
            yield self.kubectl.replace_with(name, change, namespace=namespace, kind="merge")
            yield self.kubectl.run("wait", name, options=_WAIT, namespace=namespace)
            return
        workload = workload_of(pod, self.engine)
        if workload is not None and any(uid_of(w) != uid_of(pod) for w in workload.waiting):
            raise _NoCommandError  # who waits already takes the place that was meant for it
        yield self.kubectl.run("delete", name, namespace=namespace)
        labels = ",".join(f"{key}={value}" for key, value in (pod.metadata.labels or {}).items())
        if labels:
            options = (f"--selector={labels}", *_WAIT)
            yield self.kubectl.run("wait", "pod", options=options, namespace=namespace)


def _new_node(node: Node) -> JsonObject:
    body: JsonObject = msgspec.to_builtins(node)
    body["apiVersion"], body["kind"] = node.api_version, node.kind
    body["metadata"].pop("uid", None)
    amounts = body.get("status", {}).get("allocatable")
    if amounts is not None:
        body["status"].setdefault("capacity", amounts)
    return body


def _with_deletion_cost(pod: Pod) -> Pod:
    annotations = {**(pod.metadata.annotations or {}), DELETION_COST: _CHEAPEST}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


def _target(obj: KubeObject) -> str:
    return f"{obj.kind.lower()}/{obj.name}"


def _join(names: tuple[str, ...] | list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _have(names: list[str]) -> str:
    return "has" if len(names) == 1 else "have"
