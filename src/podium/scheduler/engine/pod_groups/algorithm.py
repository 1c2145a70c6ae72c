"""Trying a pod group on paper: its members in order, and what came of each.

A member goes through the ordinary cycle and is then really held on its node (assumed, reserved,
permitted), so that every plugin counts it; at the end all nodes are given back, the last one
first, and the cluster is as it was. A member that would fit after a preemption is held on the node
it was nominated to, beside the victims. The group fits as soon as Permit lets one member go: with a
gang policy that is the member that completes the quorum.

Where the group may be limited to a part of the nodes, each placement gets a try of its own and the
best of those that fit is taken.

Source: `podGroupSchedulingDefaultAlgorithm` and `podGroupSchedulingPlacementAlgorithm` in
`pkg/scheduler/schedule_one_podgroup.go`.

Which pods make up one attempt for a group, and in which order they are tried. The queue knows
single pods. When it hands out a member, all other members that wait anywhere in it and are not held
back come along, whatever their backoff.

Source: `podGroupInfoForPod` in `pkg/scheduler/schedule_one_podgroup.go`.

What came of trying a pod group on paper. A try holds nodes for members, one after the other, and
gives them all back at the end; what is left is a result per member and a verdict on the group.
Nothing is decided before it is submitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from podium.scheduler.cluster.catalog import GroupKey
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.post_filter import Preemptions
from podium.scheduler.engine.reservations import Reservations
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle
from podium.scheduler.engine.search import Choice
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.asking import Asking
from podium.scheduler.framework.cycle import Assignments, Cycle, Placement, PodGroupCycle
from podium.scheduler.framework.placements import (
    PlacementScoringError,
    is_error,
    run_placement_generate,
    run_placement_scores,
)
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status, error, unschedulable

DIFFERENT_SCHEDULERS = (
    "all pods in a single pod group should have the same .spec.schedulerName set,"
    ' got: "{}" and "{}"'
)


def gather(state: EngineState, popped: QueuedPod, key: GroupKey) -> list[QueuedPod] | None:
    """The popped pod and the members it brings along; None if the group is not known.

    Most important first, then who was ready first; where that is the same, the popped pod and the
    others in order of arrival (upstream: any order).
    """
    group = state.cluster.pod_groups.find(key)
    if group is None:
        return None
    members = [popped]
    for info in group.unscheduled_pods():
        if info.pod.metadata.name != popped.info.pod.metadata.name:
            queued = state.queue.pop_specific(info)
            if queued is not None:
                members.append(queued)
    for member in members:
        state.cluster.nominator.strip(member.info)
    members.sort(key=lambda m: (-m.info.priority, m.initial_attempt_timestamp or 0.0))
    return members


def scheduler_conflict(members: Sequence[QueuedPod]) -> str:
    """Why the members cannot be tried together, or an empty string."""
    first = members[0].info.pod.spec.scheduler_name
    for member in members:
        name = member.info.pod.spec.scheduler_name
        if name != first:
            return DIFFERENT_SCHEDULERS.format(name, first)
    return ""


UNSCHEDULABLE = unschedulable("pod group is unschedulable")
WAITING = unschedulable(*UNSCHEDULABLE.reasons, "pod group is waiting for preemption to complete")


@dataclass(slots=True)
class MemberResult:
    """How one member fared.

    `node_name` is where it was put for the moment, empty if nowhere; `requires_preemption` says
    that pods have to leave there first. `permit` is what Permit said of it: None lets it go.
    """

    queued: QueuedPod
    decision: Decision
    cycle: Cycle
    node_name: str = ""
    requires_preemption: bool = False
    permit: Status | None = None

    @property
    def succeeded(self) -> bool:
        return bool(self.node_name) and not self.requires_preemption


@dataclass(slots=True)
class GroupResult:
    """`status` None means that the group fits as things are. Members that the try did not reach
    have no result."""

    status: Status | None = UNSCHEDULABLE
    members: list[MemberResult] = field(default_factory=list)
    waiting_on_preemption: bool = False

    @property
    def label(self) -> str:
        """The result as metrics name it."""
        if self.status is None:
            return "scheduled"
        if self.broken:
            return "error"
        return "waiting_on_preemption" if self.waiting_on_preemption else "unschedulable"

    @property
    def broken(self) -> bool:
        return is_error(self.status)


OTHER_POD_BROKE = "failed to schedule other pod from a pod group: {}"
NO_PLACEMENT_FITS = "0/{} placements are available, first placement status: {}"


class GroupAlgorithm:
    def __init__(
        self,
        state: EngineState,
        cycle: SchedulingCycle,
        reservations: Reservations,
        preemptions: Preemptions,
        choice: Choice,
    ) -> None:
        self._state = state
        self._cycle = cycle
        self._reservations = reservations
        self._preemptions = preemptions
        self._choice = choice
        self._by_placement = state.gates["TopologyAwareWorkloadScheduling"]

    def run_algorithm(
        self, profile: Profile, group: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Asking[GroupResult]:
        self._state.cluster.node_order()  # the snapshot: one for all members
        if self._by_placement:
            return (yield from self._try_placements(profile, group, members))
        return (yield from self._try(profile, group, members))

    # one placement after the other

    def _try_placements(
        self, profile: Profile, group: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Asking[GroupResult]:
        placements = run_placement_generate(profile.placement_generate, group)
        if isinstance(placements, Status):
            return GroupResult(placements)
        first: GroupResult | None = None
        fitting: list[tuple[Placement, GroupResult]] = []
        for placement in placements:
            result = yield from self._try_placement(profile, group, members, placement)
            if result.broken:
                return result
            first = first or result
            if result.status is None or result.waiting_on_preemption:
                fitting.append((placement, result))
        if not fitting:
            return _none_fits(len(placements), first)
        if len(fitting) == 1:
            return fitting[0][1]
        return self._best(profile, group, fitting)

    def _try_placement(
        self,
        profile: Profile,
        group: PodGroupCycle,
        members: Sequence[QueuedPod],
        placement: Placement,
    ) -> Asking[GroupResult]:
        everywhere = len(placement.rows) == self._state.cluster.nodes.present_count
        group.limited_to = None if everywhere else placement.rows
        try:
            return (yield from self._try(profile, group, members))
        finally:
            group.limited_to = None

    def _best(
        self,
        profile: Profile,
        group: PodGroupCycle,
        fitting: Sequence[tuple[Placement, GroupResult]],
    ) -> GroupResult:
        candidates = [_assignments(placement, result) for placement, result in fitting]
        try:
            totals = run_placement_scores(profile.placement_score, group, candidates)
        except PlacementScoringError as problem:
            return GroupResult(error(str(problem)))
        best = np.flatnonzero(np.array(totals, dtype=np.int64) == max(totals))
        chosen = self._choice.pick(best, [placement.name for placement, _ in fitting])
        return fitting[chosen][1]

    # one try

    def _try(
        self, profile: Profile, group: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Asking[GroupResult]:
        result = GroupResult(UNSCHEDULABLE)
        requires_preemption = False
        try:
            for queued in members:
                member = yield from self._try_member(profile, group, queued)
                result.members.append(member)
                if not member.node_name:
                    if not member.decision.is_error:
                        continue
                    text = OTHER_POD_BROKE.format(member.decision.message)
                    result.status, result.waiting_on_preemption = error(text), False
                    break
                requires_preemption |= member.requires_preemption
                if member.permit is None:
                    result.status = WAITING if requires_preemption else None
                    result.waiting_on_preemption = requires_preemption
        finally:
            self._give_back(profile, result.members)
        return result

    def _try_member(
        self, profile: Profile, group: PodGroupCycle, queued: QueuedPod
    ) -> Asking[MemberResult]:
        decision, cycle = yield from self._cycle.find_node(queued.info, profile, group)
        decision.attempt = queued.attempts
        member = MemberResult(queued, decision, cycle)
        self._state.ask_writes(queued.info, cycle.writes)
        outcome = decision.post_filter
        if outcome is not None and outcome.code is Code.SUCCESS:
            # upstream: a member's victims have to go even if the group turns out not to fit
            self._preemptions.carry_out(queued.info, outcome)
        node_name = decision.chosen or decision.nominated_node or ""
        if not node_name:
            return member
        permit = self._reservations.assume_and_reserve(decision, cycle, profile, node_name)
        self._state.activate(cycle.to_activate.values())
        cycle.to_activate.clear()
        self._state.ask_writes(queued.info, cycle.writes)
        if decision.bound is not None:
            member.node_name, member.permit = node_name, permit
            member.requires_preemption = decision.chosen is None
        return member

    def _give_back(self, profile: Profile, members: Sequence[MemberResult]) -> None:
        for member in reversed(members):
            if not member.node_name:
                continue
            member.decision.bound = None
            member.decision.waits_s = {}
            for trouble in self._reservations.unreserve_and_forget(
                member.cycle, profile, member.node_name
            ):
                self._state.note(member.queued.info.key, "undoing failed", trouble)
            self._state.ask_writes(member.queued.info, member.cycle.writes)


def _none_fits(count: int, first: GroupResult | None) -> GroupResult:
    """The first placement's results speak for all."""
    first = first or GroupResult()
    told = first.status.message if first.status is not None else ""
    first.status = unschedulable(NO_PLACEMENT_FITS.format(count, told))
    return first


def _assignments(placement: Placement, result: GroupResult) -> Assignments:
    proposed = tuple(
        (member.queued.info, member.node_name) for member in result.members if member.node_name
    )
    return Assignments(placement, proposed)
