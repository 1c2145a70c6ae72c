"""Disruption budgets of a cluster in memory: counted by their controller, asked before evictions.

The controller is that of the simulated cluster (`kubernetes.controllers.disruption_budgets`), and
who may be evicted is decided as the API server does (`kubernetes.admission.evictions`). A pod that
has been given a node here is ready at once. Pods of a replica set that nobody knows count for the
deployment that its name implies.

What a cluster says that a budget allows holds until something happens to its pods: it may know more
of them than the input shows. From then on the difference to what is counted here stays.
"""

from collections.abc import Iterable
from typing import Final, assert_never

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.evictions import admit_eviction
from podium.kubernetes.controllers import pods as seen_pods
from podium.kubernetes.controllers.controller import Action, CreateAction, DeleteAction, PatchAction
from podium.kubernetes.controllers.disruption_budgets import DisruptionBudgets
from podium.kubernetes.controllers.memory_stores import (
    ControllerLoop,
    MemoryStores,
    apply_patch,
)
from podium.kubernetes.controllers.stores import KINDS
from podium.kubernetes.controllers.workloads import (
    Deployment,
    ReplicaSet,
    ReplicasSpec,
    Workload,
)
from podium.kubernetes.kinds.meta import Condition, ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.disruptions import guards
from podium.kubernetes.rules.timestamps import Moment
from podium.kubernetes.status_errors import StatusError
from podium.offline.simulate.admission import is_stored
from podium.offline.simulate.object_lookup import as_json
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.events import ClusterEvent, EventObject

Key = tuple[str, str]
_READY: Final = "Ready"
_READY_NOW: Final = (Condition(type=_READY, status="True"),)
_RESOURCES: Final = {kind: resource for resource, kind in KINDS.items()}


class CountedBudgets:
    """Budgets, the pods that they guard and the controllers of these."""

    def __init__(self, workloads: Iterable[Workload]) -> None:
        self._stores = MemoryStores()
        self._controller = DisruptionBudgets(self._stores)
        self._loop = ControllerLoop((self._controller,))
        self._new: dict[Key, int | None] = {}
        """Budgets that were put since the last count, with what a cluster says that they allow."""
        self._hidden: dict[Key, int] = {}
        """What a cluster knows of healthy pods beyond those that are here."""
        self._changed: dict[Key, None] = {}
        for workload in workloads:
            self.put_workload(workload)

    def put_workload(self, workload: Workload) -> None:
        self._stores.store_of(_RESOURCES[type(workload)]).put(workload)

    def put_pod(self, pod: Pod) -> None:
        self._find_replica_set(pod.metadata)
        self._stores.pods.put(_as_controllers_see(pod))

    def drop_pod(self, namespace: str, name: str) -> None:
        pod = self._stores.pods.get(namespace, name)
        if pod is not None:
            self._stores.pods.drop(pod)

    def put_budget(self, budget: PodDisruptionBudget) -> None:
        """A budget as somebody else has written it."""
        key = budget.metadata.key
        self._new[key] = budget.status.disruptions_allowed if _is_counted(budget) else None
        self._hidden.pop(key, None)
        self._stores.budgets.put(budget)

    def drop_budget(self, key: Key) -> None:
        budget = self._stores.budgets.find(key)
        if budget is not None:
            self._stores.budgets.drop(budget)
        self._new.pop(key, None)

    def charge(self, budget: PodDisruptionBudget) -> None:
        """An eviction is recorded in the status of a budget."""
        found = self._stores.budgets.find(budget.metadata.key)
        if found is not None:
            status = replace(found.status, disrupted_pods=budget.status.disrupted_pods)
            self._stores.budgets.put(replace(found, status=status))

    def count(self, moment: Moment) -> list[PodDisruptionBudget]:
        """The budgets of which evictions read something else now."""
        if all(map(self._can_wait, self._loop.due_keys())):
            return []
        self._loop.settle(self._carry_out, moment)
        new, self._new = self._new, {}
        for key, allowed in new.items():
            if allowed is not None:
                self._changed.pop(key, None)
                self._note_hidden(key, allowed)
        changed, self._changed = self._changed, {}
        found = map(self._stores.budgets.find, changed)
        return [self._with_hidden(budget) for budget in found if budget is not None]

    def _can_wait(self, key: Key) -> bool:
        """Whether the controller may look at a budget later: nobody reads what it would write."""
        is_plain = key not in self._new and key not in self._hidden
        return is_plain and self._controller.is_settled(key)

    def _note_hidden(self, key: Key, allowed: int) -> None:
        budget = self._stores.budgets.find(key)
        if budget is not None and budget.status.disruptions_allowed != allowed:
            self._hidden[key] = allowed - _spare(budget)

    def _with_hidden(self, budget: PodDisruptionBudget) -> PodDisruptionBudget:
        hidden = self._hidden.get(budget.metadata.key)
        if hidden is None:
            return budget
        allowed = max(0, _spare(budget) + hidden)
        return replace(budget, status=replace(budget.status, disruptions_allowed=allowed))

    def _carry_out(self, action: Action) -> None:
        match action:
            case PatchAction():
                budget = self._stores.budgets.get(action.namespace, action.name)
                if budget is not None:
                    self._stores.budgets.put(apply_patch(budget, action))
                    self._changed[budget.metadata.key] = None
            case CreateAction() | DeleteAction():
                raise NotImplementedError("the disruption controller writes statuses only")
            case _:
                assert_never(action)

    def _find_replica_set(self, pod: ObjectMeta) -> None:
        """Make up the replica set of a pod, if its deployment is there and it is not."""
        owner = pod.controller
        if owner is None or owner.kind != "ReplicaSet" or "-" not in owner.name:
            return
        if self._stores.replica_sets.get(pod.namespace, owner.name) is not None:
            return
        deployment = self._stores.deployments.get(pod.namespace, owner.name.rpartition("-")[0])
        if isinstance(deployment, Deployment):
            above = OwnerReference(kind="Deployment", name=deployment.name, controller=True)
            metadata = ObjectMeta(
                name=owner.name, namespace=pod.namespace, owner_references=(above,)
            )
            spec = ReplicasSpec(replicas=deployment.wanted)
            self._stores.replica_sets.put(ReplicaSet(metadata=metadata, spec=spec))


def count_budgets(
    budgets: Iterable[PodDisruptionBudget], pods: Iterable[Pod], workloads: Iterable[Workload]
) -> list[PodDisruptionBudget]:
    """The budgets with their status filled in, unless a cluster has done that already."""
    written = list(budgets)
    if all(map(_is_counted, written)):
        return written
    counted = CountedBudgets(workloads)
    for pod in pods:
        counted.put_pod(pod)
    for budget in written:
        counted.put_budget(budget)
    found = {budget.metadata.key: budget for budget in counted.count(Moment(0.0, 0.0))}
    return [found.get(budget.metadata.key, budget) for budget in written]


class DisruptionControl(Observer):
    """The budgets of an engine's cluster, while pods come and go."""

    def __init__(self, engine: Engine, workloads: Iterable[Workload]) -> None:
        self._engine = engine
        self._workloads = workloads
        self._counted: CountedBudgets | None = None
        self._touched: dict[str, None] = {}
        self._budgets: dict[Key, PodDisruptionBudget] = {}
        """As they are in the catalog."""
        self._version = 0

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:  # noqa: ARG002
        if isinstance(obj, Pod):
            self._touched[object_key(obj.metadata)] = None

    def put_workload(self, workload: Workload) -> None:
        """A controller wants another number of pods."""
        self._workloads = [*self._workloads, workload]
        if self._counted is not None:
            self._counted.put_workload(workload)

    def recount(self) -> None:
        """Have budgets say what they allow now."""
        version = self._engine.cluster.catalog.version(PodDisruptionBudget)
        if self._counted is None:
            if not version:
                return
            self._counted = CountedBudgets(self._workloads)
            self._engine.observers.add(self)
            self._touched = dict.fromkeys(self._engine.state.pods)
        if not self._touched and version == self._version:
            return
        self._follow_pods(self._counted)
        if version != self._version:
            self._follow_budgets(self._counted)
        for budget in self._counted.count(self._moment()):
            if _as_read(budget) != _as_read(self._budgets[budget.metadata.key]):
                self._write(budget)
        self._version = self._engine.cluster.catalog.version(PodDisruptionBudget)

    def find_refusal(self, pod: Pod) -> str:
        """Why a pod may not be evicted now, "" if it may."""
        return self._admit(pod)[1]

    def evict(self, pod: Pod) -> str:
        """The same, for a pod that is removed next: its budget is charged."""
        charged, refusal = self._admit(pod)
        if charged is not None and self._counted is not None:
            self._counted.charge(charged)
            self._write(charged)
        return refusal

    def _admit(self, pod: Pod) -> tuple[PodDisruptionBudget | None, str]:
        self.recount()
        guarding = [each for each in self._budgets.values() if guards(each, pod.metadata)]
        written = [_as_observed(each) for each in guarding]
        try:
            charged = admit_eviction(_encode_for_eviction(pod), written, self._moment().timestamp)
        except StatusError:
            names = ", ".join(sorted(budget.name for budget in guarding))
            if len(guarding) > 1:
                return None, f"more than one PodDisruptionBudget covers it: {names}"
            return None, f"PodDisruptionBudget {names} lets no more pods go"
        if charged is None:
            return None, ""
        return msgspec.convert(charged, PodDisruptionBudget), ""

    def _follow_pods(self, counted: CountedBudgets) -> None:
        touched, self._touched = self._touched, {}
        for key in touched:
            pod = self._engine.state.pods.get(key)
            if pod is not None:
                counted.put_pod(pod)
            else:
                namespace, _, name = key.partition("/")
                counted.drop_pod(namespace, name)

    def _follow_budgets(self, counted: CountedBudgets) -> None:
        there = {
            budget.metadata.key: budget
            for budget in self._engine.cluster.catalog.all(PodDisruptionBudget)
        }
        for key in self._budgets.keys() - there.keys():
            counted.drop_budget(key)
        for key, budget in there.items():
            if self._budgets.get(key) is not budget:
                counted.put_budget(budget)
        self._budgets = there

    def _write(self, budget: PodDisruptionBudget) -> None:
        self._budgets[budget.metadata.key] = budget
        self._engine.intake.object_put(budget)
        self._version = self._engine.cluster.catalog.version(PodDisruptionBudget)

    def _moment(self) -> Moment:
        now = self._engine.clock()
        return Moment(now, now)


def _as_read(budget: PodDisruptionBudget) -> tuple[object, ...]:
    """What preemption and evictions read of a budget; what plugins remember outlives the rest."""
    status = budget.status
    return status.disruptions_allowed, status.disrupted_pods or {}, status.observed_generation


def _as_observed(budget: PodDisruptionBudget) -> JsonObject:
    """The budget as the server has it once its controller has seen it, which here is at once."""
    written = as_json(budget)
    written.setdefault("status", {})["observedGeneration"] = budget.metadata.generation
    return written


def _is_counted(budget: PodDisruptionBudget) -> bool:
    """Whether a cluster, or somebody who writes in its place, has said what it allows."""
    status = budget.status
    return is_stored(budget) or bool(status.expected_pods or status.disruptions_allowed)


def _spare(budget: PodDisruptionBudget) -> int:
    return budget.status.current_healthy - budget.status.desired_healthy


def _as_controllers_see(pod: Pod) -> seen_pods.Pod:
    status = seen_pods.PodStatus(phase=pod.status.phase, conditions=_readiness(pod))
    return seen_pods.Pod(metadata=pod.metadata, status=status)


def _readiness(pod: Pod) -> tuple[Condition, ...]:
    if not pod.spec.node_name:
        return ()
    for condition in pod.status.conditions or ():
        if condition.type == _READY:
            return (Condition(type=_READY, status=condition.status),)
    return _READY_NOW


def _encode_for_eviction(pod: Pod) -> JsonObject:
    """What evictions read of a pod."""
    metadata: JsonObject = {"name": pod.name}
    if pod.metadata.deletion_timestamp:
        metadata["deletionTimestamp"] = pod.metadata.deletion_timestamp
    conditions = [{"type": each.type, "status": each.status} for each in _readiness(pod)]
    return {"metadata": metadata, "status": {"phase": pod.status.phase, "conditions": conditions}}
