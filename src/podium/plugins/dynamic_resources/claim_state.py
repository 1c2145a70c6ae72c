"""Claims as the scheduler knows them: what the API server says, plus what is on its way there.

Between Reserve and the write of PreBind an allocation exists only here. Its devices count as taken
for every other pod, and other pods that need the same claim have to wait. After the write the
claim as the API server returned it is used until the watch delivers it or something newer
(spec 7.4). All profiles of a scheduler share one such state.
"""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from podium.api.devices import AllocationResult, ResourceClaim
from podium.api.quantity import nano
from podium.cluster.state import Cluster
from podium.plugins.dynamic_resources.capacity import Amounts
from podium.plugins.dynamic_resources.inventory import DeviceId
from podium.plugins.dynamic_resources.pod_claims import claim_key

_SHARED: WeakKeyDictionary[Cluster, "ClaimState"] = WeakKeyDictionary()


class AllocatedDevices:
    """Devices that claims hold: as a whole, or a share of them.

    A device can be named by several claims, so holders are counted.
    """

    def __init__(self) -> None:
        self._dedicated: dict[DeviceId, int] = {}
        self._shares: dict[DeviceId, int] = {}
        self.consumed: dict[DeviceId, Amounts] = {}
        self._consumers: dict[DeviceId, int] = {}
        self.version = 0

    def is_dedicated(self, device: DeviceId) -> bool:
        return device in self._dedicated

    def is_held(self, device: DeviceId) -> bool:
        """Whether anybody has the device or a share of it."""
        return device in self._dedicated or device in self._shares

    def add(self, allocation: AllocationResult, *, sharing: bool) -> None:
        self._count(allocation, 1, sharing=sharing)

    def remove(self, allocation: AllocationResult, *, sharing: bool) -> None:
        self._count(allocation, -1, sharing=sharing)

    def _count(self, allocation: AllocationResult, sign: int, *, sharing: bool) -> None:
        self.version += 1
        for result in allocation.devices.results or ():
            if result.admin_access:
                continue
            device = DeviceId(result.driver, result.pool, result.device)
            if result.share_id is None or not sharing:
                _step(self._dedicated, device, sign)
                continue
            _step(self._shares, device, sign)
            if result.consumed_capacity:
                amounts = self.consumed.setdefault(device, {})
                for name, written in result.consumed_capacity.items():
                    amounts[name] = amounts.get(name, 0) + sign * nano(written)
                if not _step(self._consumers, device, sign):
                    del self.consumed[device]


def _step(counts: dict[DeviceId, int], device: DeviceId, sign: int) -> int:
    left = counts.get(device, 0) + sign
    if left > 0:
        counts[device] = left
    else:
        counts.pop(device, None)
    return left


class ClaimState:
    """The claims of one cluster; `sync` before reading `devices`."""

    def __init__(self, cluster: Cluster, *, sharing: bool) -> None:
        self._catalog = cluster.catalog
        self._sharing = sharing
        self._assumed: dict[str, ResourceClaim] = {}
        self._pending: dict[str, AllocationResult] = {}
        self._counted: dict[str, ResourceClaim] = {}
        self._version = -1
        self._assumed_version = 0
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

    def all(self) -> Iterator[ResourceClaim]:
        for stored in self._catalog.all(ResourceClaim):
            yield self._latest(claim_key(stored), stored) if self._assumed else stored

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
        self._assumed_version += 1

    def restore(self, claim: ResourceClaim) -> None:
        """Go back to what the watch said last."""
        if self._assumed.pop(claim_key(claim), None) is not None:
            self._assumed_version += 1

    # allocations that are not written yet

    def is_pending(self, uid: str) -> bool:
        return uid in self._pending

    def pending(self, uid: str) -> AllocationResult | None:
        return self._pending.get(uid)

    def start(self, uid: str, allocation: AllocationResult) -> None:
        """Hold an allocation for a claim until it is written or given up."""
        self.finish(uid)
        self._pending[uid] = allocation
        self.devices.add(allocation, sharing=self._sharing)

    def finish(self, uid: str) -> bool:
        """Stop holding an allocation; false if none was held."""
        allocation = self._pending.pop(uid, None)
        if allocation is None:
            return False
        self.devices.remove(allocation, sharing=self._sharing)
        return True

    def sync(self) -> None:
        """Bring `devices` up to date with the claims; unchanged ones cost a comparison each."""
        version = self._catalog.version(ResourceClaim) + self._assumed_version
        if version == self._version:
            return
        self._version = version
        left = dict(self._counted)
        for claim in self.all():
            key = claim_key(claim)
            before = left.pop(key, None)
            if before is not claim:
                self._recount(before, claim)
                self._counted[key] = claim
        for key, gone in left.items():
            self._recount(gone, None)
            del self._counted[key]

    def _recount(self, before: ResourceClaim | None, after: ResourceClaim | None) -> None:
        if before is not None and before.status.allocation is not None:
            self.devices.remove(before.status.allocation, sharing=self._sharing)
        if after is not None and after.status.allocation is not None:
            # What was on its way has arrived.
            self.finish(after.metadata.uid)
            self.devices.add(after.status.allocation, sharing=self._sharing)


def _version(claim: ResourceClaim) -> int:
    text = claim.metadata.resource_version
    return int(text) if text.isascii() and text.isdigit() else 0
