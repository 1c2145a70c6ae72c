"""What one attempt to place one pod group knows.

The members of a group are tried one after the other, each in a cycle of its own that points here:
later members must see earlier ones in their places, plugins may share what they learn across
members, and a try may be limited to some of the nodes (a placement) or do without PostFilter.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.pod_group_state import GroupKey
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster

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
