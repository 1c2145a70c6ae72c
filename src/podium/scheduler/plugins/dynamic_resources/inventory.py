"""What devices exist: resource slices, taken apart once and kept by node and by pool.

A slice changes rarely and is read by every attempt, so everything that can be worked out from it
alone (quantities, parsed selectors, what CEL sees of a device) is. Devices that differ in nothing
but their name share one `Content`, and with it the results of selectors: eight equal GPUs on a
thousand nodes are evaluated once.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from podium.kubernetes.kinds.devices import (
    Device,
    DeviceAttribute,
    DeviceTaint,
    DeviceTaintRule,
    ResourceSlice,
)
from podium.kubernetes.kinds.pod import NodeSelector
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.field_errors import aggregate
from podium.kubernetes.rules.node_affinity import NodeTerm, parse_node_selector
from podium.kubernetes.rules.quantity import nano
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.plugins.dynamic_resources.capacity import CapacityRule, rules_of
from podium.scheduler.plugins.dynamic_resources.search_budget import SearchBudget
from podium.scheduler.plugins.dynamic_resources.taint_rules import with_rules

if TYPE_CHECKING:  # a cluster without devices pays for no CEL
    from podium.kubernetes.cel import Meter

_encode = msgspec.msgpack.Encoder().encode
_BLOCKING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
_MAX_RESULTS: Final = 4096
"""Results of selectors that are kept for each device."""


class InventoryRules(NamedTuple):
    """Feature gates that change what a slice offers."""

    taint_rules: bool
    """DRADeviceTaintRules"""
    partitions: bool
    """DRAPartitionableDevices"""
    lists: bool
    """DRAListTypeAttributes"""

    @classmethod
    def of(cls, gates: FeatureGates) -> "InventoryRules":
        return cls(
            gates["DRADeviceTaintRules"],
            gates["DRAPartitionableDevices"],
            gates["DRAListTypeAttributes"],
        )


class DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


class DeviceSelectorError(Exception):
    """A selector that does not compile, or fails on a device."""


class Content:
    """All that is the same for equal devices of one driver."""

    __slots__ = (
        "__weakref__",
        "_device",
        "_driver",
        "_lists",
        "_results",
        "_view",
        "attributes",
        "blocking_taints",
        "capacity",
        "multiple",
        "plain_capacity",
    )

    def __init__(self, driver: str, device: Device, *, lists: bool) -> None:
        self._driver = driver
        self._lists = lists
        self._device = device
        self._view: dict[str, object] | str | None = None
        self._results: dict[str, bool | str] = {}
        self.attributes: Mapping[str, DeviceAttribute] = device.attributes or {}
        self.multiple = bool(device.allow_multiple_allocations)
        self.capacity: Mapping[str, CapacityRule] = rules_of(device.capacity)
        self.plain_capacity = all(rule.policy is None for rule in self.capacity.values())
        self.blocking_taints: tuple[DeviceTaint, ...] = tuple(
            taint for taint in device.taints or () if taint.effect in _BLOCKING_EFFECTS
        )

    def matches(self, expression: str, budget: SearchBudget | None = None) -> bool:
        """Whether a selector accepts the device; raises SelectorError, and BudgetSpent when it was
        evaluated for the first time and cost more than is left."""
        result = self._results.get(expression)
        if result is None:
            from podium.kubernetes.cel import COST_LIMIT, Meter

            meter = Meter()
            result = self._evaluate(expression, meter)
            if len(self._results) >= _MAX_RESULTS:
                del self._results[next(iter(self._results))]
            # Kept before it is paid for: the next attempt gets further.
            self._results[expression] = result
            if budget is not None:
                budget.charge_selector(expression, COST_LIMIT - max(meter.left, 0))
        if isinstance(result, str):
            raise DeviceSelectorError(result)
        return result

    def attribute(self, name: str) -> DeviceAttribute | None:
        """An attribute by its full name; one without a domain belongs to the driver's."""
        found = self.attributes.get(name)
        if found is not None:
            return found
        domain, slash, key = name.partition("/")
        return self.attributes.get(key) if slash and domain == self._driver else None

    def own_attribute(self, name: str) -> DeviceAttribute | None:
        """An attribute of the driver's own, written with or without its domain."""
        return self.attributes.get(name) or self.attributes.get(f"{self._driver}/{name}")

    def _evaluate(self, expression: str, meter: "Meter") -> bool | str:
        """The result of a selector, or the text of what went wrong."""
        from podium.kubernetes.cel import CelError, CompileError, compile_selector

        try:
            selector = compile_selector(expression, lists=self._lists)
        except CompileError as problem:
            return f"CEL compile error: {problem}"
        if self._view is None:
            self._view = self._make_view()
        if isinstance(self._view, str):
            return f"CEL runtime error: {self._view}"
        try:
            return selector.matches(self._view, meter)
        except CelError as problem:
            return f"CEL runtime error: {problem}"

    def _make_view(self) -> dict[str, object] | str:
        from podium.kubernetes.cel import CelError, device_view

        device = self._device
        try:
            return device_view(
                self._driver,
                multiple=self.multiple,
                attributes=device.attributes,
                capacity=device.capacity,
                lists=self._lists,
            )
        except CelError as problem:
            return str(problem)


Consumption = tuple[tuple[tuple[str, str], int], ...]
"""((counter set, counter), amount in nano units) pairs."""


class DeviceReach:
    """Which nodes a slice, or a device of one, can be used from."""

    __slots__ = ("all_nodes", "node_name", "selector", "terms")

    def __init__(
        self, node_name: str | None, all_nodes: bool | None, selector: NodeSelector | None
    ) -> None:
        self.node_name = node_name or ""
        self.all_nodes = bool(all_nodes)
        self.selector = selector
        self.terms: tuple[NodeTerm, ...] = parse_node_selector(selector) if selector else ()

    @property
    def stated(self) -> bool:
        return bool(self.node_name) or self.all_nodes or self.selector is not None

    def covers(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node is in reach; raises ValueError for a selector that makes no sense."""
        if self.node_name:
            return self.node_name == name
        if self.all_nodes:
            return True
        problems = [term.error for term in self.terms if term.error is not None]
        if problems:
            raise ValueError(f"failed to parse node selector: {aggregate(problems)}")
        return any(term.matches(labels, name) for term in self.terms)


class DeviceEntry:
    """One device of a slice."""

    __slots__ = ("consumption", "content", "device", "id", "likeness", "reach", "slice")

    def __init__(self, slice_: "SliceEntry", device: Device, content: Content) -> None:
        self.slice = slice_
        self.device = device
        self.content = content
        self.id = DeviceId(slice_.driver, slice_.pool, device.name)
        self.consumption: Consumption = tuple(
            ((consumed.counter_set, name), nano(counter.value))
            for consumed in device.consumes_counters or ()
            for name, counter in (consumed.counters or {}).items()
        )
        # Devices that are alike can stand for each other in every respect.
        self.likeness: Hashable = (
            (content, slice_.pool, self.consumption) if self.consumption else content
        )
        self.reach = (
            DeviceReach(device.node_name, device.all_nodes, device.node_selector)
            if slice_.per_device
            else None
        )


class SliceEntry:
    """A resource slice in the form pools are built from."""

    __slots__ = (
        "counter_sets",
        "devices",
        "driver",
        "generation",
        "name",
        "per_device",
        "pool",
        "reach",
        "slice_count",
    )

    def __init__(
        self, source: ResourceSlice, contents: "Contents", rules: Sequence[DeviceTaintRule] = ()
    ) -> None:
        spec = source.spec
        self.name = source.metadata.name
        self.driver = spec.driver
        self.pool = spec.pool.name
        self.generation = spec.pool.generation
        self.slice_count = spec.pool.resource_slice_count
        self.per_device = bool(spec.per_device_node_selection)
        self.reach = DeviceReach(spec.node_name, spec.all_nodes, spec.node_selector)
        self.counter_sets: tuple[tuple[str, dict[str, int]], ...] = tuple(
            (
                counter_set.name,
                {name: nano(c.value) for name, c in (counter_set.counters or {}).items()},
            )
            for counter_set in spec.shared_counters or ()
        )
        self.devices = tuple(
            DeviceEntry(self, device, contents.of(spec.driver, device))
            for device in with_rules(source, rules)
        )


class Contents:
    """Device contents by what they hold; one lives as long as a device has it."""

    def __init__(self, *, lists: bool) -> None:
        self._lists = lists
        self._known: WeakValueDictionary[bytes, Content] = WeakValueDictionary()

    def of(self, driver: str, device: Device) -> Content:
        key = _encode(
            (
                driver,
                device.attributes,
                device.capacity,
                device.taints,
                bool(device.allow_multiple_allocations),
            )
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Content(driver, device, lists=self._lists)
        return found


class Inventory:
    """All slices of a catalog; `refresh` before use."""

    def __init__(self, catalog: Catalog, rules: InventoryRules) -> None:
        self._catalog = catalog
        self._with_rules = rules.taint_rules
        self._rules: Sequence[DeviceTaintRule] = ()
        self._seen = (-1, 0)
        self._contents = Contents(lists=rules.lists)
        self._entries: dict[str, tuple[ResourceSlice, SliceEntry]] = {}
        self._on_node: dict[str, list[SliceEntry]] = {}
        self._in_pool: dict[tuple[str, str], list[SliceEntry]] = {}
        self.shared: list[SliceEntry] = []
        self.version = -1

    def refresh(self) -> None:
        """Catch up with the catalog; slices that did not change are not read again."""
        before = self._seen
        rules = self._catalog.version(DeviceTaintRule) if self._with_rules else 0
        self._seen = (self._catalog.version(ResourceSlice), rules)
        if self._seen == before:
            return
        self.version += 1
        changed = self._catalog.changed_since(ResourceSlice, before[0]) if before[0] >= 0 else None
        if rules != before[1]:
            found = self._catalog.all(DeviceTaintRule)
            self._rules = sorted(found, key=lambda rule: rule.metadata.name)
            self._entries.clear()
            changed = None
        names = (
            {*self._entries, *(source.metadata.name for source in self._catalog.all(ResourceSlice))}
            if changed is None
            else set(changed)
        )
        for name in names:
            source = self._catalog.get(ResourceSlice, name)
            if source is None:
                self._entries.pop(name, None)
            elif name not in self._entries or self._entries[name][0] is not source:
                self._entries[name] = (source, SliceEntry(source, self._contents, self._rules))
        self._index()

    def on_node(self, node_name: str) -> Sequence[SliceEntry]:
        """Slices that name the node as their own."""
        return self._on_node.get(node_name, ())

    def in_pool(self, driver: str, pool: str) -> Sequence[SliceEntry]:
        """Slices of a pool, of every generation and for every node."""
        return self._in_pool.get((driver, pool), ())

    def _index(self) -> None:
        self._on_node, self._in_pool, self.shared = {}, {}, []
        for _, entry in self._entries.values():
            if entry.reach.node_name and not entry.counter_sets:
                self._on_node.setdefault(entry.reach.node_name, []).append(entry)
            else:
                self.shared.append(entry)
            self._in_pool.setdefault((entry.driver, entry.pool), []).append(entry)
