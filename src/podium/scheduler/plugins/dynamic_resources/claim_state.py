"""Claims: which ones a pod has, and how the scheduler knows them before the API server does.

Between Reserve and the write of PreBind an allocation exists only here. Its devices count as taken
for every other pod, and other pods that need the same claim have to wait. After the write the
claim as the API server returned it is used until the watch delivers it or something newer. All
profiles of a scheduler share one such state.

Sources: `claimTracker` in `pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go` and
`pkg/scheduler/util/assumecache/assume_cache.go`.

The claims of a pod, found by name, template or annotation. The texts of what can be wrong with them
are shown to users and decide nothing else, so each is an exception with that text.

Source: `Name` and `IsForPod` in
`staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

from podium.kubernetes.kinds.devices import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from podium.kubernetes.kinds.pod import Pod, PodResourceClaim
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.quantity import nano
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.dynamic_resources.capacity import Amounts
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceId

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

    def pending_allocation(self, uid: str) -> AllocationResult | None:
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


FindClaim = Callable[[str, str], ResourceClaim | None]
"""(namespace, name) -> the latest state of a claim."""

SCHEDULING_GROUP = "scheduling.k8s.io"
POD_GROUPS = "podgroups"
EXTENDED_RESOURCE_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


_NEITHER_OWNS = "neither Pod nor PodGroup {} is the owner"


class ClaimProblem(Exception):
    """The pod cannot have its claims; the text says why."""


def claims_of(pod: Pod, find: FindClaim, *, of_groups: bool = False) -> list[ResourceClaim]:
    """The claims a pod refers to, in the order it lists them; raises ClaimProblem.

    With `of_groups`, a claim may have been made for the pod's group.
    """
    return [claim for _, claim in named_claims(pod, find, of_groups=of_groups)]


def named_claims(
    pod: Pod, find: FindClaim, *, of_groups: bool
) -> list[tuple[PodResourceClaim, ResourceClaim]]:
    """The same, each with what the pod says of it."""
    claims: list[tuple[PodResourceClaim, ResourceClaim]] = []
    for reference, name, owned in claim_names(pod):
        claim = find(pod.metadata.namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
        if owned and not is_made_for(claim, pod, of_groups=of_groups):
            raise ClaimProblem(_not_made_for(claim, pod, group_name(pod) if of_groups else None))
        claims.append((reference, claim))
    return claims


def _not_made_for(claim: ResourceClaim, pod: Pod, group: str | None) -> str:
    owners = "Pod is not owner" if group is None else _NEITHER_OWNS.format(group)
    return f"ResourceClaim {claim_key(claim)} was not created for Pod {pod_key(pod)} ({owners})"


def is_made_for(claim: ResourceClaim, pod: Pod, *, of_groups: bool) -> bool:
    """Whether a claim belongs to the pod or, if groups may have claims, to its group."""
    group = group_name(pod) if of_groups else None
    return is_controlled_by(claim, pod) or (group is not None and _is_made_for_group(claim, group))


def _is_made_for_group(claim: ResourceClaim, group: str) -> bool:
    return any(
        owner.controller
        and owner.kind == "PodGroup"
        and owner.name == group
        and owner.api_version.startswith(f"{SCHEDULING_GROUP}/")
        for owner in claim.metadata.owner_references or ()
    )


def group_name(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return group.pod_group_name if group is not None else None


def user_of(
    reference: PodResourceClaim, group: PodGroup | None
) -> ResourceClaimConsumerReference | None:
    """The group, if it lists the claim just as the pod does; None if the claim is the pod's own."""
    listed = group.spec.resource_claims or () if group is not None else ()
    for other in listed:
        if group is not None and (
            other.name,
            other.resource_claim_name,
            other.resource_claim_template_name,
        ) == (
            reference.name,
            reference.resource_claim_name,
            reference.resource_claim_template_name,
        ):
            return ResourceClaimConsumerReference(
                api_group=SCHEDULING_GROUP,
                resource=POD_GROUPS,
                name=group.metadata.name,
                uid=group.metadata.uid,
            )
    return None


def claims_of_group(group: PodGroup, find: FindClaim) -> Iterator[ResourceClaim]:
    """The claims that a group lists and that are there; raises ClaimProblem."""
    namespace = group.metadata.namespace
    for reference in group.spec.resource_claims or ():
        name, owned = reference.resource_claim_name, False
        if name is None:
            made = group.status.resource_claim_statuses or ()
            status = next((each for each in made if each.name == reference.name), None)
            if status is None:
                raise ClaimProblem(f"PodGroup {group.key}: ResourceClaim not created yet")
            name, owned = status.resource_claim_name, True
        if name is None:
            continue
        claim = find(namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{namespace}/{name}"')
        if not owned or _is_made_for_group(claim, group.metadata.name):
            yield claim


def claim_names(pod: Pod) -> Iterator[tuple[PodResourceClaim, str, bool]]:
    """(what the pod says, name of a claim, must it belong to the pod); raises ClaimProblem."""
    for reference in pod.spec.resource_claims or ():
        if reference.resource_claim_name is not None:
            yield reference, reference.resource_claim_name, False
            continue
        if reference.resource_claim_template_name is None:
            raise ClaimProblem(
                f'pod "{pod_key(pod)}", spec.resourceClaim "{reference.name}": none of the'
                " supported fields are set"
            )
        generated = _generated_name(pod, reference)
        if generated is not None:
            yield reference, generated, True


def _generated_name(pod: Pod, reference: PodResourceClaim) -> str | None:
    """The claim made from a template; None if the pod turned out not to need one."""
    for status in pod.status.resource_claim_statuses or ():
        if status.name == reference.name:
            return status.resource_claim_name
    raise ClaimProblem(f'pod "{pod_key(pod)}": ResourceClaim not created yet')


def is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    return any(
        owner.controller and owner.uid == pod.metadata.uid
        for owner in claim.metadata.owner_references or ()
    )


def is_reserved_for(claim: ResourceClaim, pod: Pod, *, of_groups: bool = False) -> bool:
    """Whether the pod may use the claim, be it as a member of a group."""
    group = group_name(pod) if of_groups else None
    return any(
        user.uid == pod.metadata.uid
        or (
            group is not None
            and (user.api_group, user.resource, user.name) == (SCHEDULING_GROUP, POD_GROUPS, group)
        )
        for user in claim.status.reserved_for or ()
    )


def is_idle_for(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether nobody but perhaps this pod uses the claim."""
    users = claim.status.reserved_for or ()
    return not users or (len(users) == 1 and users[0].uid == pod.metadata.uid)


def is_extended_resource_claim_of(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether the claim was made for the pod's extended resources."""
    if (claim.metadata.annotations or {}).get(EXTENDED_RESOURCE_ANNOTATION) != "true":
        return False
    return any(
        owner.controller and owner.name == pod.metadata.name and owner.uid == pod.metadata.uid
        for owner in claim.metadata.owner_references or ()
    )


def claim_key(claim: ResourceClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def pod_key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
