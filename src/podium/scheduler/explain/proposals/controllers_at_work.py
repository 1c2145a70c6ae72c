"""The controllers of a workload and the scheduler at work in turns, on a copy in memory.

What is carried out is what the printed commands write: a patch of the controllers' object, pods
that are deleted, an object that is made anew. Then the controllers of the simulated cluster
(`kubernetes.controllers`) plan, the server admits or refuses what they make, the engine places the
pods, and so on until nobody has anything left to do. So strategies, budgets of a roll-out, quotas
and limits count without being worked out here again.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Final, assert_never

from msgspec.structs import replace

from podium.golang.errors import ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, CreateAction, DeleteAction, PatchAction
from podium.kubernetes.controllers.deployments import REVISION
from podium.kubernetes.controllers.memory_stores import ControllerLoop, apply_patch
from podium.kubernetes.controllers.provisioning import (
    bind_claim,
    can_provision,
    provisioned_volume,
)
from podium.kubernetes.controllers.stores import KINDS
from podium.kubernetes.controllers.workloads import Deployment, ReplicaSet
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.resources.resource_types import (
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    ResourceType,
)
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.timestamps import Moment
from podium.scheduler.engine.state import place_pod
from podium.scheduler.explain.proposals.admitting import Admitting
from podium.scheduler.explain.proposals.workload_copy import (
    WorkloadCopy,
    as_controllers_see,
    made_anew,
)

_NO_TIME: Final = Moment(0.0, 0.0)
_MAX_PLANS: Final = 20_000
"""For one object; a roll-out of thousands of pods one by one is that long."""
MAX_LOOKS: Final = 100_000
"""Rounds times pods; a roll-out that is longer is left at what has been seen by then."""


class ControllersAtWork:
    """`place` asks the scheduler for a node, "" if there is none; `leave` frees the places of pods;
    `put` makes objects known to the scheduler."""

    def __init__(
        self,
        copy: WorkloadCopy,
        pods: Iterable[Pod],
        server: Admitting,
        *,
        place: Callable[[Pod], str],
        leave: Callable[[Pod], None],
        put: Callable[[tuple[KubeObject, ...]], None],
        find_class: Callable[[str], StorageClass | None],
    ) -> None:
        self._copy = copy
        self._server = server
        self._place = place
        self._leave = leave
        self._put = put
        self._find_class = find_class
        self._pods: dict[tuple[str, str], Pod] = {}
        self._waiting: dict[tuple[str, str], Pod] = {}
        self._made = 0
        self._is_freed = False
        self.is_cut_short = False
        self.restarted = 0
        """Pods that had a node and were deleted."""
        for pod in pods:
            self._pods[pod.metadata.key] = pod
            if not pod.spec.node_name:
                self._waiting[pod.metadata.key] = pod
        self._loop = ControllerLoop(
            copy.controllers,
            refusals=(ObjectError,),
            max_plans=_MAX_PLANS,
        )

    # --- what commands do ---------------------------------------------------------------------

    def begin(self, change: JsonObject | None = None) -> None:
        """The controllers' object is there, patched with what a command says."""
        copy = self._copy
        if change is not None:
            copy.controlled = self._apply_change(change)
        store: Any = copy.stores.store_of(copy.resource)
        store.put(copy.controlled)

    def make_anew(self, change: JsonObject) -> None:
        """A Job is deleted with its pods and created again."""
        for pod in list(self._copy.stores.pods.all()):
            self._delete_pod(pod.metadata.key)
        changed: Any = self._apply_change(change)
        self._copy.controlled = made_anew(changed)
        self.begin()

    def delete(self, pods: Iterable[Pod]) -> None:
        """Somebody deletes pods, those that are still there."""
        self._loop.settle(self._carry_out, _NO_TIME)
        for pod in pods:
            self._delete_pod(pod.metadata.key)

    def change_waiting(self, change: Callable[[Pod], Pod]) -> None:
        for key, pod in self._waiting.items():
            self._waiting[key] = self._pods[key] = change(pod)

    def evict(self, pod: Pod) -> None:
        """The scheduler has evicted a pod, perhaps one of these."""
        if pod.metadata.key in self._pods:
            self._drop(pod.metadata.key)

    # --- what comes of it ---------------------------------------------------------------------

    def settle(self, first: Pod | None = None) -> None:
        """Until nobody has anything left to do; of the pods that wait, `first` is tried first."""
        if first is not None and first.metadata.key in self._waiting:
            rest = self._waiting
            key = first.metadata.key
            self._waiting = {key: rest[key], **rest}
        looks = 0
        while True:
            self._loop.settle(self._carry_out, _NO_TIME)
            looks += len(self._pods)
            self.is_cut_short = looks > MAX_LOOKS
            if self._place_waiting() and not self.is_cut_short:
                continue
            if not self._is_freed or self.is_cut_short:
                return
            self._is_freed = False
            self._loop.retry_refused()

    @property
    def with_node(self) -> int:
        return sum(
            pod.is_active and bool(pod.spec.node_name) for pod in self._copy.stores.pods.all()
        )

    def has_node(self, name: str) -> bool:
        """Whether a pod of a name has a node."""
        found = self._copy.stores.pods.get(self._copy.controlled.namespace, name)
        return found is not None and bool(found.spec.node_name)

    @property
    def taken(self) -> set[str]:
        """The nodes that have a pod."""
        return {pod.spec.node_name for pod in self._copy.stores.pods.all()}

    @property
    def is_rolled_out(self) -> bool:
        """Whether a Deployment asks for no pods of an earlier template any more."""
        return not self._old_sets

    @property
    def has_old_pods(self) -> bool:
        """Whether a pod of an earlier template of a Deployment has a node."""
        return any(each.status.available_replicas for each in self._old_sets)

    @property
    def _old_sets(self) -> list[ReplicaSet]:
        deployment = self._copy.controlled
        if not isinstance(deployment, Deployment) or deployment.spec.paused:
            return []
        wanted = [each for each in self._copy.stores.replica_sets.all() if each.wanted]
        newest = max(
            wanted, key=lambda each: int(each.metadata.annotation(REVISION) or 0), default=None
        )
        return [each for each in wanted if each is not newest]

    # --- single steps -------------------------------------------------------------------------

    def _place_waiting(self) -> bool:
        """Whether a pod has got a node. What is like one that has got none gets none either."""
        found = False
        for key, pod in list(self._waiting.items()):
            if key not in self._waiting:
                continue  # it went meanwhile
            node = self._place(pod)
            if not node:
                continue
            found = True
            del self._waiting[key]
            self._pods[key] = place_pod(pod, node)
            seen = self._copy.stores.pods.find(key)
            changed = as_controllers_see(pod, node)
            if seen is not None:
                changed = replace(changed, metadata=seen.metadata)
            self._copy.stores.pods.put(changed)
        return found

    def _apply_change(self, change: JsonObject) -> Any:
        copy = self._copy
        metadata = copy.controlled.metadata
        patch = PatchAction(
            copy.resource, metadata.namespace, metadata.name, change, "", PatchType.STRATEGIC
        )
        return apply_patch(copy.controlled, patch)

    def _carry_out(self, action: Action) -> None:
        stores = self._copy.stores
        match action:
            case CreateAction():
                self._create(action.resource, action.namespace, action.body)
            case PatchAction():
                store = stores.store_of(action.resource)
                obj = store.get(action.namespace, action.name)
                changed = apply_patch(obj, action) if obj is not None else None
                if changed is not None and changed != obj:
                    store.put(changed)
                    if action.resource == self._copy.resource:
                        self._copy.controlled = changed
            case DeleteAction():
                if action.resource == PODS:
                    self._delete_pod((action.namespace, action.name))
                    return
                store = stores.store_of(action.resource)
                obj = store.get(action.namespace, action.name)
                if obj is not None:
                    store.drop(obj)
            case _:
                assert_never(action)

    def _create(self, resource: ResourceType, namespace: str, written: JsonObject) -> None:
        if resource == EVENTS:
            return
        metadata = {**written["metadata"], "namespace": namespace}
        self._made += 1
        name = metadata.pop("generateName", None)
        if name is not None:
            metadata["name"] = f"{name}made-{self._made}"
        body = {**written, "metadata": metadata}
        store = self._copy.stores.store_of(resource)
        if store.get(namespace, metadata["name"]) is not None:
            return
        if resource == PODS:
            self._create_pod(body)
            return
        if resource == PERSISTENT_VOLUME_CLAIMS:
            body = self._server.store(deepcopy(body))
        made: Any = convert_object(body, KINDS[resource], strict=False)
        made = replace(made, metadata=replace(made.metadata, uid=f"made-{self._made}"))
        store.put(made)
        if isinstance(made, PersistentVolumeClaim):
            self._put(self._provision_claim(made))

    def _create_pod(self, body: JsonObject) -> None:
        if self._copy.is_whole:
            pod = self._server.create_pod(body)
        else:
            pod = self._server.create_in_part(deepcopy(body), Pod)  # its template is shared
        pod = replace(pod, metadata=replace(pod.metadata, uid=f"made-{self._made}"))
        self._pods[pod.metadata.key] = self._waiting[pod.metadata.key] = pod
        self._copy.stores.pods.put(as_controllers_see(pod))

    def _provision_claim(self, claim: PersistentVolumeClaim) -> tuple[KubeObject, ...]:
        """A claim whose class binds at once, with the volume that is made for it."""
        found = self._find_class(claim.spec.storage_class_name or "")
        if found is None or found.volume_binding_mode != "Immediate" or not can_provision(found):
            return (claim,)
        body = provisioned_volume(claim, found, None, None)
        return bind_claim(claim, convert_object(body, PersistentVolume, strict=False))

    def _delete_pod(self, key: tuple[str, str]) -> None:
        pod = self._pods.get(key)
        if pod is None:
            return
        if pod.spec.node_name:
            self._leave(pod)
            self.restarted += 1
        self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        pod = self._pods.pop(key)
        self._waiting.pop(key, None)
        self._is_freed = True
        self._server.remove(pod)
        seen = self._copy.stores.pods.find(key)
        if seen is not None:
            self._copy.stores.pods.drop(seen)
