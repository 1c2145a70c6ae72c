"""The extension points that belong to pod groups."""

from collections.abc import Generator, Sequence
from typing import ClassVar

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Assignments, Placement, PodGroupCycle
from podium.scheduler.framework.plugin import Plugin
from podium.scheduler.framework.status import Status


class PlacementGeneratePlugin(Plugin):
    """Says on which sets of nodes a pod group is to be tried. A profile has one at most.

    For example:

        class Everywhere(PlacementGeneratePlugin):
            name = "Everywhere"

            def generate_placements(self, group, parent):
                return [parent]
    """

    writes: ClassVar[tuple[str, ...]] = ("generate_placements",)

    def generate_placements(
        self, group: PodGroupCycle, parent: Placement
    ) -> Sequence[Placement] | Status:
        """Sets of nodes within `parent` that a pod group is to be tried on, one at a time."""
        raise NotImplementedError


class PlacementScorePlugin(Plugin):
    """Rates the placements on which a pod group fits.

    For example:

        class AnyWillDo(PlacementScorePlugin):
            name = "AnyWillDo"

            def score_placement(self, group, assignments):
                return 50
    """

    writes: ClassVar[tuple[str, ...]] = ("score_placement",)

    def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
        """How good a try on one placement was. Its members hold no nodes any more."""
        raise NotImplementedError

    def normalize_placements(
        self,
        group: PodGroupCycle,  # noqa: ARG002
        scores: Sequence[int],
    ) -> Sequence[int]:
        """Bring the scores of all candidates into 0..100. Unchanged unless overridden."""
        return scores


GroupTrial = Generator[None, Status | None, Sequence[PodInfo] | Status]
"""Asks at each yield whether a pod group fits on the cluster as it is just then, and is sent None
if it does, else why not."""


class PodGroupPostFilterPlugin(Plugin):
    """Not a point of configuration files: upstream lets DefaultPreemption alone serve it."""

    def pod_group_post_filter(self, group: PodGroup, members: Sequence[PodInfo]) -> GroupTrial:
        """Pods that have to leave so that the group fits, or why that is of no use."""
        raise NotImplementedError
