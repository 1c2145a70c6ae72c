"""Holding a node for a pod: assume, Reserve, Permit, the way to Bind, and taking it all back.

The last part of a scheduling cycle, and of a group's trial; undoing it is done in one place and in
upstream's order, whoever finds that the node is not to be held any longer.

Source: `assumeAndReserve` and `unreserveAndForget` in `pkg/scheduler/schedule_one.go`.

From a held node to a bound pod, and back again if that fails. A placed pod may wait at Permit; then
its binding cycle is handed to the driver; whichever way it ends comes back here. Undoing is done in
one place and in upstream's order (`pkg/scheduler/schedule_one.go`, `handleBindingCycleError`).
"""

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import CacheError, Cluster
from podium.scheduler.engine.binding_cycle import NOT_BOUND, Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.intake import POD_DELETED
from podium.scheduler.engine.requests import Bind, Nominate
from podium.scheduler.engine.state import EngineState, Flight, place_pod, transition
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import one_node_error
from podium.scheduler.framework.faults import WrongAnswer, describe, status_or_none
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code, Status, error
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.dynamic_resources.outcome import with_claim_statuses

NOBODY_REJECTED = "one or more plugins asked to wait and no plugin rejected pod"


class Reservations:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._claims_count = cluster.infos.rules.claims

    def assume_and_reserve(
        self, decision: Decision, cycle: Cycle, profile: Profile, node_name: str
    ) -> Status | None:
        """Assume the pod on a node, reserve, ask for permission.

        The answer is Permit's: None to go ahead, or to wait; anything else means that nothing is
        held and the decision says why.
        """
        try:
            self._cluster.assume(self._info_on(cycle, node_name), node_name)
        except CacheError as problem:
            return self._fail(decision, error(describe(problem)))
        self._cluster.nominator.drop(cycle.pod.uid)
        answer = self._reserve(cycle, profile, node_name)
        if answer is None:
            answer = self._permit(decision, cycle, profile, node_name)
        if answer is not None and answer.code is not Code.WAIT:
            problems = self.unreserve_and_forget(cycle, profile, node_name)
            if problems:
                answer = error("; ".join((answer.message, *problems)))
            return self._fail(decision, answer)
        decision.bound = node_name
        return answer

    def _info_on(self, cycle: Cycle, node_name: str) -> PodInfo:
        """The pod as it is to be counted on a node."""
        if not self._claims_count:
            return cycle.pod
        state = cycle.states.get(DynamicResources.name)
        pod = with_claim_statuses(cycle.pod.pod, state, cycle.nodes.row(node_name))
        return cycle.pod if pod is cycle.pod.pod else self._cluster.infos.of(pod)

    def _reserve(self, cycle: Cycle, profile: Profile, node_name: str) -> Status | None:
        for plugin in profile.reserve:
            try:
                answer = plugin.reserve(cycle, node_name)
                if answer is not None:
                    answer = status_or_none("reserve", answer)
            except Exception as problem:
                answer = error(describe(problem))
            if answer is None or answer.code is Code.SUCCESS:
                continue
            if answer.code.rejected:
                return answer.by(plugin.name)
            text = f'running Reserve plugin "{plugin.name}": {answer.message}'
            return error(text).by(plugin.name)
        return None

    def _permit(
        self, decision: Decision, cycle: Cycle, profile: Profile, node_name: str
    ) -> Status | None:
        """None if the pod may go on, what the last of those says that want it to wait (their
        timeouts are the decision's), or why it may not."""
        waits: dict[str, float] = {}
        waiting: Status | None = None
        for plugin in profile.permit:
            try:
                answer = _permit_result(plugin.permit(cycle, node_name))
            except Exception as problem:
                answer = PermitResult(error(describe(problem)))
            if answer is None or answer.status.code is Code.SUCCESS:
                continue
            if answer.status.code is Code.WAIT:
                waits[plugin.name] = answer.timeout_s
                waiting = Status(Code.WAIT, (*answer.status.reasons, NOBODY_REJECTED), plugin.name)
            elif answer.status.code.rejected:
                return answer.status.by(plugin.name)
            else:
                text = f'running Permit plugin "{plugin.name}": {answer.status.message}'
                return error(text).by(plugin.name)
        decision.waits_s = waits
        return waiting

    def unreserve_and_forget(self, cycle: Cycle, profile: Profile, node_name: str) -> list[str]:
        """Take back what holding a node did: unreserve in reverse order, then forget the pod.

        Returns what went wrong with it, which stops nothing.
        """
        problems: list[str] = []
        for plugin in reversed(profile.reserve):
            try:
                plugin.unreserve(cycle, node_name)
            except Exception as problem:
                problems.append(f'running Unreserve plugin "{plugin.name}": {describe(problem)}')
        try:
            self._cluster.forget(cycle.pod)
        except CacheError as problem:
            problems.append(describe(problem))
        if cycle.group is not None:
            self._cluster.nominator.restore(cycle.pod)
        return problems

    def _fail(self, decision: Decision, status: Status) -> Status:
        decision.nominated_node = ""
        decision.is_error = not status.code.rejected
        decision.message = one_node_error(status) if status.code.rejected else status.message
        if status.code.rejected:
            decision.refused_by = status
        else:
            decision.broken_by = status.plugin
        return status


def _permit_result(answer: object) -> PermitResult | None:
    if answer is None or isinstance(answer, PermitResult):
        return answer
    raise WrongAnswer("permit", "None or a PermitResult", answer)


class Bindings:
    def __init__(self, state: EngineState, reservations: Reservations, failures: Failures) -> None:
        self.transitions = state.transitions
        self._state = state
        self._reservations = reservations
        self._failures = failures

    def start(self, queued: QueuedPod, binding: Binding, waits_s: dict[str, float]) -> None:
        """A node is held: wait for permission, or bind."""
        state = self._state
        info = queued.info
        flight = state.flights[info.uid] = Flight(queued, binding)
        problem = binding.prepare()
        if problem is not None:
            self._fail(flight, problem)
            return
        if binding.expected and (waits_s or binding.groups):
            self._announce(flight)
        if waits_s:
            waiting = WaitingPod(info, binding.node_name, waits_s, state.clock())
            state.waiting.add(waiting)
            state.observers.wait_started(waiting)
            state.note(info.key, "waiting", plugins=tuple(waits_s), about=binding.node_name)
            return
        self._bind(flight)

    def _announce(self, flight: Flight) -> None:
        """Let others see where a pod goes while that takes time.

        upstream: pkg/scheduler/schedule_one.go, bindingCycle, with NominatedNodeNameForExpectation.
        """
        info, node_name = flight.queued.info, flight.binding.node_name
        self._state.observers.status_asked(info, "", node_name)
        if info.pod.status.nominated_node_name != node_name:
            flight.announced = True
            self._state.ask(Nominate(info, node_name))

    def look_at_waiting(self) -> None:
        """Go on with pods whose wait ended in any way."""
        state = self._state
        if not state.waiting.by_uid:
            return
        state.waiting.expire(state.clock())
        # Undoing one may end the wait of others, before or behind it.
        while ended := [waiting for waiting in state.waiting if waiting.outcome is not None]:
            for waiting in ended:
                self._end_wait(waiting)

    def _end_wait(self, waiting: WaitingPod) -> None:
        state, outcome = self._state, waiting.outcome
        if outcome is None:
            return
        state.waiting.remove(waiting.info.uid)
        state.observers.wait_ended(waiting, state.clock() - waiting.since)
        flight = state.flights[waiting.info.uid]
        if outcome.code is Code.SUCCESS:
            self._bind(flight)
        elif outcome.code.rejected:
            self._fail(flight, outcome)
        else:
            text = f"waiting on permit for pod: {outcome.message}"
            self._fail(flight, Status(Code.ERROR, (text,), outcome.plugin))

    def _bind(self, flight: Flight) -> None:
        state = self._state
        flight.started = True
        # upstream: from here on no failure counts as a plugin's rejection
        state.queue.done(flight.queued.info.uid)
        state.ask(Bind(flight.binding))

    @transition
    def finish_binding(self, binding: Binding, problem: Status | None) -> None:
        """The driver says how a binding cycle ended."""
        state = self._state
        info = binding.cycle.pod
        flight = state.flights.get(info.uid)
        if flight is None or flight.binding is not binding:
            raise LookupError(f"no binding of {info.key} is under way")
        state.observers.binding_ended(flight.queued, binding, problem)
        if problem is not None:
            self._fail(flight, problem)
        else:
            self._end(flight)

    def _end(self, flight: Flight) -> None:
        state = self._state
        binding = flight.binding
        info = binding.cycle.pod
        del state.flights[info.uid]
        note = f"Successfully assigned {info.key} to {binding.node_name}"
        state.tell(info, "Normal", "Scheduled", "Binding", note)
        state.note(info.key, "bound", about=binding.node_name)
        for trouble in binding.problems:
            state.note(info.key, "trouble after binding", trouble)
        if binding.cycle.to_activate:
            state.activate(binding.cycle.to_activate.values())

    def _fail(self, flight: Flight, problem: Status) -> None:
        state = self._state
        binding, queued = flight.binding, flight.queued
        info = queued.info
        del state.flights[info.uid]
        confirmed = info.uid in state.cluster.placements and not state.cluster.is_assumed(info.uid)
        for trouble in self._reservations.unreserve_and_forget(
            binding.cycle, binding.profile, binding.node_name
        ):
            state.note(info.key, "undoing failed", trouble)
        cycle = binding.cycle
        queued.heed(cycle.retry_at, waits_out_backoff=cycle.waits_out_backoff)
        state.ask_writes(info, binding.cycle.writes)
        by = (problem.plugin,) if problem.plugin else ()
        state.note(info.key, "binding failed", problem.message, plugins=by, about=binding.node_name)
        message = "" if problem is NOT_BOUND else problem.message
        refused = problem.code.rejected and not flight.started
        if not confirmed and not problem.code.rejected:
            self._wake_others(binding, everyone=True)
        self._failures.handle(
            queued,
            rejected=problem.code.rejected,
            message=one_node_error(problem) if refused else message,
            rejectors={problem.plugin} if refused else (),
            nominated_node="",
            announced=flight.announced,
        )
        if not confirmed and problem.code.rejected:
            self._wake_others(binding, everyone=False)

    def _wake_others(self, binding: Binding, *, everyone: bool) -> None:
        """A node is free again: tell whoever waits for room, the pod itself only if `everyone`."""
        info = binding.cycle.pod
        left = place_pod(info.pod, binding.node_name)
        concerns = None if everyone else (lambda other: other.info.uid != info.uid)
        self._state.wake(POD_DELETED, left, None, concerns)
