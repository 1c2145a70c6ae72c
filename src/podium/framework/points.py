"""The extension points, one small class each.

A plugin is a class that inherits the points it serves. Points of the scheduling cycle answer for
any set of rows at once and must be pure; the asynchronous ones belong to the binding cycle and get
an API handle. For rules that are easier to say for one node, see `node_form.py`.

In every answer None means success. `Rows` is a slice of the whole table or an index array; an
answer for a subset equals that part of the answer for all.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import total_ordering
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import msgspec
from msgspec import Struct

from podium.api.json_values import JsonObject
from podium.api.pod_groups import PodGroup
from podium.cluster.growth import Ints, Rows
from podium.cluster.pod_info import PodInfo
from podium.framework.api_handle import ApiHandle
from podium.framework.asking import Ask
from podium.framework.cycle import Cycle
from podium.framework.dependence import Dependence
from podium.framework.events import Registration
from podium.framework.pod_group_cycle import Assignments, Placement, PodGroupCycle
from podium.framework.queued import QueuedPod
from podium.framework.sort_keys import SortKey
from podium.framework.sources import ValueSource
from podium.framework.status import Code, Status, check_reasons
from podium.framework.verdict import Verdict

if TYPE_CHECKING:
    from podium.framework.diagnosis import Diagnosis
    from podium.framework.handle import Handle


Arguments: TypeAlias = Any  # type: ignore[explicit-any]  # of the type that the plugin's Args is


class Plugin:
    """What every plugin has: a name, arguments, a handle on the framework.

    A plugin with a Struct named `Args` gets its arguments as one (`plugin_arguments.py`).
    """

    name: ClassVar[str]
    Args: ClassVar[type[msgspec.Struct] | None] = None
    writes: ClassVar[tuple[str, ...]] = ()
    """Methods of an extension point of which a plugin has to write one at least."""

    def __init__(self, args: Arguments, handle: "Handle") -> None:
        self.args = args
        self.handle = handle

    def events(self) -> Sequence[Registration] | None:
        """Events that may make a pod schedulable that this plugin rejected.

        None stands for "any event may"; an empty sequence for "none does".
        """
        return None

    def sources(self) -> Sequence[ValueSource]:
        """Data from outside that the driver is to keep up to date; see `sources.py`."""
        return ()


class PreEnqueuePlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("pre_enqueue",)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """May this pod be queued at all?"""
        raise NotImplementedError


class QueueSortPlugin(Plugin):
    """The order of the queue: write `sort_key`, which is quicker, or `less`."""

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
    writes: ClassVar[tuple[str, ...]] = ("pre_filter",)

    def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
        """Prepare filtering. A set of names narrows the search to those nodes; SKIP leaves this
        plugin's filter out of the attempt."""
        raise NotImplementedError

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """Whether every pod of this shape gets the same answer, None or SKIP, and the same states
        while only pods come and go; see `template_cache.py`. States are then shared: kept under the
        plugin's name, or one that starts with it and a slash, and never changed."""
        return False


class PreFilterExtensions(Plugin):
    """For a PreFilter state that depends on pods on nodes: keep it true in trials."""

    writes: ClassVar[tuple[str, ...]] = ("add_pod", "remove_pod")

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        raise NotImplementedError

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        raise NotImplementedError


class FilterPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("filter",)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        raise NotImplementedError

    def filter_depends(self, cycle: Cycle) -> Dependence | None:  # noqa: ARG002
        """What the verdict depends on, if it may be remembered; see `vector_cache.py`."""
        return None

    has_filter_row: ClassVar[bool] = False
    """Whether the class has written `filter_row`."""

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        cls.has_filter_row = cls.filter_row is not FilterPlugin.filter_row

    def filter_row(self, cycle: Cycle, row: int) -> Status | None:
        """One row's verdict in plain Python: the form that the vector one is tested against, and
        the quicker one for a row or two. Optional."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What a PostFilter plugin achieved.

    `nominated_node` None leaves the pod's nomination as it is, an empty string clears it.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.code, Code):
            raise TypeError(f"a PostFilterResult has a Code, not {self.code!r:.60}")
        check_reasons(self.reasons)
        if not (self.nominated_node is None or isinstance(self.nominated_node, str)):
            raise TypeError(f"a node is nominated by name, not {self.nominated_node!r:.60}")
        if not all(isinstance(victim, PodInfo) for victim in self.victims):
            raise TypeError(f"victims are PodInfos, not {self.victims!r:.60}")

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


class PostFilterPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("post_filter",)

    def post_filter(
        self, cycle: Cycle, diagnosis: "Diagnosis"
    ) -> PostFilterResult | Ask[PostFilterResult]:
        """Make room for a pod that no node can take, after hearing extenders if need be."""
        raise NotImplementedError


class PreScorePlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("pre_score",)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        """Prepare scoring of the feasible rows; SKIP leaves this plugin out of the total."""
        raise NotImplementedError

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        """As `pre_filter_stays`; the rows must not matter either."""
        return False


class ScorePlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("score",)

    in_range: ClassVar[bool] = False
    """Set where normalised scores cannot leave 0..100: saves looking at every one of them."""

    by_filtered_rows: ClassVar[bool] = False
    """Set where scores come from what was found out at Filter, row by row: such a plugin is asked
    about a node's own row even when an extender's object stands for the node."""

    normalizes_by_range: ClassVar[bool] = False
    """Set where a normalised score follows from the raw one and the lowest and highest of all."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
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


class ReservePlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("reserve", "unreserve")

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        raise NotImplementedError

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        """Undo `reserve`; also called when it never ran, so it must not mind."""
        raise NotImplementedError

    def reserved(self, cycle: Cycle) -> JsonObject:  # noqa: ARG002
        """What was set aside for the pod, in the form that recorded decisions have."""
        return {}


@dataclass(frozen=True, slots=True)
class PermitResult:
    status: Status
    timeout_s: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise TypeError(f"a PermitResult has a Status, not {self.status!r:.60}")
        if not isinstance(self.timeout_s, int | float) or not 0 <= self.timeout_s < inf:
            raise TypeError(f"a timeout is a number of seconds, not {self.timeout_s!r:.60}")


class PermitPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("permit",)

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        raise NotImplementedError


class PreFlight(Struct, frozen=True):
    """Whether PreBind has work for this pod, and may do it beside its neighbours."""

    status: Status | None = None
    parallel: bool = False

    def __post_init__(self) -> None:
        if not (self.status is None or isinstance(self.status, Status)):
            raise TypeError(f"a PreFlight has a Status, not {self.status!r:.60}")


class PreBindPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("pre_bind",)

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        raise NotImplementedError

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        raise NotImplementedError


class BindPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("bind",)

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        raise NotImplementedError


class PostBindPlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("post_bind",)

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:
        raise NotImplementedError


class PlacementGeneratePlugin(Plugin):
    writes: ClassVar[tuple[str, ...]] = ("generate_placements",)

    def generate_placements(
        self, group: PodGroupCycle, parent: Placement
    ) -> Sequence[Placement] | Status:
        """Sets of nodes within `parent` that a pod group is to be tried on, one at a time."""
        raise NotImplementedError


class PlacementScorePlugin(Plugin):
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
