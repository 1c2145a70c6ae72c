"""How much idle GPU typical pods cannot use, for those who look: metrics and the page.

Typical pods are estimated here apart from packing plugins, so that looking changes no decision; and
only from the first look on, so that nobody else pays for it.
"""

from collections.abc import Callable

import numpy as np

from podium.addons.gpu.packing.idle_fragments import NodeFragments, table_fragments
from podium.addons.gpu.plugin.followed_cards import FollowedCards
from podium.addons.gpu.plugin.typical_estimate import RequestOf, TypicalEstimate
from podium.plugin import Cluster, Handle, Ints
from podium.scheduler.cluster.nodes import CPU


class IdleCards:
    """`followed` gives the cards as they are now."""

    def __init__(
        self, handle: Handle, followed: Callable[[], FollowedCards], request_of: RequestOf
    ) -> None:
        self._handle = handle
        self._followed = followed
        self._request_of = request_of
        self._typical: TypicalEstimate | None = None

    def fragments(self) -> list[NodeFragments]:
        """Of each node with cards that can be had."""
        if self._typical is None:
            self._typical = TypicalEstimate(self._handle, self._request_of)
        estimate, cards = self._typical, self._followed()
        estimate.follow(cards.table)
        rows = cards.rows_by_name()
        left = cpu_left(self._handle.cluster, np.array(list(rows.values()), np.int64))
        return table_fragments(cards.table, rows, left, lambda size: estimate.of(cards.table, size))


def cpu_left(cluster: Cluster, rows: Ints) -> Ints:
    """Of these rows, in thousandths of a core."""
    left: Ints = cluster.nodes.allocatable[CPU, rows] - cluster.usage.requested_of(CPU)[rows]
    return left
