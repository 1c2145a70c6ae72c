"""What the scheduler writes to claims, and the order in which it does.

PreBind runs beside later attempts and gets an API handle; PostFilter and Unreserve are
synchronous and leave writes that nobody waits for (`Deallocate`, `ReleaseReservation`,
`DeleteClaim`, `ClearClaimStatuses`). What a claim looks like afterwards is worked out by pure
functions that both share with replays.

Sources: `PostFilter`, `Unreserve` and `bindClaim` in
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`, and
`extendeddynamicresources.go` beside it.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import ReadOnlyJson
from podium.kubernetes.kinds.devices import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from podium.kubernetes.kinds.pod import (
    NodeAllocatableResourceClaimStatus,
    Pod,
    PodExtendedResourceClaimStatus,
)
from podium.kubernetes.rules.timestamps import time_text
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.handle import (
    ApiHandle,
    DeferredWrite,
    ObjectConflict,
    ObjectNotFound,
)
from podium.scheduler.plugins.dynamic_resources.attempt_state import ClaimsState, Reservation
from podium.scheduler.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    is_overdue,
    is_ready,
    waiting_results,
)
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    ClaimState,
    claim_key,
    is_reserved_for,
    pod_key,
)

STATUS = "status"
FINALIZER = "resource.kubernetes.io/delete-protection"
CONFLICT_TRIES = 5
CONFLICT_PAUSE_S = 0.01
READY_CHECK_S = 5.0
CREATED_CHECK_S = 1.0
CREATED_TIMEOUT_S = 120.0


class ClaimWriteError(Exception):
    """A claim cannot be written as planned; the pod has to be scheduled again."""


# writes that nobody waits for


@dataclass(frozen=True, slots=True)
class ClaimWrite(DeferredWrite):
    """A write about one claim; one that is gone or has moved on is left alone."""

    claim: ResourceClaim

    async def carry_out(self, api: ApiHandle) -> None:
        with suppress(ObjectNotFound, ObjectConflict):
            async with api.take_turn(self.claim.metadata.uid):
                await self.write(api)

    @abstractmethod
    async def write(self, api: ApiHandle) -> None: ...

    async def read(self, api: ApiHandle) -> ResourceClaim:
        """The claim as it is now. Raises ObjectNotFound, also for another one of its name."""
        metadata = self.claim.metadata
        current = await api.get(ResourceClaim, metadata.name, metadata.namespace)
        if current.metadata.uid != metadata.uid:
            raise ObjectNotFound(f"claim {claim_key(self.claim)} is another one by now")
        return current


@dataclass(frozen=True, slots=True)
class Deallocate(ClaimWrite):
    """Write the status of a claim nobody uses, without its allocation; no retry."""

    async def write(self, api: ApiHandle) -> None:
        await api.update(deallocate_claim(self.claim), base=self.claim, subresource=STATUS)


@dataclass(frozen=True, slots=True)
class ReleaseReservation(ClaimWrite):
    """Take a pod out of `status.reservedFor`; failure is only logged."""

    pod_uid: str

    async def write(self, api: ApiHandle) -> None:
        current = await self.read(api)
        without = release_claim(current, self.pod_uid)
        if without.status != current.status:
            await api.update(without, base=current, subresource=STATUS)


@dataclass(frozen=True, slots=True)
class DeleteClaim(ClaimWrite):
    """Remove the finalizer of a claim made for extended resources, then delete it."""

    async def write(self, api: ApiHandle) -> None:
        current = await self.read(api)
        held = current.metadata.finalizers or ()
        if FINALIZER in held:
            kept = tuple(each for each in held if each != FINALIZER)
            metadata = replace(current.metadata, finalizers=kept or None)
            current = await api.update(replace(current, metadata=metadata), base=current)
        await api.delete(current)


@dataclass(frozen=True, slots=True)
class ClearClaimStatuses(DeferredWrite):
    """Take out of a pod's status what its claims were to take of a node, unless it has one by now;
    failure is only logged."""

    pod: Pod

    async def carry_out(self, api: ApiHandle) -> None:
        metadata = self.pod.metadata
        with suppress(ObjectNotFound, ObjectConflict):
            async with api.take_turn(metadata.uid):
                current = await api.get(Pod, metadata.name, metadata.namespace)
                if current.metadata.uid == metadata.uid and not current.spec.node_name:
                    await _patch_pod_status(
                        api, self.pod, {"nodeAllocatableResourceClaimStatuses": None}
                    )


async def _patch_pod_status(api: ApiHandle, pod: Pod, status: Mapping[str, ReadOnlyJson]) -> None:
    metadata = pod.metadata
    patch: dict[str, ReadOnlyJson] = {"metadata": {"uid": metadata.uid}, "status": status}
    await api.patch(Pod, metadata.name, patch, metadata.namespace, subresource=STATUS)


# what claims look like afterwards


def deallocate_claim(claim: ResourceClaim) -> ResourceClaim:
    return replace(claim, status=ResourceClaimStatus())


def release_claim(claim: ResourceClaim, pod_uid: str) -> ResourceClaim:
    """The claim without one of its users; the allocation stays."""
    users = tuple(user for user in claim.status.reserved_for or () if user.uid != pod_uid)
    return replace(claim, status=replace(claim.status, reserved_for=users or None))


def protect_claim(claim: ResourceClaim) -> ResourceClaim:
    """The claim with the finalizer that keeps it while it is allocated."""
    finalizers = claim.metadata.finalizers or ()
    if FINALIZER in finalizers:
        return claim
    return replace(claim, metadata=replace(claim.metadata, finalizers=(*finalizers, FINALIZER)))


def pod_user(pod: Pod) -> ResourceClaimConsumerReference:
    """A pod as the user of a claim."""
    return ResourceClaimConsumerReference(
        resource="pods", name=pod.metadata.name, uid=pod.metadata.uid
    )


def is_granted(claim: ResourceClaim, allocation: AllocationResult) -> bool:
    """Whether a claim has just this allocation, which another pod has written."""
    granted = claim.status.allocation
    return granted is not None and granted.devices == allocation.devices


def reserve_claim(
    claim: ResourceClaim,
    user: ResourceClaimConsumerReference,
    allocation: AllocationResult | None,
    now_s: float,
    *,
    stamped: bool = True,
) -> ResourceClaim:
    """The claim with an allocation (if it gets one now) and one more user."""
    status = claim.status
    granted = allocation if allocation is not None else status.allocation
    if granted is None and stamped:
        raise ClaimWriteError(f"claim {claim_key(claim)} got deallocated elsewhere in the meantime")
    if granted is not None and stamped and granted.allocation_timestamp is None:
        granted = replace(granted, allocation_timestamp=time_text(now_s))
    return replace(
        claim,
        status=replace(
            status, allocation=granted, reserved_for=(*(status.reserved_for or ()), user)
        ),
    )


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """Whom a claim is reserved for, and the allocation that it gets for that, if any.

    `shared` allocations are those of a group's members; any of them may have written it.
    """

    user: ResourceClaimConsumerReference
    allocation: AllocationResult | None
    shared: bool = False


class ClaimWriter:
    """PreBind: write allocations and reservations, then wait for the devices."""

    def __init__(
        self,
        claims: ClaimState,
        clock: Callable[[], float],
        *,
        of_groups: bool,
        stamped: bool,
        binding_timeout_s: float | None,
    ) -> None:
        self._claims = claims
        self._clock = clock
        self._of_groups = of_groups
        self._stamped = stamped
        self._binding_timeout_s = binding_timeout_s

    async def bind(self, pod: PodInfo, state: ClaimsState, node_name: str, api: ApiHandle) -> None:
        """Make the pod's claims its own; raises when that fails."""
        reservation = state.reservation or Reservation([])
        held: dict[str, deque[AllocationResult]] = {}
        for claimed, found in reservation.held:
            held.setdefault(claimed.metadata.uid, deque()).append(found)
        written: list[ResourceClaim] = []
        for own in state.claims:
            claim = own.claim
            if not is_reserved_for(claim, pod.pod, of_groups=self._of_groups):
                # upstream: a claim that is named twice has an allocation for each time
                given = held.get(claim.metadata.uid)
                allocation = given.popleft() if given else None
                use = ClaimUse(own.user or pod_user(pod.pod), allocation, state.of_group)
                claim = await self._bind_claim(claim, use, api, reservation)
            written.append(claim)
        if reservation.extended is not None:
            written.append(await self._bind_extended(reservation, pod, held, node_name, api))
        if reservation.statuses:
            await self._tell_statuses(pod, reservation.statuses, api)
        await self._wait_for_devices(written, pod, node_name, api)

    async def _bind_claim(
        self,
        claim: ResourceClaim,
        use: ClaimUse,
        api: ApiHandle,
        reservation: Reservation,
    ) -> ResourceClaim:
        uid = claim.metadata.uid
        async with api.take_turn(uid):
            latest = self._claims.find(claim.metadata.namespace, claim.metadata.name)
            if latest is not None and latest.metadata.uid == uid:
                claim = latest
            stored = await self._write(claim, use, api)
            reservation.written[uid] = stored
            self._claims.assume(stored)
            self._claims.finish(uid)
        return stored

    async def _bind_extended(
        self,
        reservation: Reservation,
        pod: PodInfo,
        held: dict[str, deque[AllocationResult]],
        node_name: str,
        api: ApiHandle,
    ) -> ResourceClaim:
        """Create the claim for extended resources, write it, and tell the pod about it."""
        claim = reservation.extended
        if claim is None:
            raise ClaimWriteError(f"extended resource claim not found for node {node_name}")
        uid = claim.metadata.uid
        allocation = held[uid][0]
        try:
            unnamed = replace(claim, metadata=replace(claim.metadata, name="", uid=""))
            created = await api.create(
                unnamed, generate_name=f"{pod.pod.metadata.name}-extended-resources-"
            )
        except Exception as problem:
            raise ClaimWriteError(
                f"create claim for extended resources {claim_key(claim)}: {problem}"
            ) from problem
        reservation.written[uid] = created
        stored = await self._write(created, ClaimUse(pod_user(pod.pod), allocation), api)
        reservation.written[uid] = stored
        await self._until_known(stored, api)
        self._claims.finish(uid)
        if not reservation.mappings:
            raise ClaimWriteError(
                f"nil or empty request mappings, no update of pod {pod_key(pod.pod)}"
                " ExtendedResourceClaimStatus"
            )
        told = PodExtendedResourceClaimStatus(
            resource_claim_name=stored.metadata.name, request_mappings=reservation.mappings
        )
        extended = {"extendedResourceClaimStatus": msgspec.to_builtins(told)}
        await _patch_pod_status(api, pod.pod, extended)
        return stored

    async def _tell_statuses(
        self, pod: PodInfo, statuses: Sequence[NodeAllocatableResourceClaimStatus], api: ApiHandle
    ) -> None:
        try:
            told = msgspec.to_builtins(list(statuses))
            await _patch_pod_status(api, pod.pod, {"nodeAllocatableResourceClaimStatuses": told})
        except Exception as problem:
            what = f"updating pod {pod_key(pod.pod)} NodeAllocatableResourceClaimStatuses"
            raise ClaimWriteError(f"{what}: {problem}") from problem

    async def _until_known(self, claim: ResourceClaim, api: ApiHandle) -> None:
        """Wait for the watch to deliver a new claim; not getting it in time is no failure."""
        left_s = CREATED_TIMEOUT_S
        metadata = claim.metadata
        while self._claims.find(metadata.namespace, metadata.name) is None and left_s > 0:
            await api.pause(CREATED_CHECK_S)
            left_s -= CREATED_CHECK_S
        self._claims.assume(claim)

    async def _write(self, claim: ResourceClaim, use: ClaimUse, api: ApiHandle) -> ResourceClaim:
        async def attempt(current: ResourceClaim) -> ResourceClaim:
            return await self._write_once(current, use, api)

        return await _with_retries(claim, attempt, api)

    async def _write_once(
        self, claim: ResourceClaim, use: ClaimUse, api: ApiHandle
    ) -> ResourceClaim:
        key, user, allocation = claim_key(claim), use.user, use.allocation
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimWriteError(f"claim {key} got deleted in the meantime")
        if allocation is not None and use.shared and is_granted(claim, allocation):
            # Another member of the group was first.
            allocation = None
            if user in (claim.status.reserved_for or ()):
                return claim
        if allocation is not None:
            if claim.status.allocation is not None:
                raise ClaimWriteError(f"claim {key} got allocated elsewhere in the meantime")
            kept = protect_claim(claim)
            if kept is not claim:
                claim = await _say_write(
                    api.update(kept, base=claim), f"add finalizer to claim {key}"
                )
        what = "allocation and reservation" if allocation is not None else "reservation"
        wanted = reserve_claim(claim, user, allocation, self._clock(), stamped=self._stamped)
        writing = api.update(wanted, base=claim, subresource=STATUS)
        return await _say_write(writing, f"add {what} to claim {key}")

    async def _wait_for_devices(
        self, claims: list[ResourceClaim], pod: PodInfo, node_name: str, api: ApiHandle
    ) -> None:
        timeout_s = self._binding_timeout_s
        if timeout_s is None or not any(waiting_results(claim) for claim in claims):
            return
        await api.tell(
            pod,
            "BindingConditionsPending",
            "Scheduling",
            f"waiting for binding conditions for device on node {node_name}",
        )
        left_s = timeout_s
        while not self._are_ready(claims, timeout_s):
            if left_s <= 0:
                raise ClaimWriteError("device binding timeout: context deadline exceeded")
            await api.pause(min(READY_CHECK_S, left_s))
            left_s -= READY_CHECK_S

    def _are_ready(self, claims: list[ResourceClaim], timeout_s: float) -> bool:
        for claim in claims:
            latest = self._claims.find(claim.metadata.namespace, claim.metadata.name) or claim
            try:
                ready = is_ready(latest)
            except BindingFailed as problem:
                raise ClaimWriteError(str(problem)) from None
            if not ready:
                if is_overdue(latest, timeout_s, self._clock()):
                    raise ClaimWriteError(f"device binding timeout: claim={claim.metadata.name}")
                return False
        return True


async def _with_retries(
    claim: ResourceClaim,
    attempt: Callable[[ResourceClaim], Awaitable[ResourceClaim]],
    api: ApiHandle,
) -> ResourceClaim:
    """Try a write; on a conflict read the claim again, up to five tries in all."""
    for tries_left in range(CONFLICT_TRIES - 1, -1, -1):
        try:
            return await attempt(claim)
        except ObjectConflict:
            if not tries_left:
                raise
        await api.pause(CONFLICT_PAUSE_S)
        claim = await api.get(ResourceClaim, claim.metadata.name, claim.metadata.namespace)
    raise AssertionError("the last try returns or raises")


async def _say_write(write: Awaitable[ResourceClaim], what: str) -> ResourceClaim:
    """A write whose failure says what it was for."""
    try:
        return await write
    except ObjectConflict as problem:
        raise ObjectConflict(f"{what}: {problem}") from problem
    except Exception as problem:
        raise ClaimWriteError(f"{what}: {problem}") from problem
