"""Claims as the scheduler knows them: what the API server says, plus what is on its way there.

Between Reserve and the write of PreBind an allocation exists only here. Its devices count as taken
for every other pod, and other pods that need the same claim have to wait. After the write the
claim as the API server returned it is used until the watch delivers it or something newer. All
profiles of a scheduler share one such state.

Sources: `claimTracker` in `pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go` and
`pkg/scheduler/util/assumecache/assume_cache.go`.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

from podium.kubernetes.kinds.devices import AllocationResult, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import nano
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.dynamic_resources.capacity import Amounts
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceId
from podium.scheduler.plugins.dynamic_resources.pod_claims import (
    EXTENDED_RESOURCE_ANNOTATION,
    claim_key,
    is_extended_resource_claim_of,
)

K = TypeVar("K", bound=Hashable)

PoolId = tuple[str, str]
"""(driver, pool)"""

_MAX_REMEMBERED = 4096

_SHARED: WeakKeyDictionary[Cluster, "ClaimState"] = WeakKeyDictionary()


class AllocatedDevices:
    """Devices that claims hold: as a whole, or a share of them.

    upstream: of claims that are stored, the first one that lets go of a device frees it, even if
    others name it too; allocations on their way to the API server are looked at one by one.
    """

    def __init__(self) -> None:
        self._dedicated: set[DeviceId] = set()
        self._on_the_way: dict[DeviceId, int] = {}
        self._shares: dict[DeviceId, int] = {}
        self.consumed: dict[DeviceId, Amounts] = {}
        self._consumers: dict[DeviceId, int] = {}
        self._in_pool: dict[PoolId, int] = {}
        self._touched: list[PoolId] = []
        self._forgotten = 0

    @property
    def sequence(self) -> int:
        """Grows with every change."""
        return self._forgotten + len(self._touched)

    def touched_since(self, sequence: int) -> Sequence[PoolId] | None:
        """Pools with changes after a point of the sequence; None if that is too long ago."""
        if sequence < self._forgotten:
            return None
        return self._touched[sequence - self._forgotten :]

    def holds_in(self, driver: str, pool: str) -> bool:
        """Whether anybody has a device of the pool or a share of one."""
        return (driver, pool) in self._in_pool

    def is_dedicated(self, device: DeviceId) -> bool:
        return device in self._dedicated or device in self._on_the_way

    def is_held(self, device: DeviceId) -> bool:
        """Whether anybody has the device or a share of it."""
        return self.is_dedicated(device) or device in self._shares

    def add(self, allocation: AllocationResult, *, sharing: bool, on_the_way: bool = False) -> None:
        self._count(allocation, 1, sharing=sharing, on_the_way=on_the_way)

    def remove(
        self, allocation: AllocationResult, *, sharing: bool, on_the_way: bool = False
    ) -> None:
        self._count(allocation, -1, sharing=sharing, on_the_way=on_the_way)

    def _count(
        self, allocation: AllocationResult, sign: int, *, sharing: bool, on_the_way: bool
    ) -> None:
        for result in allocation.devices.results or ():
            if result.admin_access:
                continue
            device = DeviceId(result.driver, result.pool, result.device)
            self._touch((result.driver, result.pool), sign)
            if result.share_id is None or not sharing:
                if on_the_way:
                    _step(self._on_the_way, device, sign)
                elif sign > 0:
                    self._dedicated.add(device)
                else:
                    self._dedicated.discard(device)
                continue
            _step(self._shares, device, sign)
            if result.consumed_capacity:
                amounts = self.consumed.setdefault(device, {})
                for name, written in result.consumed_capacity.items():
                    amounts[name] = amounts.get(name, 0) + sign * nano(written)
                if not _step(self._consumers, device, sign):
                    del self.consumed[device]

    def _touch(self, pool: PoolId, sign: int) -> None:
        _step(self._in_pool, pool, sign)
        self._touched.append(pool)
        if len(self._touched) > 2 * _MAX_REMEMBERED:
            del self._touched[:_MAX_REMEMBERED]
            self._forgotten += _MAX_REMEMBERED


def _step(counts: dict[K, int], key: K, sign: int) -> int:
    left = counts.get(key, 0) + sign
    if left > 0:
        counts[key] = left
    else:
        counts.pop(key, None)
    return left


class ClaimState:
    """The claims of one cluster; `sync` before reading `devices`."""

    def __init__(self, cluster: Cluster, *, sharing: bool) -> None:
        self._catalog = cluster.catalog
        self._sharing = sharing
        self._assumed: dict[str, ResourceClaim] = {}
        self._pending: dict[str, AllocationResult] = {}
        self._sharers: dict[str, int] = {}
        self._counted: dict[str, ResourceClaim] = {}
        self._for_extended: dict[str, set[str]] = {}
        self._version = -1
        self._assumed_changes: set[str] = set()
        self.devices = AllocatedDevices()

    @classmethod
    def of(cls, cluster: Cluster, *, sharing: bool = True) -> "ClaimState":
        """The state that all users of a cluster share. `sharing` is a feature gate."""
        found = _SHARED.get(cluster)
        if found is None:
            found = _SHARED[cluster] = cls(cluster, sharing=sharing)
        return found

    def find(self, namespace: str, name: str) -> ResourceClaim | None:
        """The newest known state of a claim."""
        stored = self._catalog.get(ResourceClaim, name, namespace)
        return stored if stored is None else self._latest(f"{namespace}/{name}", stored)

    def extended_claim_of(self, pod: Pod) -> ResourceClaim | None:
        """The claim that an earlier attempt made for the pod's extended resources."""
        self.sync()
        for key in self._for_extended.get(pod.metadata.uid, ()):
            claim = self._counted[key]
            if is_extended_resource_claim_of(claim, pod):
                return claim
        return None

    def _latest(self, key: str, stored: ResourceClaim) -> ResourceClaim:
        assumed = self._assumed.get(key)
        if assumed is None:
            return stored
        if assumed.metadata.uid == stored.metadata.uid and _version(assumed) > _version(stored):
            return assumed
        del self._assumed[key]
        return stored

    def assume(self, claim: ResourceClaim) -> None:
        """Use a claim as the API server returned it until the watch has caught up."""
        self._assumed[claim_key(claim)] = claim
        self._assumed_changes.add(claim_key(claim))

    def restore(self, claim: ResourceClaim) -> None:
        """Go back to what the watch said last."""
        if self._assumed.pop(claim_key(claim), None) is not None:
            self._assumed_changes.add(claim_key(claim))

    # allocations that are not written yet

    def is_pending(self, uid: str) -> bool:
        return uid in self._pending

    def pending(self, uid: str) -> AllocationResult | None:
        return self._pending.get(uid)

    def start(self, uid: str, allocation: AllocationResult) -> None:
        """Hold an allocation for a claim until it is written or given up; a claim that a pod names
        twice keeps its first one."""
        self._sharers[uid] = self._sharers.get(uid, 0) + 1
        if uid not in self._pending:
            self._pending[uid] = allocation
            self.devices.add(allocation, sharing=self._sharing, on_the_way=True)

    def give_up(self, uid: str) -> bool:
        """One of those that wanted an allocation does not any more; whether it was the last."""
        if self._sharers.get(uid, 0) > 1:
            self._sharers[uid] -= 1
            return False
        return self.finish(uid)

    def finish(self, uid: str) -> bool:
        """Stop holding an allocation; false if none was held."""
        self._sharers.pop(uid, None)
        allocation = self._pending.pop(uid, None)
        if allocation is None:
            return False
        self.devices.remove(allocation, sharing=self._sharing, on_the_way=True)
        return True

    def sync(self) -> None:
        """Bring `devices` up to date with the claims that have changed."""
        version = self._catalog.version(ResourceClaim)
        if version == self._version and not self._assumed_changes:
            return
        changed = (
            self._catalog.changed_since(ResourceClaim, self._version)
            if self._version >= 0
            else None
        )
        keys: Iterable[str]
        if changed is None:
            keys = {*self._counted, *(claim_key(c) for c in self._catalog.all(ResourceClaim))}
        else:
            keys = {*changed, *self._assumed_changes}
        self._version = version
        self._assumed_changes = set()
        for key in keys:
            namespace, _, name = key.rpartition("/")
            self._recount(key, self.find(namespace, name))

    def _recount(self, key: str, after: ResourceClaim | None) -> None:
        before = self._counted.pop(key, None)
        if before is not None:
            if before.status.allocation is not None:
                self.devices.remove(before.status.allocation, sharing=self._sharing)
            for uid in _extended_owners(before):
                self._for_extended[uid].discard(key)
        if after is None:
            return
        self._counted[key] = after
        if after.status.allocation is not None:
            # What was on its way has arrived.
            self.finish(after.metadata.uid)
            self.devices.add(after.status.allocation, sharing=self._sharing)
        for uid in _extended_owners(after):
            self._for_extended.setdefault(uid, set()).add(key)


def _extended_owners(claim: ResourceClaim) -> list[str]:
    """Pods that a claim for extended resources belongs to, which is one at most."""
    annotations = claim.metadata.annotations or {}
    if EXTENDED_RESOURCE_ANNOTATION not in annotations:
        return []
    return [owner.uid for owner in claim.metadata.owner_references or ()]


def _version(claim: ResourceClaim) -> int:
    text = claim.metadata.resource_version
    return int(text) if text.isascii() and text.isdigit() else 0
