"""A pod group makes room for itself, by removing pods anywhere in the cluster (engine spec 12.6).

Who has to leave is DefaultPreemption's to work out; it asks here whether the group would fit, which
is a try on paper in which nobody else preempts. What it takes to remove them is carried out as for
any preemption, with the group as the preemptor.
"""

from collections.abc import Sequence

from podium.cluster.pod_group_state import PodGroupMissing, pod_group
from podium.engine.pod_groups.algorithm import GroupAlgorithm
from podium.engine.preempting import PLUGIN, Preemptions
from podium.engine.requests import GroupPreemptor
from podium.engine.state import EngineState
from podium.framework.pod_group_cycle import PodGroupCycle
from podium.framework.points import PodGroupPostFilterPlugin
from podium.framework.profile import Profile
from podium.framework.queued import QueuedPod
from podium.framework.status import Status, error, unschedulable

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

    def run(
        self, profile: Profile, cycle: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Status | None:
        """None when pods are on their way out, else why not."""
        plugin = profile.plugins.get(PLUGIN)
        if not isinstance(plugin, PodGroupPostFilterPlugin):
            return NO_PLUGIN
        try:
            group = pod_group(self._state.cluster.catalog, cycle.key)
        except PodGroupMissing as missing:
            return error(LOOKUP_FAILED.format(missing))
        if group.topology_key is not None:
            return NOT_WITH_CONSTRAINTS
        infos = tuple(member.info for member in members)
        answer = plugin.pod_group_post_filter(
            group, infos, lambda: self._fits(profile, cycle, members)
        )
        if isinstance(answer, Status):
            return answer
        self._preemptions.carry_out_for_group(GroupPreemptor(group, infos), answer)
        return None

    def _fits(
        self, profile: Profile, cycle: PodGroupCycle, members: Sequence[QueuedPod]
    ) -> Status | None:
        cycle.post_filters = False
        try:
            return self._algorithm.run(profile, cycle, members).status
        finally:
            cycle.post_filters = True
