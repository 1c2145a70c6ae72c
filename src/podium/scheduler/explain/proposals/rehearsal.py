"""Carrying a proposal out on the engine, as its commands and the controllers would.

That a pod would fit if it were different says little about the commands that make it different: a
changed template concerns every pod of a workload, which are replaced one after the other while the
old ones are still there; a new node gets pods of daemon sets before any other; pods of others that
wait may come first; a pod with a higher priority evicts others. So each proposal is rehearsed, and
what is told of it is what was seen: how many pods of the workload have a node before and after,
which of them are restarted, who else loses its place.

What the commands write is put to the admission of the API server, and for workloads their own
controllers carry it on (`controllers_at_work.py`).

Contract: as with every trial the engine is afterwards as it was, and so is the server; the work is
bounded by counting attempts.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from podium.golang.errors import ObjectError
from podium.kubernetes.controllers.daemon_pods import daemons_of, pod_of_daemon
from podium.kubernetes.controllers.pods import Pod as ControlledPod
from podium.kubernetes.controllers.pods import least_missed
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodSpec, as_pending
from podium.kubernetes.kinds.storage import StorageClass
from podium.kubernetes.rules.nodes import is_daemon
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodShape, uid_of
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.proposals.admitting import Admitting, AdmittingAll, as_json
from podium.scheduler.explain.proposals.controllers_at_work import ControllersAtWork
from podium.scheduler.explain.proposals.object_writes import (
    ObjectWrite,
    Verb,
    list_object_writes,
    template_change,
)
from podium.scheduler.explain.proposals.workload import OwnedPods
from podium.scheduler.explain.proposals.workload_copy import WorkloadCopy, copy_workload
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.status import Code

_SET_BY_ADMISSION = ("priority", "preemptionPolicy")
MAX_ATTEMPTS = 2_000
"""In one rehearsal; a workload that is larger is left at what has been seen by then."""
_Changes = dict[str, Any]
"""Fields of a pod spec, and their new values."""


@dataclass(slots=True)
class RehearsalOutcome:
    """`node` is where the pod goes, or the first that is made in its place. `before` and `after`
    count the pods of its workload that have a node, of `wanted`; `restarted` are those that run
    and are made anew, `preempted` the pods of others that lose their node to them. `unavailable`
    is how many pods of the workload have to be allowed to be missing meanwhile, if more than its
    strategy says. `stranded` are pods that have a node before and none after it, or that come with
    a new node and have no room on it: nothing of that kind is proposed."""

    node: str = ""
    destinations: tuple[str, ...] = ()
    before: int = 0
    after: int = 1
    wanted: int = 1
    restarted: int = 0
    preempted: tuple[str, ...] = ()
    unavailable: int | None = None
    stranded: tuple[str, ...] = ()
    is_stuck: bool = False
    """Whether a roll-out never ends and leaves old pods on nodes."""
    is_unfinished: bool = False
    """Whether a roll-out never ends, perhaps for want of room for the last pods only."""
    attempts: int = 0

    @property
    def helps(self) -> bool:
        return self.after > self.before and not self.stranded and not self.is_stuck


def rehearse(
    trial: Trial,
    hypothesis: Hypothesis,
    workload: OwnedPods | None,
    rivals: Sequence[Pod],
    server: Admitting | None = None,
) -> RehearsalOutcome | None:
    """What comes of a change; None if it does not even begin. `rivals` are tried first, `server` is
    asked about what is written."""
    if workload is not None and _has_claims_of_its_own(hypothesis.pod):
        workload = None  # what has to be made first for another pod is not rehearsed
    server = server or AdmittingAll(hypothesis.pod)
    outcome = _rehearse_once(trial, hypothesis, workload, rivals, server)
    if outcome is None or workload is None or workload.owner.kind != "Deployment":
        return outcome
    missing = workload.wanted - len(workload.placed)
    is_held_up = outcome.is_stuck or (outcome.is_unfinished and not outcome.helps)
    if not is_held_up or workload.unavailable > missing:
        return outcome
    # Old pods are in the way of new ones, on nodes or in a quota, and must not be missing.
    again = _rehearse_once(trial, hypothesis, workload, rivals, server, missing + 1)
    return outcome if again is None or again.is_stuck else again


def _rehearse_once(
    trial: Trial,
    hypothesis: Hypothesis,
    workload: OwnedPods | None,
    rivals: Sequence[Pod],
    server: Admitting,
    unavailable: int | None = None,
) -> RehearsalOutcome | None:
    with server.roll_back_on_exit(), ExitStack() as stack:
        catalog = trial.engine.cluster.catalog
        writes = list(list_object_writes(hypothesis.objects, trial.pod, catalog))
        nodes = trial.engine.cluster.nodes
        added = {node.name for node in hypothesis.nodes if not nodes.is_present(node.name)}
        stack.enter_context(trial.with_hypothesis(hypothesis))
        with trial.with_cordoned_nodes(pod.spec.node_name for pod in hypothesis.moved):
            elsewhere = list(map(as_pending, hypothesis.moved))
            moved = stack.enter_context(trial.with_placed_pods(elsewhere))
        if any(decision.bound is None for decision in moved):
            return None
        run = _Run(trial, stack, hypothesis, workload, server, added)
        run.outcome.unavailable = unavailable
        run.outcome.destinations = tuple(decision.bound or "" for decision in moved)
        run.place_daemons(hypothesis.nodes)
        # A place that was made by preemption is kept for the pod that it was made for.
        if hypothesis.touches_others and not hypothesis.preempted:
            run.place_rivals(rivals)
        if not run.carry_out(writes):
            return None
        run.outcome.attempts = run.attempts
        return run.outcome


@dataclass(slots=True)
class _Run:
    """One rehearsal; what has happened so far is held by the stack."""

    trial: Trial
    stack: ExitStack
    hypothesis: Hypothesis
    workload: OwnedPods | None
    server: Admitting
    added: Collection[str]
    """Names of nodes that are there only in the hypothesis."""
    outcome: RehearsalOutcome = field(default_factory=RehearsalOutcome)
    attempts: int = 0
    work: ControllersAtWork | None = None
    _refused: set[PodShape] = field(default_factory=set)
    """What has got no node since a place was last freed or taken."""

    def carry_out(self, writes: Iterable[ObjectWrite]) -> bool:
        """False if the server refuses what the commands write."""
        try:
            self._write_objects(writes)
            for moved in self.hypothesis.moved:  # deleted and made again, by a command or not
                self.server.remove(moved)
                self.server.create_in_part(as_json(as_pending(moved)), Pod)
            if self.workload is None:
                self._make_alone()
                return True
        except ObjectError:
            return False
        copy = copy_workload(self.workload, self.trial.pod, self.trial.engine, self.added)
        if copy is None:  # nobody knows what another controller does with a changed template
            found = int(bool(self._place(self.hypothesis.pod)))
            before = self.outcome.before = len(self.workload.placed)
            self.outcome.wanted, self.outcome.after = self.workload.wanted, before + found
            return True
        self._let_controllers_work(self.workload, copy)
        return True

    def _write_objects(self, writes: Iterable[ObjectWrite]) -> None:
        """Ask the server about what is created; the scheduler knows of it already."""
        for write in writes:
            match write.verb:
                case Verb.CREATE:
                    self.server.store(write.body)
                case Verb.REPLACE:
                    self.server.remove(write.obj)
                    self.server.create_in_part(as_json(write.obj), type(write.obj))

    def _make_alone(self) -> None:
        """A pod that nobody looks after is made anew where it cannot be changed in place."""
        before, after = self.trial.pod, self.hypothesis.pod
        changed = _changed_fields(before.spec, after.spec)
        if changed.keys() - {"scheduling_gates", "tolerations"} and not before.metadata.controller:
            body = as_json(as_pending(after))
            body["spec"] = {
                key: value
                for key, value in body["spec"].items()
                if key not in _SET_BY_ADMISSION or after.spec.priority == before.spec.priority
            }
            self.server.remove(before)
            self.server.create_in_part(body, Pod)
        self.outcome.after = int(bool(self._place(after)))

    # --- nodes --------------------------------------------------------------------------------

    def place_daemons(self, nodes: Iterable[Node]) -> None:
        """Pods of daemon sets come to nodes before those that wait."""
        known = self.trial.engine.state.pods.values()
        own = self.hypothesis.pod.metadata.controller if is_daemon(self.hypothesis.pod) else None
        daemons = [pod for pod in daemons_of(known) if pod.metadata.controller != own]
        for node in nodes:
            for daemon in daemons:
                if self._has_daemon(node, daemon):
                    continue
                pod = pod_of_daemon(daemon, node)
                profile = self.trial.engine.profile_of(pod)
                filters = {plugin.name: plugin for plugin in profile.filter}
                objections = self.trial.examine(pod).objections(node.name)
                if any(filters[plugin].keeps_daemons_away for plugin in objections):
                    continue
                if self._decide(pod).bound is None:
                    self.outcome.stranded += (object_key(pod.metadata),)

    def _has_daemon(self, node: Node, daemon: Pod) -> bool:
        cluster = self.trial.engine.cluster
        here = cluster.usage.pods(cluster.nodes.row(node.name))
        owner, namespace = daemon.metadata.controller, daemon.metadata.namespace
        return any(
            info.pod.metadata.controller == owner and info.shape.namespace == namespace
            for info in here
        )

    def place_rivals(self, rivals: Sequence[Pod]) -> None:
        """Others that wait and come first: where one of them finds no place, its like find none
        either."""
        refused = set()
        for pod in rivals:
            shape = self.trial.engine.cluster.infos.of(pod).shape
            if shape not in refused and self._decide(pod).bound is None:
                refused.add(shape)

    # --- pods of the workload -----------------------------------------------------------------

    def _let_controllers_work(self, workload: OwnedPods, copy: WorkloadCopy) -> None:
        work = self.work = ControllersAtWork(
            copy,
            (*workload.placed, *workload.waiting),
            self.server,
            place=self._place,
            leave=self._leave,
            put=lambda objects: self.stack.enter_context(self.trial.with_objects(objects)),
            find_class=lambda name: self.trial.engine.cluster.catalog.get(StorageClass, name),
        )
        outcome, hypothesis = self.outcome, self.hypothesis
        outcome.before, outcome.wanted = len(workload.placed), workload.wanted
        changed = _changed_fields(self.trial.pod.spec, hypothesis.pod.spec)
        is_template_changed = bool(changed.keys() - {"scheduling_gates"})
        if hypothesis.replicas is not None:
            work.begin({"spec": {"replicas": hypothesis.replicas}})
        elif not is_template_changed:
            if changed:
                work.change_waiting(lambda pod: replace(pod, spec=replace(pod.spec, **changed)))
            work.begin()
        else:
            change = template_change(
                self.trial.pod, hypothesis.pod, workload, self.outcome.unavailable
            )
            if workload.owner.kind == "Job":
                work.make_anew(change)
            else:
                work.begin(change)
                if not workload.replaces_waiting:
                    work.delete(workload.waiting)
        work.settle(self.trial.pod)
        outcome.after, outcome.restarted = work.with_node, work.restarted
        outcome.is_stuck = is_template_changed and work.has_old_pods
        outcome.is_unfinished = is_template_changed and not work.is_rolled_out
        if work.is_cut_short and is_template_changed:
            outcome.restarted = len(workload.placed)
        else:
            outcome.stranded += tuple(_find_stranded_pods(workload, work))
        if hypothesis.replicas is not None:
            outcome.wanted = hypothesis.replicas
            outcome.before = outcome.after - 1 if workload.waiting else hypothesis.replicas

    # --- single pods --------------------------------------------------------------------------

    def _place(self, pod: Pod) -> str:
        """The node that a pod of the workload gets, for which it may evict others."""
        shape = self.trial.engine.cluster.infos.of(pod).shape
        if self.attempts >= MAX_ATTEMPTS or shape in self._refused:
            return ""
        decision = self._decide(pod)
        victims = _victims(decision)
        if victims:
            for victim in victims:
                self._leave(victim)
                if self.work is not None:
                    self.work.evict(victim)
            self.outcome.preempted += tuple(object_key(each.metadata) for each in victims)
            decision = self._decide(pod)
        if decision.bound is None:
            self._refused.add(shape)
            return ""
        self._refused.clear()
        if not self.outcome.node:
            self.outcome.node = decision.bound
        return decision.bound

    def _leave(self, pod: Pod) -> None:
        self._refused.clear()
        self.server.remove(pod)
        self.stack.enter_context(self.trial.without([pod]))

    def _decide(self, pod: Pod) -> Decision:
        self.attempts += 1
        (decision,) = self.stack.enter_context(self.trial.with_placed_pods([pod]))
        return decision


def _changed_fields(before: PodSpec, after: PodSpec) -> _Changes:
    return {
        name: getattr(after, name)
        for name in before.__struct_fields__
        if getattr(before, name) != getattr(after, name)
    }


def _find_stranded_pods(workload: OwnedPods, work: ControllersAtWork) -> Iterator[str]:
    """Pods with an identity of their own, an ordinal or a node, that had a node and have none."""
    for pod in workload.placed:
        match workload.owner.kind:
            case "StatefulSet":
                is_there = work.has_node(pod.name)
            case "DaemonSet":
                is_there = pod.spec.node_name in work.taken
            case _:
                is_there = True
        if not is_there:
            yield object_key(pod.metadata)


def _victims(decision: Decision) -> list[Pod]:
    outcome = decision.post_filter
    if decision.bound is not None or outcome is None or outcome.code is not Code.SUCCESS:
        return []
    return [info.pod for info in outcome.victims]


def order_of_leaving(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which a replica set lets them go."""
    by_uid = {uid_of(pod): pod for pod in pods}
    ranked = least_missed(list(map(_as_controllers_read, pods)))
    keys = (each.metadata.uid or f"{each.namespace}/{each.name}" for each in ranked)
    return [by_uid[key] for key in keys]


def _as_controllers_read(pod: Pod) -> ControlledPod:
    return msgspec.convert(msgspec.to_builtins(pod), ControlledPod)


def _has_claims_of_its_own(pod: Pod) -> bool:
    """Whether claims are made for this very pod."""
    return any(v.ephemeral is not None for v in pod.spec.volumes or ()) or any(
        claim.resource_claim_template_name for claim in pod.spec.resource_claims or ()
    )
