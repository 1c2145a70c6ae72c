"""PodGroupPodsCount: the more members of a group a placement takes, the better.

Members that already have nodes count as well, so that one pod more or less changes the score of a
large group a little only. Counts 3, 5 and 4 become 60, 100 and 80
(`pkg/scheduler/framework/plugins/podgrouppodscount/podgroup_pods_count.go`).
"""

from collections.abc import Sequence

from podium.scheduler.framework.cycle import Assignments, PodGroupCycle
from podium.scheduler.framework.points import PlacementScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE

NOBODY_PLACED = "no pods from pod group are assigned to any of the candidate placements"


class NobodyPlaced(Exception):
    """There is nothing to compare the placements by."""


class PodGroupPodsCount(PlacementScorePlugin):
    name = "PodGroupPodsCount"

    def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
        placed = group.cluster.pod_groups.get(group.key).scheduled_count
        return placed + len(assignments.proposed)

    def normalize_placements(
        self,
        group: PodGroupCycle,  # noqa: ARG002
        scores: Sequence[int],
    ) -> Sequence[int]:
        most = max(scores, default=0)
        if most == 0:
            raise NobodyPlaced(NOBODY_PLACED)
        return [score * MAX_SCORE // most for score in scores]
