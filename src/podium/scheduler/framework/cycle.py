"""What one attempt knows: to place one pod, or to place one pod group.

A cycle is handed to every plugin of the attempt: the pod, the cluster's columns, and a slot per
plugin for what it worked out at PreFilter or PreScore. Plugins read pod-dependent columns through
`cycle.usage`, so that a `fork` can answer "what if these pods were there, those were gone" with
the plugins unchanged.

What one attempt to place one pod group knows. The members of a group are tried one after the other,
each in a cycle of its own that points here: later members must see earlier ones in their places,
plugins may share what they learn across members, and a try may be limited to some of the nodes (a
placement) or do without PostFilter.
"""

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.catalog import GroupKey
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.nominated_pods import NO_NOMINATED_PODS, NominatedPods
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage

if TYPE_CHECKING:
    from podium.scheduler.framework.caches.templates import TemplateEntry
    from podium.scheduler.framework.diagnosis import FilterResult


S = TypeVar("S")


class StateMissing(LookupError):
    """A plugin asked for a state that its earlier point did not leave."""


class Cycle:
    """One attempt for one pod."""

    __slots__ = (
        "__weakref__",
        "_nominated",
        "_nominated_version",
        "all_reasons",
        "cluster",
        "filtered",
        "group",
        "nodes",
        "pod",
        "retry_at",
        "skip_filter",
        "skip_score",
        "states",
        "template",
        "to_activate",
        "usage",
        "waits_out_backoff",
        "writes",
    )

    def __init__(self, pod: PodInfo, cluster: Cluster, usage: Usage | None = None) -> None:
        self.pod = pod
        self.cluster = cluster
        self.nodes: NodeTable = cluster.nodes
        self.usage = usage if usage is not None else cluster.usage
        self.states: dict[str, object] = {}
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()
        self.all_reasons = False
        """Whether filters go on looking at nodes that one has rejected."""
        self.filtered: FilterResult | None = None
        """What the filters that were asked so far have said; for filters that want to know which
        rows are still in."""
        self.to_activate: dict[str, PodInfo] = {}
        self._nominated = NO_NOMINATED_PODS
        self._nominated_version = -1
        self.group: PodGroupCycle | None = None
        """The attempt of the pod's group that this one is part of."""
        self.template: TemplateEntry | None = None
        """What is known of pods like this one."""
        self.retry_at: float | None = None
        """When to try the pod again if it fails and nothing happens before: what a plugin says
        that rejects it for some time only."""
        self.waits_out_backoff = False
        """Whether the pod, if it fails, is not to be tried before its backoff is over, even when
        nobody else waits."""
        self.writes: list[object] = []
        """API writes that synchronous points ask for; the driver carries them out."""

    @property
    def nominated(self) -> NominatedPods:
        """Nominated pods that this one must leave room for."""
        nominator = self.cluster.nominator
        if self._nominated_version != nominator.version:
            self._nominated_version = nominator.version
            self._nominated = (
                self.cluster.nominated_pods.met_by(self.pod) if nominator else NO_NOMINATED_PODS
            )
        return self._nominated

    def write(self, plugin: str, state: object) -> None:
        self.states[plugin] = state

    def read(self, plugin: str, kind: type[S]) -> S:
        state = self.states.get(plugin)
        if not isinstance(state, kind):
            raise StateMissing("not found")
        return state

    def fork(self, usage: Usage | None = None) -> "Cycle":
        """A copy for a trial: plugin states that can change have a `clone` and are copied by it,
        the rest is shared."""
        twin = Cycle(self.pod, self.cluster, usage if usage is not None else self.usage.fork())
        twin.states = {name: _clone_state(state) for name, state in self.states.items()}
        twin.skip_filter = self.skip_filter
        twin.skip_score = self.skip_score
        twin.all_reasons = self.all_reasons
        twin.group = self.group
        twin._nominated = self._nominated
        twin._nominated_version = self._nominated_version
        return twin


def _clone_state(state: object) -> object:
    clone = getattr(state, "clone", None)
    return state if clone is None else clone()


PlacementRows = npt.NDArray[np.intp]
"""Row numbers in snapshot order."""


class Placement(NamedTuple):
    """Nodes that a group may be tried on as if there were no others."""

    name: str
    rows: PlacementRows


class Assignments(NamedTuple):
    """What a try on one placement proposes: members and the nodes found for them."""

    placement: Placement
    proposed: tuple[tuple[PodInfo, str], ...]


class PodGroupCycle:
    """One attempt for one group.

    `limited_to` are the rows of the placement being tried, None without one. `states` is for
    plugins, by their names, and lasts as long as the attempt.
    """

    __slots__ = ("cluster", "key", "limited_to", "post_filters", "states")

    def __init__(self, key: GroupKey, cluster: Cluster) -> None:
        self.key = key
        self.cluster = cluster
        self.limited_to: PlacementRows | None = None
        self.post_filters = True
        self.states: dict[str, object] = {}

    @property
    def namespace(self) -> str:
        return self.key[0]

    @property
    def name(self) -> str:
        return self.key[1]
