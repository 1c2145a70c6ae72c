"""Further extension points: between a chosen node and a bound pod, and those of pod groups.

Reserve and Permit belong to the scheduling cycle and answer at once; the asynchronous ones belong
to the binding cycle and get an API handle. In every answer None means success.

The extension points that belong to pod groups.
"""

from collections.abc import Generator, Sequence
from typing import ClassVar

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Assignments, Cycle, Placement, PodGroupCycle
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.framework.plugin import Plugin
from podium.scheduler.framework.status import PermitResult, PreFlight, Status


class ReservePlugin(Plugin):
    """Sets something aside for a pod on its node, and gives it back if the pod does not get there.

    For example:

        class Licences(ReservePlugin):
            name = "Licences"

            def __init__(self, args, handle):
                super().__init__(args, handle)
                self.holders = set()

            def reserve(self, cycle, node_name):
                if len(self.holders) >= 10:
                    return unschedulable("all licences are taken")
                self.holders.add(cycle.pod.uid)

            def unreserve(self, cycle, node_name):
                self.holders.discard(cycle.pod.uid)
    """

    writes: ClassVar[tuple[str, ...]] = ("reserve", "unreserve")

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        """Set aside what the pod needs on its node."""
        raise NotImplementedError

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Undo `reserve`; also called when it never ran, so it must not mind. Without it there is
        nothing to undo."""

    def sets_nothing_aside(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """Whether `reserve` lets this pod onto any node and has nothing to set aside for it; asked
        after PreFilter."""
        return False

    def reserved(self, cycle: Cycle) -> JsonObject:  # noqa: ARG002
        """What was set aside for the pod, in the form that recorded decisions have."""
        return {}

    def describe_reserved(self, cycle: Cycle) -> str:  # noqa: ARG002
        """The same in a few words for people, such as `cards 0, 1`; empty if there is nothing that
        the pod's node does not say."""
        return ""


class PermitPlugin(Plugin):
    """Has the last word before a pod is bound: let it go, hold it, turn it away.

    For example:

        class OneMoment(PermitPlugin):
            name = "OneMoment"

            def permit(self, cycle, node_name):
                return PermitResult(Status(Code.WAIT), timeout_s=5)
    """

    writes: ClassVar[tuple[str, ...]] = ("permit",)

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        """May the pod be bound to its node?"""
        raise NotImplementedError

    def lets_go(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """Whether it lets this pod be bound to any node at once, whatever other pods do."""
        return False


class PreBindPlugin(Plugin):
    """Does what has to be done before the pod is bound; may take its time.

    For example:

        class Labels(PreBindPlugin):
            name = "Labels"

            def pre_bind_pre_flight(self, cycle, node_name):
                return PreFlight()

            async def pre_bind(self, cycle, node_name, api):
                return None
    """

    writes: ClassVar[tuple[str, ...]] = ("pre_bind",)

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        """Say whether `pre_bind` has work for this pod; SKIP leaves it out. Nothing is done yet."""
        raise NotImplementedError

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        """Do the work; anything but None keeps the pod from being bound."""
        raise NotImplementedError


class BindPlugin(Plugin):
    """Binds the pod in place of DefaultBinder, or leaves it to the next.

    For example:

        class BindsElsewhere(BindPlugin):
            name = "BindsElsewhere"

            async def bind(self, cycle, node_name, api):
                return SKIP
    """

    writes: ClassVar[tuple[str, ...]] = ("bind",)

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        """Bind the pod: None if it is done, SKIP to leave it to the next plugin."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    """Hears that a pod is bound; nothing that happens here changes that.

    For example:

        class Counts(PostBindPlugin):
            name = "Counts"

            async def post_bind(self, cycle, node_name, api):
                self.bound = getattr(self, "bound", 0) + 1
    """

    writes: ClassVar[tuple[str, ...]] = ("post_bind",)

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        """The pod is bound to the node."""
        raise NotImplementedError


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
