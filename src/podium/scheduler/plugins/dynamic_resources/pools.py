"""The devices of nodes, in the order in which a search tries them, kept between attempts.

The order decides which devices a pod gets, so it is upstream's: pools by driver and name, those
with binding conditions last, slices by name, devices as listed. A pool that is being changed or
makes no sense offers nothing, and is remembered because it can be the reason that nothing was
found.

Source: `GatherPools` in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go`.

The devices of a cluster by node, kept between attempts and shared by all who ask. Pools of a node
are gathered again only when slices or the node itself have changed. Besides the search, the
resource scores ask here how many devices are behind an extended resource.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from podium.kubernetes.kinds.devices import DeviceClass
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    AllocatedDevices,
    ClaimState,
    PoolId,
)
from podium.scheduler.plugins.dynamic_resources.inventory import (
    DeviceEntry,
    DeviceSelectorError,
    Inventory,
    InventoryRules,
    SliceEntry,
)

Counters = dict[tuple[str, str], int]
"""(counter set, counter) -> amount in nano units."""


class GatherError(Exception):
    """Slices that cannot be read; ends the attempt."""


@dataclass(slots=True)
class Pool:
    """A pool as one node sees it.

    `devices` are those the node may use; `elsewhere` the rest of the pool, which matters for what
    is left of shared counters.
    """

    driver: str
    name: str
    incomplete: bool = False
    invalid: bool = False
    devices: Sequence[DeviceEntry] = ()
    elsewhere: Sequence[DeviceEntry] = ()
    counters: Counters = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


@dataclass(slots=True)
class NodePools:
    """All pools of a node, and the sequence of devices that searches walk."""

    pools: Sequence[Pool]
    sequence: Sequence[DeviceEntry]
    pool_of: Mapping[int, Pool]
    """Pool of a device of the sequence, by the identity of the entry."""
    kind: tuple[Hashable, ...] | None
    """Equal for nodes with equal devices, if devices are all that a search can tell apart."""

    def kind_with(self, devices: AllocatedDevices) -> Hashable | None:
        """Equal for nodes whose equal devices are taken alike; None if that cannot be said."""
        if self.kind is None:
            return None
        if not any(devices.holds_in(pool.driver, pool.name) for pool in self.pools):
            return self.kind
        taken = (i for i, entry in enumerate(self.sequence) if devices.is_dedicated(entry.id))
        return self.kind, tuple(taken)


def gather_pools(
    inventory: Inventory,
    node_name: str,
    labels: Mapping[str, str],
    *,
    partitionable: bool = True,
) -> NodePools:
    relevant: dict[tuple[str, str], list[SliceEntry]] = {}
    for entry in (*inventory.on_node(node_name), *inventory.shared):
        if not partitionable and (entry.per_device or entry.counter_sets):
            continue
        try:
            if not _is_relevant(entry, node_name, labels):
                continue
        except ValueError as problem:
            raise GatherError(
                "gather pool information: failed to perform node selection for slice"
                f" {entry.name}: {problem}"
            ) from None
        _add(relevant.setdefault((entry.driver, entry.pool), []), entry)
    pools = [
        pool
        for (driver, name), slices in relevant.items()
        if (pool := _build(inventory, driver, name, slices, partitionable)) is not None
    ]
    pools.sort(key=lambda pool: (_has_binding_conditions(pool), pool.driver, pool.name))
    sequence = [device for pool in pools for device in pool.devices]
    return NodePools(
        pools,
        sequence,
        {id(device): pool for pool in pools for device in pool.devices},
        _kind(pools, sequence),
    )


def _kind(pools: Sequence[Pool], sequence: Sequence[DeviceEntry]) -> tuple[Hashable, ...] | None:
    special = any(pool.incomplete or pool.invalid for pool in pools) or any(
        entry.consumption
        or entry.content.multiple
        or entry.reach is not None
        or entry.slice.reach.selector is not None
        or entry.device.binding_conditions
        for entry in sequence
    )
    return None if special else tuple(entry.content for entry in sequence)


def _is_relevant(entry: SliceEntry, node_name: str, labels: Mapping[str, str]) -> bool:
    if entry.counter_sets:
        return True
    if entry.reach.stated:
        return entry.reach.covers(node_name, labels)
    return entry.per_device and any(
        device.reach is not None and device.reach.covers(node_name, labels)
        for device in entry.devices
    )


def _add(slices: list[SliceEntry], entry: SliceEntry) -> None:
    """Keep only the slices of the highest generation."""
    if slices and entry.generation != slices[0].generation:
        if entry.generation < slices[0].generation:
            return
        slices.clear()
    slices.append(entry)


def _build(
    inventory: Inventory, driver: str, name: str, slices: list[SliceEntry], partitionable: bool
) -> Pool | None:
    """The pool of some relevant slices; None if a newer generation is on its way."""
    first = slices[0]
    elsewhere: list[SliceEntry] = []
    if len(slices) != first.slice_count:
        everywhere = inventory.in_pool(driver, name)
        # upstream: only an incomplete pool is checked for newer slices on other nodes.
        if any(entry.generation > first.generation for entry in everywhere):
            return None
        everywhere = [entry for entry in everywhere if entry.generation == first.generation]
        if len(everywhere) != first.slice_count:
            return Pool(driver, name, incomplete=True)
        here = {entry.name for entry in slices}
        elsewhere = [entry for entry in everywhere if entry.name not in here]
    slices.sort(key=lambda entry: entry.name)
    return _assemble(driver, name, slices, elsewhere, partitionable)


def _assemble(
    driver: str,
    name: str,
    slices: Sequence[SliceEntry],
    elsewhere: Sequence[SliceEntry],
    partitionable: bool,
) -> Pool:
    devices = [device for entry in slices if not entry.counter_sets for device in entry.devices]
    if len({device.id.device for device in devices}) < len(devices):
        return Pool(driver, name, invalid=True)
    if not partitionable:
        return Pool(driver, name, devices=devices)
    counter_sets: dict[str, dict[str, int]] = {}
    for entry in slices:
        for set_name, counters in entry.counter_sets:
            if set_name in counter_sets:
                return Pool(driver, name, invalid=True)
            counter_sets[set_name] = counters
    others = [device for entry in elsewhere for device in entry.devices]
    for device in (*devices, *others):
        for consumed in device.device.consumes_counters or ():
            known = counter_sets.get(consumed.counter_set)
            if known is None or any(counter not in known for counter in consumed.counters or ()):
                return Pool(driver, name, invalid=True)
    declared = {
        (set_name, counter): amount
        for set_name, amounts in counter_sets.items()
        for counter, amount in amounts.items()
    }
    return Pool(driver, name, devices=devices, elsewhere=others, counters=declared)


def _has_binding_conditions(pool: Pool) -> bool:
    return any(bool(device.device.binding_conditions) for device in pool.devices)


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
    def of(cls, cluster: Cluster, rules: InventoryRules) -> "Supply":
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
        """Rows whose nodes use a pool, as far as their pools were requested."""
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
            found = self._select_devices(row, key)
            total[row] = len(found)
            used[row] = sum(self._claims.devices.is_held(entry.id) for entry in found)
        self._counts[key] = (version, total, used)
        return total, used

    def _select_devices(self, row: int, expressions: tuple[str, ...]) -> list[DeviceEntry]:
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
    except DeviceSelectorError:
        return False
