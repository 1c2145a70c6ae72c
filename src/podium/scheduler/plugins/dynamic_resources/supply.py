"""The devices of a cluster by node, kept between attempts and shared by all who ask.

Pools of a node are gathered again only when slices or the node itself have changed. Besides the
search, the resource scores ask here how many devices stand behind an extended resource.
"""

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

import numpy as np

from podium.kubernetes.kinds.devices import DeviceClass
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.dynamic_resources.claim_state import ClaimState, PoolId
from podium.scheduler.plugins.dynamic_resources.inventory import (
    DEFAULT_RULES,
    DeviceEntry,
    Inventory,
    InventoryRules,
    SelectorError,
)
from podium.scheduler.plugins.dynamic_resources.pools import NodePools, gather_pools

_SHARED: WeakKeyDictionary[Cluster, "Supply"] = WeakKeyDictionary()


class Supply:
    """Pools and counts for the nodes of one cluster; `refresh` before use."""

    def __init__(self, cluster: Cluster, rules: InventoryRules) -> None:
        self._nodes = cluster.nodes
        self._claims = ClaimState.of(cluster)
        self.inventory = Inventory(cluster.catalog, rules)
        self._partitionable = rules.partitions
        self._pools: dict[int, tuple[int, NodePools]] = {}
        self._rows: dict[PoolId, set[int]] = {}
        self._counts: dict[tuple[str, ...], tuple[tuple[int, int, int], Ints, Ints]] = {}
        self.version = -1

    @classmethod
    def of(cls, cluster: Cluster, rules: InventoryRules = DEFAULT_RULES) -> "Supply":
        """The supply that all users of a cluster share, by the rules that the first brings."""
        found = _SHARED.get(cluster)
        if found is None:
            found = _SHARED[cluster] = cls(cluster, rules)
        return found

    def refresh(self) -> None:
        self.inventory.refresh()
        if self.version != self.inventory.version:
            self.version = self.inventory.version
            self._pools.clear()
            self._rows.clear()

    def pools_of(self, row: int) -> NodePools:
        """The pools of the node in a row; raises GatherError."""
        changed = int(self._nodes.changed[row])
        known = self._pools.get(row)
        if known is not None and known[0] == changed:
            return known[1]
        pools = gather_pools(
            self.inventory,
            self._nodes.names[row],
            self._nodes.labels.labels_of(row),
            partitionable=self._partitionable,
        )
        self._pools[row] = (changed, pools)
        for pool in pools.pools:
            self._rows.setdefault((pool.driver, pool.name), set()).add(row)
        return pools

    def rows_of(self, pool: PoolId) -> Collection[int]:
        """Rows whose nodes use a pool, as far as their pools were asked for."""
        return self._rows.get(pool, ())

    def counts(self, device_class: DeviceClass) -> tuple[Ints, Ints]:
        """(devices that a class selects, those of them in use) for all rows of the table."""
        self.refresh()
        self._claims.sync()
        key = tuple(
            selector.cel.expression
            for selector in device_class.spec.selectors or ()
            if selector.cel is not None
        )
        version = (self.version, self._nodes.generation, self._claims.devices.sequence)
        known = self._counts.get(key)
        if known is not None and known[0] == version:
            return known[1], known[2]
        total: Ints = np.zeros(self._nodes.size, dtype=np.int64)
        used: Ints = np.zeros(self._nodes.size, dtype=np.int64)
        for row in np.flatnonzero(self._nodes.present[: self._nodes.size]).tolist():
            found = self._selected(row, key)
            total[row] = len(found)
            used[row] = sum(self._claims.devices.is_held(entry.id) for entry in found)
        self._counts[key] = (version, total, used)
        return total, used

    def _selected(self, row: int, expressions: tuple[str, ...]) -> list[DeviceEntry]:
        """Devices in reach of a node that pass all selectors.

        upstream: slices count as they are here, also those of an outdated or incomplete pool.
        """
        name, labels = self._nodes.names[row], self._nodes.labels.labels_of(row)
        return [
            entry
            for slice_ in (*self.inventory.on_node(name), *self.inventory.shared)
            for entry in slice_.devices
            if _in_reach(entry, name, labels) and _matches(entry, expressions)
        ]


def _in_reach(entry: DeviceEntry, name: str, labels: Mapping[str, str]) -> bool:
    try:
        return (entry.reach or entry.slice.reach).covers(name, labels)
    except ValueError:
        return False


def _matches(entry: DeviceEntry, expressions: tuple[str, ...]) -> bool:
    try:
        return all(entry.content.matches(expression) for expression in expressions)
    except SelectorError:
        return False
