"""The cycle of a pod group: try, preempt, submit, and say in a condition how it went.

    gather ── check ── try on paper ──┬── fits ────────────────────── submit: hold, bind
                            ▲         └── does not ── group preempts? ── submit: back to the queue
                            └──────────── would it fit if ... ◄─┘

Everything happens between two events, like the attempt for a single pod, and ends with the group's
condition; while extenders are asked, events are kept back. Members that fail come back by backoff
alone; there is no event that a group as a whole could wait for.

Source: `scheduleOnePodGroup` and `podGroupCycle` in `pkg/scheduler/schedule_one_podgroup.go`.

From a result on paper to what really happens to each member. Where the group fits, its members are
held again, this time for good, and bound; a failure then is that member's alone. Otherwise every
member goes back to the queue with the reason that concerns it: its own, or the group's.

Source: `submitPodGroupAlgorithmResult` in `pkg/scheduler/schedule_one_podgroup.go`.

Telling a PodGroup how its last attempt went: the condition PodGroupScheduled. A group that was
scheduled once stays so, whatever happens to members that come later. Nothing to change means no
write; here, unlike with pods, a new generation is a change.

Source: `updatePodGroupCondition` in `pkg/scheduler/schedule_one_podgroup.go`.

A pod group makes room for itself, by removing pods anywhere in the cluster. Who has to leave is
DefaultPreemption's to work out; it asks here whether the group would fit, which is a try on paper
in which nobody else preempts and extenders have their say. What it takes to remove them is carried
out as for any preemption, with the group as the preemptor.

Sources: `runWorkloadAwarePreemption` in `pkg/scheduler/schedule_one_podgroup.go` and
`pkg/scheduler/framework/preemption/podgrouppreemption.go`.
"""

import traceback
from collections.abc import Callable, Sequence
from contextlib import closing

from podium.kubernetes.kinds.pod_groups import PodGroup, PodGroupCondition
from podium.scheduler.cluster.catalog import PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.pod_groups.algorithm import (
    UNSCHEDULABLE,
    GroupAlgorithm,
    GroupResult,
    MemberResult,
    gather,
    scheduler_conflict,
)
from podium.scheduler.engine.post_filter import PLUGIN, Preemptions
from podium.scheduler.engine.requests import GroupPreemptor, PatchPodGroupStatus
from podium.scheduler.engine.reservations import Bindings, Reservations
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle
from podium.scheduler.engine.search import Choice
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.asking import Asking
from podium.scheduler.framework.cycle import PodGroupCycle
from podium.scheduler.framework.placements import is_error
from podium.scheduler.framework.points import GroupTrial, PodGroupPostFilterPlugin
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status, error, unschedulable

Submitted = tuple[Decision, Binding | None]
"""What was decided for a member; with a binding if a node is held for it."""


class Submission:
    def __init__(
        self,
        state: EngineState,
        reservations: Reservations,
        bindings: Bindings,
        failures: Failures,
    ) -> None:
        self._state = state
        self._reservations = reservations
        self._bindings = bindings
        self._failures = failures

    def submit(
        self, profile: Profile, members: Sequence[QueuedPod], result: GroupResult
    ) -> list[Submitted]:
        """Carry out a result, member by member, in order."""
        submitted: list[Submitted] = []
        for index, queued in enumerate(members):
            if index < len(result.members):
                submitted.append(self._submit(profile, result.members[index], result))
            else:
                decision = Decision(queued.info, profile.name, (), attempt=queued.attempts)
                status = result.status or UNSCHEDULABLE
                nominated = "" if is_error(status) else None
                submitted.append((self._fail(queued, decision, status, nominated), None))
        return submitted

    def _submit(self, profile: Profile, member: MemberResult, result: GroupResult) -> Submitted:
        status = result.status
        if status is None:
            if member.succeeded:
                return self._bind(profile, member)
        elif result.broken:
            if not member.decision.is_error:
                return self._fail_member(member, status, "")
        elif member.succeeded and result.waiting_on_preemption:
            return self._fail_member(member, status, member.node_name)
        elif member.succeeded:
            return self._fail_member(member, _with_permit(member), "")
        if member.requires_preemption and not result.waiting_on_preemption:
            return self._fail_member(member, _with_permit(member), "")
        return self._fail_as_decided(member.queued, member.decision), None

    # held for good

    def _bind(self, profile: Profile, member: MemberResult) -> Submitted:
        queued, decision, cycle = member.queued, member.decision, member.cycle
        cycle.group = None
        self._reservations.assume_and_reserve(decision, cycle, profile, member.node_name)
        self._state.activate(cycle.to_activate.values())
        cycle.to_activate.clear()
        if decision.bound is None:
            self._state.ask_writes(queued.info, cycle.writes)
            return self._fail_as_decided(queued, decision), None
        self._state.note_attempt(decision)
        binding = self._state.new_binding(cycle, profile, member.node_name)
        self._bindings.start(queued, binding, decision.waits_s)
        return decision, binding

    # back to the queue

    def _fail_member(self, member: MemberResult, status: Status, nominated_node: str) -> Submitted:
        return self._fail(member.queued, member.decision, status, nominated_node), None

    def _fail(
        self, queued: QueuedPod, decision: Decision, status: Status, nominated_node: str | None
    ) -> Decision:
        """A member that shares its group's fate; no plugin has rejected it."""
        decision.message = status.message
        decision.is_error = is_error(status)
        decision.nominated_node = nominated_node
        self._state.note(decision.pod.key, "tried", status.message)
        self._state.pod_log.keep(decision)
        self._state.observers.pod_decided(decision)
        self._failures.handle(
            queued,
            rejected=not decision.is_error,
            message=status.message,
            nominated_node=nominated_node,
        )
        return decision

    def _fail_as_decided(self, queued: QueuedPod, decision: Decision) -> Decision:
        self._state.note_attempt(decision)
        self._failures.handle_decision(queued, decision)
        return decision


def _with_permit(member: MemberResult) -> Status:
    """A member that fits of a group that does not: what it would have waited for."""
    told = member.permit.message if member.permit is not None else ""
    return unschedulable(*UNSCHEDULABLE.reasons, told)


Skips = Callable[[PodInfo], bool]
"""Whether a pod is not to be tried at all."""

Broke = Callable[[Exception], str]
"""What to say of an attempt that broke, as only a bug can make it."""


class PodGroups:
    """Schedules groups; there is one only while GenericWorkload is on."""

    def __init__(
        self,
        state: EngineState,
        cycle: SchedulingCycle,
        reservations: Reservations,
        failures: Failures,
        bindings: Bindings,
        preemptions: Preemptions,
        choice: Choice,
        skips: Skips,
        broke: Broke,
    ) -> None:
        """`crash` is the traceback of the last attempt, if it broke."""
        self._state = state
        self._failures = failures
        self._skips = skips
        self._broke = broke
        self.crash = ""
        self._algorithm = GroupAlgorithm(state, cycle, reservations, preemptions, choice)
        self._preemption = GroupPreemption(state, self._algorithm, preemptions)
        self._submission = Submission(state, reservations, bindings, failures)
        self._preempts = state.gates["WorkloadAwarePreemption"]

    def schedule_group(self, popped: QueuedPod) -> Asking[list[Submitted]]:
        """Try the group of a popped pod; what was decided for each member that was tried."""
        self.crash = ""
        key = group_of(popped.info.pod)
        members = gather(self._state, popped, key) if key is not None else None
        if key is None or members is None:
            # upstream: the error is lost on the way, so the pod is retried without a word
            self._failures.handle(popped, rejected=False, message="", nominated_node=None)
            return []
        conflict = scheduler_conflict(members)
        if conflict:
            for member in members:
                self._failures.handle(member, rejected=False, message=conflict, nominated_node="")
            return []
        members = self._without_skipped(members)
        if not members:
            return []
        profile = self._state.profiles[members[0].info.pod.spec.scheduler_name]
        cycle = PodGroupCycle(key, self._state.cluster)
        clock, started = self._state.clock, popped.popped_at
        deciding = clock()
        self._state.observers.group_started(key)
        result = yield from self._decide_or_break(profile, cycle, members)
        decided = clock()
        submitted = self._submission.submit(profile, members, result)
        self._tell_group(cycle, result)
        placed = sum(binding is not None for _, binding in submitted)
        self._state.observers.group_submitted(key, result.label, placed, len(submitted) - placed)
        self._state.observers.group_tried(
            profile.name, result.label, clock() - started, decided - deciding
        )
        return submitted

    def _without_skipped(self, members: list[QueuedPod]) -> list[QueuedPod]:
        kept: list[QueuedPod] = []
        for member in members:
            if self._skips(member.info):
                self._state.queue.done(member.info.uid)
            else:
                kept.append(member)
        return kept

    def _decide_or_break(
        self, profile: Profile, cycle: PodGroupCycle, members: list[QueuedPod]
    ) -> Asking[GroupResult]:
        """An attempt that breaks is that group's failure: it is retried and stops nobody else.

        One that is given up by the driver is retried without a word.
        """
        try:
            return (yield from self._decide(profile, cycle, members))
        except GeneratorExit:
            for member in members:
                self._failures.handle(member, rejected=False, message="", nominated_node=None)
            raise
        except Exception as problem:
            message = self._broke(problem)
            self.crash = traceback.format_exc()
            for member in members:
                if self._state.cluster.is_assumed(member.info.uid):
                    self._state.cluster.forget(member.info)
            return GroupResult(error(message))

    def _decide(
        self, profile: Profile, cycle: PodGroupCycle, members: list[QueuedPod]
    ) -> Asking[GroupResult]:
        result = yield from self._algorithm.run_algorithm(profile, cycle, members)
        status = result.status
        if not self._preempts or status is None or status.code is not Code.UNSCHEDULABLE:
            return result
        problem = yield from self._preemption.preempt(profile, cycle, members)
        if problem is None:
            result.waiting_on_preemption = True
        elif is_error(problem):
            result.status = problem
        else:
            result.status = Status(status.code, (*status.reasons, problem.message), status.plugin)
        return result

    def _tell_group(self, cycle: PodGroupCycle, result: GroupResult) -> None:
        try:
            group = pod_group(self._state.cluster.catalog, cycle.key)
        except PodGroupMissing:
            return
        patch = condition_patch(group, result.status)
        if patch is not None:
            self._state.ask(patch)


SCHEDULED = "PodGroupScheduled"
TRUE, FALSE = "True", "False"


def condition_of(group: PodGroup, status: Status | None) -> PodGroupCondition:
    """What an attempt that ended with a status says about the group."""
    if status is None:
        reason = "Scheduled"
    else:
        reason = "SchedulerError" if is_error(status) else "Unschedulable"
    return PodGroupCondition(
        type=SCHEDULED,
        status=TRUE if status is None else FALSE,
        reason=reason,
        message=status.message if status is not None else "",
        observed_generation=group.metadata.generation,
    )


def condition_patch(group: PodGroup, status: Status | None) -> PatchPodGroupStatus | None:
    """The write that an attempt calls for, if it does."""
    wanted = condition_of(group, status)
    held = next((c for c in group.status.conditions or () if c.type == SCHEDULED), None)
    return PatchPodGroupStatus(group, wanted) if is_news(held, wanted) else None


def is_news(held: PodGroupCondition | None, wanted: PodGroupCondition) -> bool:
    """Whether a condition is to be written over the one that is held."""
    if held is None:
        return True
    if held.status == TRUE and wanted.status != TRUE:
        return False
    return _condition_key(held) != _condition_key(wanted)


def _condition_key(condition: PodGroupCondition) -> tuple[str, str, str, int]:
    return (
        condition.status,
        condition.reason,
        condition.message,
        condition.observed_generation,
    )


NO_PLUGIN = unschedulable(
    "default preemption plugin is not registered, workload aware preemption is disabled"
)
NOT_WITH_CONSTRAINTS = unschedulable(
    "workload aware preemption is not supported for pod groups with scheduling constraints"
)
LOOKUP_FAILED = "failed to get pod group object: {}"


class GroupPreemption:
    def __init__(
        self, state: EngineState, algorithm: GroupAlgorithm, preemptions: Preemptions
    ) -> None:
        self._state = state
        self._algorithm = algorithm
        self._preemptions = preemptions

    def preempt(
        self, profile: Profile, cycle: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Asking[Status | None]:
        """None when pods are on their way out, else why not."""
        plugin = _preempting_plugin(profile)
        if plugin is None:
            return NO_PLUGIN
        try:
            group = pod_group(self._state.cluster.catalog, cycle.key)
        except PodGroupMissing as missing:
            return error(LOOKUP_FAILED.format(missing))
        if group.topology_key is not None:
            return NOT_WITH_CONSTRAINTS
        infos = tuple(member.info for member in members)
        with closing(plugin.pod_group_post_filter(group, infos)) as trial:
            answer = yield from self._victims(trial, profile, cycle, members)
        if isinstance(answer, Status):
            return answer
        self._preemptions.carry_out_for_group(GroupPreemptor(group, infos), answer)
        return None

    def _victims(
        self,
        trial: GroupTrial,
        profile: Profile,
        cycle: PodGroupCycle,
        members: Sequence[QueuedPod],
    ) -> Asking[Sequence[PodInfo] | Status]:
        """Tell a trial whether the group fits for as long as it asks."""
        try:
            next(trial)
            while True:
                cycle.post_filters = False
                try:
                    result = yield from self._algorithm.run_algorithm(profile, cycle, members)
                finally:
                    cycle.post_filters = True
                trial.send(result.status)
        except StopIteration as end:
            answer: Sequence[PodInfo] | Status = end.value
            return answer


def _preempting_plugin(profile: Profile) -> PodGroupPostFilterPlugin | None:
    """The first plugin at PostFilter that can preempt for a group, which may have rules of its own
    about victims.

    upstream: DefaultPreemption, also where it is built for another point only.
    """
    for plugin in (*profile.post_filter, profile.plugins.get(PLUGIN)):
        if isinstance(plugin, PodGroupPostFilterPlugin):
            return plugin
    return None
