"""The extension points, one small class each.

A plugin is a class that inherits the points it serves. Points of the scheduling cycle answer for
any set of rows at once and must be pure; the asynchronous ones belong to the binding cycle and get
an API handle. For rules that are easier to say for one node, see `node_form.py`.

In every answer None means success. `Rows` is a slice of the whole table or an index array; an
answer for a subset equals that part of the answer for all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import total_ordering
from typing import TYPE_CHECKING, ClassVar

from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.asking import Ask
from podium.scheduler.framework.binding_points import (
    BindPlugin,
    GroupTrial,
    PermitPlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    PodGroupPostFilterPlugin,
    PostBindPlugin,
    PreBindPlugin,
    ReservePlugin,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence, PlacementLimits
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    NodeRequirement,
    Restated,
)
from podium.scheduler.framework.plugin import Arguments, Plugin
from podium.scheduler.framework.queued import QueuedPod, SortKey
from podium.scheduler.framework.status import PermitResult, PostFilterResult, PreFlight, Status

if TYPE_CHECKING:
    from podium.scheduler.framework.diagnosis import Diagnosis
    from podium.scheduler.framework.explanations.situation import AttemptView, Situation

__all__ = [
    "POINTS",
    "Arguments",
    "BindPlugin",
    "FilterPlugin",
    "GroupTrial",
    "PermitPlugin",
    "PermitResult",
    "PlacementGeneratePlugin",
    "PlacementScorePlugin",
    "Plugin",
    "PodGroupPostFilterPlugin",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFlight",
    "PreScorePlugin",
    "QueueSortPlugin",
    "ReservePlugin",
    "ScorePlugin",
    "serves",
]


class PreEnqueuePlugin(Plugin):
    """Holds pods back before they are queued.

    For example:

        class NeedsTeam(PreEnqueuePlugin):
            name = "NeedsTeam"

            def pre_enqueue(self, pod):
                has_team = "team" in (pod.pod.metadata.labels or {})
                return None if has_team else unresolvable("pod has no team")
    """

    writes: ClassVar[tuple[str, ...]] = ("pre_enqueue",)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """May this pod be queued at all?"""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    """The order of the queue: write `sort_key`, which is quicker, or `less`. A profile has one.

    For example:

        class SmallestFirst(QueueSortPlugin):
            name = "SmallestFirst"

            def sort_key(self, queued):
                return (-queued.info.priority, len(queued.info.pod.spec.containers or ()))
    """

    writes: ClassVar[tuple[str, ...]] = ("sort_key", "less")

    def sort_key(self, queued: QueuedPod) -> SortKey:
        """A key by which the queue orders pods; smaller is earlier."""
        return _Ordered(self.less, queued)

    def less(self, one: QueuedPod, other: QueuedPod) -> bool:
        """Whether one pod is to be tried before another."""
        return bool(self.sort_key(one) < self.sort_key(other))


@total_ordering
class _Ordered:
    """A sort key that compares as a plugin's `less` does."""

    __slots__ = ("_less", "_queued")

    def __init__(self, less: Callable[[QueuedPod, QueuedPod], bool], queued: QueuedPod) -> None:
        self._less = less
        self._queued = queued

    def __lt__(self, other: "_Ordered") -> bool:
        return self._less(self._queued, other._queued)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ordered) and not (self < other or other < self)

    __hash__ = None  # type: ignore[assignment]


class PreFilterPlugin(Plugin):
    """Prepares filtering, once a pod; may narrow the search or end it.

    For example:

        class OneNode(PreFilterPlugin):
            name = "OneNode"

            def pre_filter(self, cycle):
                wanted = (cycle.pod.pod.metadata.annotations or {}).get("example.com/node")
                return {wanted} if wanted else SKIP
    """

    writes: ClassVar[tuple[str, ...]] = ("pre_filter",)

    def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
        """Prepare filtering. A set of names narrows the search to those nodes; SKIP leaves this
        plugin's filter out of the attempt."""
        raise NotImplementedError

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """Whether every pod of this shape gets the same answer, None or SKIP, and the same states
        while only pods come and go; see `templates.py`. States are then shared: kept under the
        plugin's name, or one that starts with it and a slash, and never changed."""
        return False


class PreFilterExtensions(Plugin):
    """For a PreFilter state that depends on pods on nodes: keep it true in trials.

    For example:

        class CountsPods(PreFilterPlugin, PreFilterExtensions):
            name = "CountsPods"

            def pre_filter(self, cycle):
                return None

            def add_pod(self, cycle, pod, row):
                return None

            def remove_pod(self, cycle, pod, row):
                return None
    """

    writes: ClassVar[tuple[str, ...]] = ("add_pod", "remove_pod")

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        """A trial imagines a pod on the node of a row."""
        raise NotImplementedError

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        """A trial imagines the node of a row without a pod."""
        raise NotImplementedError


class FilterPlugin(Plugin):
    """Rules nodes out, all rows at once; `NodeFilterPlugin` says the same for one node.

    For example:

        class NoEvenRows(FilterPlugin):
            name = "NoEvenRows"

            def filter(self, cycle, rows):
                return rejecting(indices(rows) % 2 == 0, unschedulable("node(s) were even"))
    """

    writes: ClassVar[tuple[str, ...]] = ("filter",)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        """Which of the rows are ruled out, and why; None if none is."""
        raise NotImplementedError

    def filter_depends(self, cycle: Cycle) -> Dependence | None:  # noqa: ARG002
        """What the verdict depends on, if it may be remembered; see `vectors.py`."""
        return None

    def looks_at_sums(self, cycle: Cycle) -> bool:
        """Whether its answer for a node depends on nothing but the node's object, the sums of
        requests, the number of pods and the host ports there, and each pod like this one can only
        turn it from yes to no. `podium capacity` then asks it about many copies at once."""
        dependence = self.filter_depends(cycle)
        return dependence is not None and dependence.stands

    def state_limits(self, cycle: Cycle) -> PlacementLimits | None:  # noqa: ARG002
        """What it counts, for those who look for a placement of many pods; asked after PreFilter,
        also where that refused the pod or skipped it."""
        return None

    def count_free(self, rows: Ints) -> Sequence[Mapping[str, int]]:
        """For each of the rows what is left of the `amounts` that its limits name; what is not
        named is not limited there."""
        raise NotImplementedError

    def explain_nodes(self, cycle: Cycle, rows: Rows) -> Callable[[int], str] | None:  # noqa: ARG002
        """What is behind its refusals of some rows, for a person who asks: a function that says it
        of one position among them, as things are now and whenever it is called. None if statuses
        say it all."""
        return None

    rejects_by_degree: ClassVar[bool] = False
    """Set where it is nearer to some nodes than to others: explanations compare those nodes only
    that little else keeps the pod from."""
    narrows: ClassVar[NodeRequirement | None] = None
    """What the pod asks of nodes here that other pods cannot change, if it is that: explanations
    begin with the nodes that have it (`narrow_nodes`)."""

    settled_with: ClassVar[str] = ""
    """Another filter: changes for a node to which both object are looked for with that one."""
    spares_new_nodes: ClassVar[bool] = False
    """Set where what it holds against a node need not hold against a new one of the same shape."""
    keeps_daemons_away: ClassVar[bool] = False
    """Set where no daemon set makes a pod for a node that it rejects."""
    eviction_helps: ClassVar[bool] = True
    """Whether it may let a pod onto a node from which others are evicted; only asked where it says
    unschedulable."""
    closes_domains: ClassVar[bool] = False
    """Set where pods of other nodes may be in the way as well, so that one that moves still is."""

    def explain_rejections(self, view: "AttemptView", among: Mask) -> list[Finding]:  # noqa: ARG002
        """What it holds against nodes that it rejects, for a person who asks: findings over some of
        the nodes `among`, or over all of them. Without any, each status speaks for itself and
        `explain_refusal` is asked about it."""
        return []

    def narrow_nodes(self, view: "AttemptView") -> Narrowing:
        """Where the pod wants to be, for one that `narrows`."""
        raise NotImplementedError

    def find_restated(self, view: "AttemptView") -> Restated | None:  # noqa: ARG002
        """Nodes that it rejects for what another filter rejects them for already, if there are
        any: it is not named beside that one."""
        return None

    def find_blockers(
        self,
        situation: "Situation",  # noqa: ARG002
    ) -> Callable[[str], Iterable[PodInfo]] | None:
        """What says which pods would have to leave for it to let the pod onto a node, by the node's
        name; None if it is not single pods that are in the way."""
        return None

    def find_lacking(self, situation: "Situation", node: str) -> Mapping[str, int]:  # noqa: ARG002
        """What a node has too little of, by resource, that pods on it would give back."""
        return {}

    def find_holders(self, situation: "Situation") -> Iterable[tuple[str, ...]]:  # noqa: ARG002
        """UIDs of pods, wherever they are, that hold together what the pod waits for."""
        return ()

    has_filter_row: ClassVar[bool] = False
    """Whether the class has written `filter_row`."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls.has_filter_row = cls.filter_row is not FilterPlugin.filter_row

    def filter_row(self, cycle: Cycle, row: int) -> Status | None:
        """One row's verdict in plain Python: the form that the vector one is tested against, and
        the quicker one for a row or two. Optional."""
        raise NotImplementedError


class PostFilterPlugin(Plugin):
    """Is asked when no node fits: makes room, or says why that is of no use.

    For example:

        class NeverPreempts(PostFilterPlugin):
            name = "NeverPreempts"

            def post_filter(self, cycle, diagnosis):
                return PostFilterResult(Code.UNSCHEDULABLE, ("nobody has to leave here",))
    """

    writes: ClassVar[tuple[str, ...]] = ("post_filter",)

    def post_filter(
        self, cycle: Cycle, diagnosis: "Diagnosis"
    ) -> PostFilterResult | Ask[PostFilterResult]:
        """Make room for a pod that no node can take, after hearing extenders if need be."""
        raise NotImplementedError


class PreScorePlugin(Plugin):
    """Prepares scoring of the nodes that fit, or stands aside.

    For example:

        class OnlyForBatch(PreScorePlugin):
            name = "OnlyForBatch"

            def pre_score(self, cycle, rows):
                return None if cycle.pod.pod.metadata.namespace == "batch" else SKIP
    """

    writes: ClassVar[tuple[str, ...]] = ("pre_score",)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        """Prepare scoring of the feasible rows; SKIP leaves this plugin out of the total."""
        raise NotImplementedError

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """As `pre_filter_stays`; the rows must not matter either."""
        return False


class ScorePlugin(Plugin):
    """Rates the nodes that fit, all rows at once; `NodeScorePlugin` says the same for one node.

    For example:

        class LateRows(ScorePlugin):
            name = "LateRows"

            def score(self, cycle, rows):
                return indices(rows) % 101
    """

    writes: ClassVar[tuple[str, ...]] = ("score",)

    in_range: ClassVar[bool] = False
    """Set where normalised scores cannot leave 0..100: saves looking at every one of them."""

    by_filtered_rows: ClassVar[bool] = False
    """Set where scores come from what was found out at Filter, row by row: such a plugin is asked
    about a node's own row even when an extender's object stands for the node."""

    normalizes_by_range: ClassVar[bool] = False
    """Set where a normalised score follows from the raw one and the lowest and highest of all."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        """A whole number for each of the rows, larger is better."""
        raise NotImplementedError

    has_score_row: ClassVar[bool] = False
    """Whether the class has written `score_row`."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls.has_score_row = cls.score_row is not ScorePlugin.score_row

    def score_row(self, cycle: Cycle, row: int) -> int:
        """One row's raw score in plain Python, as `filter_row`."""
        raise NotImplementedError

    def score_depends(self, cycle: Cycle) -> Dependence | None:  # noqa: ARG002
        """What raw scores depend on, if they may be remembered; `normalize` must then depend on
        the scores alone."""
        return None

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        """Bring raw scores of all feasible rows into 0..100. Unchanged unless overridden."""
        return scores


POINTS: dict[str, type[Plugin]] = {
    "preEnqueue": PreEnqueuePlugin,
    "queueSort": QueueSortPlugin,
    "preFilter": PreFilterPlugin,
    "filter": FilterPlugin,
    "postFilter": PostFilterPlugin,
    "preScore": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "preBind": PreBindPlugin,
    "bind": BindPlugin,
    "postBind": PostBindPlugin,
    "placementGenerate": PlacementGeneratePlugin,
    "placementScore": PlacementScorePlugin,
}
"""Extension points by the names configuration files use, in calling order."""


def serves(plugin: type[Plugin], point: str) -> bool:
    """Whether a plugin class implements an extension point."""
    served = POINTS.get(point)
    return served is not None and issubclass(plugin, served)
