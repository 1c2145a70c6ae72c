"""The devices a node can use, in the order in which they are tried.

The order decides which devices a pod gets, so it is upstream's: pools by driver and name, those
with binding conditions last, slices by name, devices as listed. A pool that is being changed or
makes no sense offers nothing, and is remembered because it can be the reason that nothing was
found.

Source: `GatherPools` in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go`.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceEntry, Inventory, SliceEntry

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
