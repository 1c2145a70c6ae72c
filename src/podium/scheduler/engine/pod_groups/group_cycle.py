"""The cycle of a pod group: from one popped member to a decision for all of them.

    gather ── check ── try on paper ──┬── fits ────────────────────── submit: hold, bind
                            ▲         └── does not ── group preempts? ── submit: back to the queue
                            └──────────── would it fit if ... ◄─┘

Everything happens between two events, like the attempt for a single pod, and ends with the group's
condition; while extenders are asked, events are kept back. Members that fail come back by backoff
alone; there is no event that a group as a whole could wait for.

Source: `scheduleOnePodGroup` and `podGroupCycle` in `pkg/scheduler/schedule_one_podgroup.go`.
"""

import traceback
from collections.abc import Callable

from podium.scheduler.cluster.pod_group_state import PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.bindings import Bindings
from podium.scheduler.engine.choice import Choice
from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.pod_groups.algorithm import GroupAlgorithm
from podium.scheduler.engine.pod_groups.conditions import condition_patch
from podium.scheduler.engine.pod_groups.members import gather, scheduler_conflict
from podium.scheduler.engine.pod_groups.preemption import GroupPreemption
from podium.scheduler.engine.pod_groups.results import GroupResult
from podium.scheduler.engine.pod_groups.submission import Submission, Submitted
from podium.scheduler.engine.preempting import Preemptions
from podium.scheduler.engine.reservations import Reservations
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.asking import Asking
from podium.scheduler.framework.placements import is_error
from podium.scheduler.framework.pod_group_cycle import PodGroupCycle
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status, error

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

    def scheduling(self, popped: QueuedPod) -> Asking[list[Submitted]]:
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
        result = yield from self._algorithm.running(profile, cycle, members)
        status = result.status
        if not self._preempts or status is None or status.code is not Code.UNSCHEDULABLE:
            return result
        problem = yield from self._preemption.running(profile, cycle, members)
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
