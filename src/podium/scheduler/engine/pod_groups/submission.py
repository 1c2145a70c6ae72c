"""From a result on paper to what really happens to each member.

Where the group fits, its members are held again, this time for good, and bound; a failure then is
that member's alone. Otherwise every member goes back to the queue with the reason that concerns it:
its own, or the group's.

Source: `submitPodGroupAlgorithmResult` in `pkg/scheduler/schedule_one_podgroup.go`.
"""

from collections.abc import Sequence

from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.bindings import Bindings
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.pod_groups.results import UNSCHEDULABLE, GroupResult, MemberResult
from podium.scheduler.engine.reservations import Reservations
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.placements import is_error
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status, unschedulable

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
                return self._failed(member, status, "")
        elif member.succeeded and result.waiting_on_preemption:
            return self._failed(member, status, member.node_name)
        elif member.succeeded:
            return self._failed(member, _with_permit(member), "")
        if member.requires_preemption and not result.waiting_on_preemption:
            return self._failed(member, _with_permit(member), "")
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
        binding = self._state.binding(cycle, profile, member.node_name)
        self._bindings.start(queued, binding, decision.waits_s)
        return decision, binding

    # back to the queue

    def _failed(self, member: MemberResult, status: Status, nominated_node: str) -> Submitted:
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
