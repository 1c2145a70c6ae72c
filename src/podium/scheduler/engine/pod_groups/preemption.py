"""A pod group makes room for itself, by removing pods anywhere in the cluster.

Who has to leave is DefaultPreemption's to work out; it asks here whether the group would fit, which
is a try on paper in which nobody else preempts and extenders have their say. What it takes to
remove them is carried out as for any preemption, with the group as the preemptor.

Sources: `runWorkloadAwarePreemption` in `pkg/scheduler/schedule_one_podgroup.go` and
`pkg/scheduler/framework/preemption/podgrouppreemption.go`.
"""

from collections.abc import Sequence
from contextlib import closing

from podium.scheduler.cluster.pod_group_state import PodGroupMissing, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.pod_groups.algorithm import GroupAlgorithm
from podium.scheduler.engine.preempting import PLUGIN, Preemptions
from podium.scheduler.engine.requests import GroupPreemptor
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.asking import Asking
from podium.scheduler.framework.pod_group_cycle import PodGroupCycle
from podium.scheduler.framework.points import GroupTrial, PodGroupPostFilterPlugin
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status, error, unschedulable

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

    def running(
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
                    result = yield from self._algorithm.running(profile, cycle, members)
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
