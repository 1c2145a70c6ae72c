"""Holding a node for a pod: assume, Reserve, Permit, and taking it all back.

The last part of a scheduling cycle, and of a group's trial; undoing it is done in one place and in
upstream's order, whoever finds that the node is not to be held any longer.

Source: `assumeAndReserve` and `unreserveAndForget` in `pkg/scheduler/schedule_one.go`.
"""

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import CacheError, Cluster
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.faults import WrongAnswer, describe, status_or_none
from podium.scheduler.framework.fit_message import one_node_error
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.profile import Profile
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
