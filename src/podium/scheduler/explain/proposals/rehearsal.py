"""Carrying a proposal out on the engine, as its commands and the controllers would.

That a pod would fit if it were different says little about the commands that make it different: a
changed template concerns every pod of a workload, which are replaced one after the other while the
old ones are still there; a new node gets pods of daemon sets before any other; pods of others that
wait may come first; a pod with a higher priority evicts others. So each proposal is rehearsed, and
what is told of it is what was seen: how many pods of the workload have a node before and after,
which of them are restarted, who else loses its place.

Contract: as with every trial the engine is afterwards as it was; the work is bounded by counting
attempts. What controllers do is simplified to what decides the outcome: a pod that has a node
counts as available, and pods are replaced in the order in which their controller does it.
"""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import Any

import msgspec
from msgspec.structs import replace

from podium.kubernetes.controllers.daemon_pods import daemons_of, pin_to_node, pod_of_daemon
from podium.kubernetes.controllers.pods import Pod as ControlledPod
from podium.kubernetes.controllers.scale_down import least_missed
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodSpec, as_pending
from podium.kubernetes.rules.node_pods import is_daemon
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.proposals.owners import TEMPLATE_HASH
from podium.scheduler.explain.proposals.workload import ON_DELETE, RECREATE, Workload
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.status import Code

MAX_ATTEMPTS = 2_000
"""In one rehearsal; a workload that is larger is left at what has been seen by then."""
_Changes = dict[str, Any]
"""Fields of a pod spec, and their new values."""


@dataclass(slots=True)
class Outcome:
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
    """Whether a roll-out never ends."""
    attempts: int = 0

    @property
    def helps(self) -> bool:
        return self.after > self.before and not self.stranded and not self.is_stuck


def rehearse(
    trial: Trial, hypothesis: Hypothesis, workload: Workload | None, rivals: Sequence[Pod]
) -> Outcome | None:
    """What comes of a change; None if it does not even begin. `rivals` are tried first."""
    if workload is not None and _has_claims_of_its_own(hypothesis.pod):
        workload = None  # who has to be made first for another pod is not rehearsed
    outcome = _rehearse_once(trial, hypothesis, workload, rivals)
    if outcome is None or workload is None or workload.owner.kind != "Deployment":
        return outcome
    missing = workload.wanted - len(workload.placed)
    if not outcome.is_stuck or workload.unavailable > missing:
        return outcome
    # It got stuck: old pods are in the way of new ones and must not be missing.
    allowed = with_fields(workload, unavailable=missing + 1)
    again = _rehearse_once(trial, hypothesis, allowed, rivals)
    if again is None or again.is_stuck:
        return outcome
    again.unavailable = missing + 1
    return again


def _rehearse_once(
    trial: Trial, hypothesis: Hypothesis, workload: Workload | None, rivals: Sequence[Pod]
) -> Outcome | None:
    with trial.supposing(hypothesis), ExitStack() as stack:
        with trial.cordoned(pod.spec.node_name for pod in hypothesis.moved):
            elsewhere = list(map(as_pending, hypothesis.moved))
            moved = stack.enter_context(trial.placing(elsewhere))
        if any(decision.bound is None for decision in moved):
            return None
        run = _Run(trial, stack, hypothesis, workload)
        run.outcome.destinations = tuple(decision.bound or "" for decision in moved)
        run.place_daemons(hypothesis.nodes)
        # A place that was made by preemption is kept for the pod that it was made for.
        if hypothesis.touches_others and not hypothesis.preempted:
            run.place_rivals(rivals)
        run.carry_out()
        run.outcome.attempts = run.attempts
        return run.outcome


@dataclass(slots=True)
class _Run:
    """One rehearsal; what has happened so far is held by the stack."""

    trial: Trial
    stack: ExitStack
    hypothesis: Hypothesis
    workload: Workload | None
    outcome: Outcome = field(default_factory=Outcome)
    attempts: int = 0

    def carry_out(self) -> None:
        workload = self.workload
        if workload is None:
            self.outcome.after = int(self._place(self.hypothesis.pod))
            return
        self.outcome.before, self.outcome.wanted = len(workload.placed), workload.wanted
        changed = _changed_fields(self.trial.pod.spec, self.hypothesis.pod.spec)
        if self.hypothesis.replicas is not None:
            self._scale_down(workload, self.hypothesis.replicas)
        elif not changed or changed.keys() == {"scheduling_gates"}:
            self._place_waiting(workload, changed)
        elif workload.owner.kind == "Deployment" and workload.strategy != RECREATE:
            self._roll_out(workload, changed)
        elif workload.owner.kind in ("Deployment", "Job"):
            self._restart(workload, changed)
        elif workload.owner.kind in ("StatefulSet", "DaemonSet"):
            self._replace_in_place(workload, changed)
        elif workload.owner.has_template:
            found = self._place_all(self._like(pod, changed) for pod in workload.waiting)
            self.outcome.after = len(workload.placed) + found
        else:  # nobody knows what another controller does with a changed template
            self.outcome.after = len(workload.placed) + int(self._place(self.hypothesis.pod))

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

    def _scale_down(self, workload: Workload, replicas: int) -> None:
        """Those go first that wait."""
        self.outcome.wanted = replicas
        self.outcome.after = min(replicas, len(workload.placed))
        self.outcome.before = self.outcome.after - 1 if len(workload.waiting) else replicas

    def _place_waiting(self, workload: Workload, changed: _Changes) -> None:
        """Nothing but the cluster changes, or what can be changed in a waiting pod."""
        own = uid_of(self.hypothesis.pod)
        others = (pod for pod in workload.waiting if uid_of(pod) != own)
        found = int(self._place(self.hypothesis.pod))
        found += self._place_all(_with_changes(pod, changed) for pod in others)
        if found:
            found += self._place_missing(workload, changed)
        self.outcome.after = len(workload.placed) + found

    def _place_missing(self, workload: Workload, changed: _Changes) -> int:
        """Ordinals that are made when the one before them runs."""
        if workload.owner.kind != "StatefulSet":
            return 0
        there = len(workload.placed) + len(workload.waiting)
        missing = range(there, workload.wanted)
        return self._place_all(self._like(self.trial.pod, changed, at) for at in missing)

    def _restart(self, workload: Workload, changed: _Changes) -> None:
        """All of them go before the first one is made."""
        self.stack.enter_context(self.trial.without(workload.placed))
        self.outcome.restarted = len(workload.placed)
        pods = (*workload.waiting, *workload.placed)
        self.outcome.after = self._place_all(self._like(pod, changed) for pod in pods)

    def _replace_in_place(self, workload: Workload, changed: _Changes) -> None:
        """Each pod has an identity of its own, an ordinal or a node: first those that wait and are
        deleted, then those that run, the last ordinal first."""
        found = self._place_all(self._like(pod, changed) for pod in workload.waiting)
        self.outcome.after = len(workload.placed) + found
        if not found or workload.strategy == ON_DELETE:
            return
        for pod in sorted(workload.placed, key=lambda each: _ordinal(each.name), reverse=True):
            self.stack.enter_context(self.trial.without([pod]))
            self.outcome.restarted += 1
            if not self._place(self._like(pod, changed)):
                self.outcome.after -= 1
                self.outcome.stranded += (object_key(pod.metadata),)
                return
        self.outcome.after += self._place_missing(workload, changed)

    def _roll_out(self, workload: Workload, changed: _Changes) -> None:
        """New pods up to the surge, old ones away down to what must be available, again and again
        (`podium.kubernetes.controllers.rollout` has the arithmetic)."""
        least = workload.wanted - workload.unavailable
        old = order_of_leaving(workload.placed)
        old_waiting = len(workload.waiting)
        waiting: list[Pod] = []
        running = 0
        while self.attempts < MAX_ATTEMPTS:
            new = running + len(waiting)
            room = workload.wanted + workload.surge - new - len(old) - old_waiting
            more = max(0, min(room, workload.wanted - new))
            tried = [
                *waiting,
                *(self._like(self.trial.pod, changed, new + at) for at in range(more)),
            ]
            waiting = [pod for pod in tried if not self._place(pod)]
            running += len(tried) - len(waiting)
            total = len(old) + old_waiting + running + len(waiting)
            cleaned = min(old_waiting, max(0, total - least - len(waiting)))
            gone = old[: max(0, len(old) + running - least)]
            self.stack.enter_context(self.trial.without(gone))
            self.outcome.restarted += len(gone)
            old, old_waiting = old[len(gone) :], old_waiting - cleaned
            if not more and not gone and not cleaned:
                break
        self.outcome.is_stuck = bool(old)
        self.outcome.after = running + len(old)

    # --- single pods --------------------------------------------------------------------------

    def _place_all(self, pods: Iterable[Pod]) -> int:
        return sum([self._place(pod) for pod in pods])

    def _place(self, pod: Pod) -> bool:
        """Whether a pod of the workload gets a node, for which it may evict others."""
        if self.attempts >= MAX_ATTEMPTS:
            return False
        decision = self._decide(pod)
        victims = _victims(decision)
        if victims:
            self.stack.enter_context(self.trial.without(victims))
            self.outcome.preempted += tuple(object_key(each.metadata) for each in victims)
            decision = self._decide(pod)
        if decision.bound is not None and not self.outcome.node:
            self.outcome.node = decision.bound
        return decision.bound is not None

    def _decide(self, pod: Pod) -> Decision:
        self.attempts += 1
        (decision,) = self.stack.enter_context(self.trial.placing([pod]))
        return decision

    def _like(self, pod: Pod, changed: _Changes, number: int | None = None) -> Pod:
        """What a controller makes in place of a pod, or as one more, once its template has
        changed."""
        made = _with_changes(pod, changed)
        if uid_of(pod) == uid_of(self.trial.pod) and not number:
            return made
        suffix = f"-{number}" if number is not None else ""
        labels = made.metadata.labels
        if labels and TEMPLATE_HASH in labels:
            labels = {**labels, TEMPLATE_HASH: "new"}
        metadata = replace(
            made.metadata,
            name=made.metadata.name + suffix,
            uid=f"new-{uid_of(pod)}{suffix}",
            labels=labels,
        )
        return replace(made, metadata=metadata)


def _changed_fields(before: PodSpec, after: PodSpec) -> _Changes:
    return {
        name: getattr(after, name)
        for name in before.__struct_fields__
        if getattr(before, name) != getattr(after, name)
    }


def _with_changes(pod: Pod, changed: _Changes) -> Pod:
    """A pod with some fields of another spec; one of a daemon set stays on its node."""
    made = replace(as_pending(pod), spec=replace(as_pending(pod).spec, **changed))
    if "affinity" in changed and is_daemon(pod):
        name = _as_controllers_read(pod).target_node
        if name:
            made = pin_to_node(made, name)
    return made


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


def _ordinal(name: str) -> int:
    return int(digits) if (digits := name.rpartition("-")[2]).isdigit() else -1
