"""The API server in miniature, with volumes and devices: every write checked, none instant.

Objects have versions, and a write for an older one is refused. A binding can stop at each call that
it makes, before the server has done it and before the answer is there; what happens meanwhile is
the test's. Writes can be refused, conflict, or (those of volumes) be done and reported as failed.

What no scheduler may do is noted (`wrong`) where the write arrives: taking a volume that belongs to
another claim, a device that another claim has, or binding a pod before its claims are its own.
"""

from collections.abc import Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from types import coroutine
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace
from support.scheduler.engine.small_world import ApiError, SmallWorld

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.merge_patch import merge
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import PluginWrite, Request
from podium.scheduler.framework.handle import (
    ApiCallFailed,
    DeferredWrite,
    ObjectConflict,
    ObjectNotFound,
)
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.dynamic_resources.attempt_state import ClaimsState
from podium.scheduler.plugins.dynamic_resources.claim_state import is_reserved_for
from podium.scheduler.plugins.dynamic_resources.claim_writing import ClearClaimStatuses
from podium.scheduler.plugins.volume_binding.plugin import VolumeState
from podium.scheduler.plugins.volume_binding.pod_volumes import is_fully_bound

K = TypeVar("K", bound=KubeStruct)
ObjectT = TypeVar("ObjectT", bound=KubeObject)
Run = Coroutine[Any, Any, Status | None]

DeviceName = tuple[str, str, str]
MAX_CALLS = 400


@coroutine
def meanwhile() -> Generator[None, None, None]:
    """Let other things happen."""
    yield


def metadata_of(obj: KubeStruct) -> ObjectMeta:
    found = getattr(obj, "metadata", None)
    assert isinstance(found, ObjectMeta)
    return found


class StorageWorld(SmallWorld):
    """`trouble` is what becomes of the next write: "", "refused", "conflict" or "timeout"."""

    trouble = ""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.writes: list[DeferredWrite] = []
        self.wrong: list[str] = []
        self._runs: dict[int, Run] = {}
        self._current: Binding | None = None
        self._is_deferred = False

    # objects

    def all(self, kind: type[K]) -> Iterator[K]:
        for obj in list(self.objects.values()):
            if isinstance(obj, kind):
                yield obj

    def find(self, kind: type[K], key: str) -> K | None:
        found = self.objects.get(key)
        return found if isinstance(found, kind) else None

    def store(self, obj: K) -> K:
        """Store an object as a new version of itself."""
        self._version += 1
        version = {"resource_version": str(self._version)}
        stored: K = replace(obj, metadata=replace(metadata_of(obj), **version))
        super().put_object(stored)
        return stored

    def put_object(self, obj: KubeStruct) -> None:
        self.store(obj)

    def remove(self, obj: KubeStruct) -> None:
        self.remove_object(object_key(metadata_of(obj)))

    def _current_version(self, obj: K) -> K:
        wanted = metadata_of(obj)
        stored = self.find(type(obj), object_key(wanted))
        if stored is None or metadata_of(stored).uid != wanted.uid:
            raise ObjectNotFound(f"{object_key(wanted)} not found")
        if metadata_of(stored).resource_version != wanted.resource_version:
            raise ObjectConflict(f"{object_key(wanted)} has been modified")
        return stored

    # the API handle: volumes

    async def pause(self, seconds: float) -> None:
        await meanwhile()

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """Nobody reads events."""

    async def first_failure(self, work: Sequence[Run]) -> Status | None:
        """All of it at once, in turns."""
        left = list(work)
        while left:
            for run in list(left):
                try:
                    run.send(None)
                except StopIteration as done:
                    left.remove(run)
                    if done.value is not None:
                        for other in left:
                            other.close()
                        failure: Status = done.value
                        return failure
            await meanwhile()
        return None

    async def _arrive(self) -> bool:
        """A call on its way; true if its answer will be lost."""
        await meanwhile()
        trouble, self.trouble = self.trouble, ""
        if trouble == "refused":
            raise ApiError("refused")
        if trouble == "conflict":
            raise ObjectConflict("conflict")
        return trouble == "timeout"

    async def _answer(self, stored: K, timed_out: bool = False) -> K:
        await meanwhile()
        if timed_out:
            raise ApiError("timeout")
        return stored

    # the API handle: objects

    async def get(self, kind: type[ObjectT], name: str, namespace: str = "") -> ObjectT:
        await self._arrive()
        found: KubeStruct | None = None
        if issubclass(kind, Pod):
            found = self.pods.get(f"{namespace}/{name}")
        else:
            found = self.find(kind, f"{namespace}/{name}")
        if not isinstance(found, kind):
            raise ObjectNotFound(f'{kind.__name__} "{name}" not found')
        return await self._answer(found)

    async def create(self, obj: ObjectT, *, generate_name: str = "") -> ObjectT:
        await self._arrive()
        name = f"{generate_name}{self._version}"
        metadata = replace(obj.metadata, name=name, uid=f"uid-{name}")
        return await self._answer(self.store(replace(obj, metadata=metadata)))

    async def update(
        self, obj: ObjectT, *, base: ObjectT | None = None, subresource: str = ""
    ) -> ObjectT:
        # An allocation whose answer is lost can be given to others before the watch shows it; so
        # it is upstream. Here answers to the status of claims are late, never lost.
        timed_out = await self._arrive() and not isinstance(obj, ResourceClaim)
        stored = self._current_version(obj)
        if subresource:
            return await self._answer(self.store(self._with_status(stored, obj)), timed_out)
        metadata = replace(
            stored.metadata,
            annotations=obj.metadata.annotations,
            finalizers=obj.metadata.finalizers,
        )
        written: ObjectT = replace(stored, metadata=metadata)
        if isinstance(stored, PersistentVolume) and isinstance(obj, PersistentVolume):
            held, wanted = stored.spec.claim_ref, obj.spec.claim_ref
            taken = held is not None and (wanted is None or held.uid not in ("", wanted.uid))
            self._note_if(taken, f"{obj.metadata.name} belongs to another claim")
            written = replace(written, spec=replace(stored.spec, claim_ref=wanted))
        elif isinstance(stored, PersistentVolumeClaim):
            self._note_if(bool(stored.spec.volume_name), f"{obj.metadata.name} has a volume")
        return await self._answer(self.store(written), timed_out)

    def _with_status(self, stored: ObjectT, wanted: ObjectT) -> ObjectT:
        assert isinstance(stored, ResourceClaim)
        assert isinstance(wanted, ResourceClaim)
        before, after = stored.status.allocation, wanted.status.allocation
        taken_back = after is None and self._is_deferred
        replaced = before is not None and after != before and not taken_back
        self._note_if(replaced, f"the allocation of {wanted.metadata.name} is replaced by another")
        return replace(stored, status=wanted.status)

    async def patch(
        self,
        kind: type[ObjectT],
        name: str,
        patch: Mapping[str, Any],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> ObjectT:
        """Of the status of pods; the rest is not asked for here."""
        assert (kind, subresource) == (Pod, "status")
        await self._arrive()
        pod = self.pods.get(f"{namespace}/{name}")
        if pod is None or pod.metadata.uid != patch["metadata"]["uid"]:
            raise ObjectNotFound(f'pods "{name}" not found')
        if not pod.spec.node_name:
            merged = merge(msgspec.to_builtins(pod), patch)
            status = convert_object(merged, Pod, strict=False).status
            self.put_pod(replace(pod, status=status))
        return kind()

    async def delete(self, obj: KubeObject) -> None:
        await self._arrive()
        self.remove(self._current_version(obj))

    def devices_held_twice(self) -> list[DeviceName]:
        """Devices that belong to a claim and in any way to another one."""
        whole: dict[DeviceName, int] = {}
        shared: set[DeviceName] = set()
        for claim in self.all(ResourceClaim):
            allocation = claim.status.allocation
            for result in (allocation.devices.results if allocation else None) or ():
                device = (result.driver, result.pool, result.device)
                if result.share_id is not None:
                    shared.add(device)
                elif not result.admin_access:
                    whole[device] = whole.get(device, 0) + 1
        return [device for device, count in whole.items() if count > 1 or device in shared]

    # bindings

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        await meanwhile()
        stored = self.pods.get(pod.key)
        await super().bind(pod, node_name)
        if stored is not None and self._current is not None:
            self._is_ready(stored, self._current)

    def _is_ready(self, pod: Pod, binding: Binding) -> None:
        """What was planned for a pod's claims has come true, for those that are still there."""
        name, states = pod.metadata.name, binding.cycle.states
        volumes, devices = states.get("VolumeBinding"), states.get("DynamicResources")
        if isinstance(volumes, VolumeState) and volumes.claims is not None:
            for wanted in (*volumes.claims.bound, *volumes.claims.delayed):
                claim = self.find(PersistentVolumeClaim, object_key(wanted.metadata))
                if claim is not None and claim.metadata.uid == wanted.metadata.uid:
                    self._note_if(not is_fully_bound(claim), f"{name} runs without its volume")
        if isinstance(devices, ClaimsState):
            for own in devices.claims:
                held = self.find(ResourceClaim, object_key(own.claim.metadata))
                ready = held is not None and held.status.allocation and is_reserved_for(held, pod)
                self._note_if(not ready, f"{name} runs without its devices")

    def _note_if(self, wrong: bool, what: str) -> None:
        """Plugins that fail are forgiven, so nothing can be asserted where they call."""
        if wrong:
            self.wrong.append(what)

    def step_binding(self, index: int) -> bool:
        """Let a binding go on to its next call; true if it has ended, which is then reported."""
        binding = self.bindings[index]
        run = self._runs.get(id(binding))
        if run is None:
            run = self._runs[id(binding)] = binding.run(self)
        self._current = binding
        try:
            run.send(None)
        except StopIteration as done:
            self.bindings.remove(binding)
            del self._runs[id(binding)]
            self.engine.bindings.finish_binding(binding, done.value)
            self.collect()
            return True
        finally:
            self._current = None
        return False

    def finish_binding(
        self,
        index: int,
        *,
        refusal: Exception | None = None,
        timeout: Exception | None = None,
        heard_first: bool = False,
    ) -> Status | None:
        """Let a binding go on to its end; it hears of all that happens if so wanted."""
        binding = self.bindings[index]
        self.refusal, self.timeout = refusal, timeout
        for _ in range(MAX_CALLS):
            if self.step_binding(self.bindings.index(binding)):
                break
            if heard_first or (refusal is None and timeout is None):
                self.act()
                self.deliver()
        else:
            raise AssertionError("a binding never ends")
        self.refusal = self.timeout = None
        return None

    def act(self) -> None:
        """What controllers do while a binding waits for them."""

    # what plugins ask for

    def _carry_out(self, request: Request) -> None:
        if isinstance(request, PluginWrite):
            assert isinstance(request.write, DeferredWrite)
            self.writes.append(request.write)
            if isinstance(request.write, ClearClaimStatuses):
                self.finish_write(-1)
        else:
            super()._carry_out(request)

    def finish_write(self, index: int, *, fails: bool = False) -> None:
        """Carry out a plugin's write, or let it fail, of which nobody hears."""
        write = self.writes.pop(index)
        if fails:
            return
        trouble, self.trouble, self._is_deferred = self.trouble, "", True
        run = write.carry_out(self)
        with suppress(StopIteration, ApiCallFailed):
            while True:
                run.send(None)
        self.trouble, self._is_deferred = trouble, False
