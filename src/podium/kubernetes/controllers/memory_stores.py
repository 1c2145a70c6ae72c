"""Controllers run in memory: stores that are dictionaries, and a loop until nothing is left to do.

What an API server does to what controllers write is the caller's: it is given every action, and
puts what has come of it into the stores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, Controller, CreateAction, PatchAction
from podium.kubernetes.controllers.indexer import Indexer, Key
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import KindStore, Listener, PodStore, Stores
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.typed_objects import convert_object, convert_struct
from podium.kubernetes.patching import strategic_merge
from podium.kubernetes.resources.resource_types import PODS, ResourceType
from podium.kubernetes.rules.merge_patch import PatchType, merge
from podium.kubernetes.rules.timestamps import Moment
from podium.kubernetes.schema import schema_of

T = TypeVar("T", bound=KubeObject)
_MAX_PLANS: Final = 100
"""For one key; controllers need a handful until they agree."""


class MemoryStore(KindStore[T]):
    def __init__(self) -> None:
        super().__init__(Indexer())
        self._listeners: list[Listener[T]] = []

    def listen(self, listener: Listener[T]) -> None:
        self._listeners.append(listener)

    def put(self, obj: T) -> None:
        old = self.indexer.put(Key(*obj.metadata.key), obj)
        for listener in self._listeners:
            listener(old, obj)

    def drop(self, obj: T) -> None:
        old = self.indexer.delete(Key(*obj.metadata.key))
        if old is not None:
            for listener in self._listeners:
                listener(old, None)


class MemoryPodStore(MemoryStore[Pod], PodStore):
    """Pods."""


class MemoryStores(Stores):
    def __init__(self) -> None:
        self._stores: dict[ResourceType, KindStore[Any]] = {}

    @property
    def stores(self) -> Mapping[ResourceType, KindStore[Any]]:
        return self._stores

    @property
    def pods(self) -> PodStore:
        found = self._stores.get(PODS)
        if not isinstance(found, PodStore):
            found = self._stores[PODS] = MemoryPodStore()
        return found

    def store(self, resource: ResourceType, kind: type[T]) -> KindStore[T]:  # noqa: ARG002
        if resource not in self._stores:
            self._stores[resource] = MemoryStore()
        return self._stores[resource]


class ControllerLoop:
    """Controllers over stores, which wake them as something changes.

    What `carry_out` raises ends it, unless it is one of the `refusals`: then the plan's other
    creations are left out, as by a controller whose write a server has refused, and the key is
    looked at again when its objects change or somebody says so (`retry_refused`).
    """

    def __init__(
        self,
        controllers: Iterable[Controller],
        *,
        refusals: tuple[type[Exception], ...] = (),
        max_plans: int = _MAX_PLANS,
    ) -> None:
        self._running = list(controllers)
        self._refusals = refusals
        self._max_plans = max_plans
        self._due: dict[tuple[int, Any], None] = {}
        self._refused: dict[tuple[int, Any], None] = {}
        for place, controller in enumerate(self._running):
            controller.watch(_waker(self._due, place))

    def settle(self, carry_out: Callable[[Action], None], moment: Moment) -> None:
        """Run until nothing more is to be done.

        Time stands still meanwhile: what would be done later is left undone. Raises RuntimeError
        if controllers never agree, which is a mistake of theirs.
        """
        plans: Counter[tuple[int, Any]] = Counter()
        while self._due:
            place, key = next(iter(self._due))
            del self._due[place, key]
            plans[place, key] += 1
            if plans[place, key] > self._max_plans:
                raise RuntimeError(f"{self._running[place].name} comes to no end with {key}")
            plan = self._running[place].plan(key, moment)
            if not self._execute(plan.actions, carry_out):
                self._refused[place, key] = None
            elif plan.again_after_s == 0.0:
                self._due[place, key] = None

    def due_keys(self) -> list[Any]:
        """What is to be looked at, of whichever controller."""
        return [key for _, key in self._due]

    def retry_refused(self) -> None:
        """Let controllers look again whose writes were refused."""
        self._due |= self._refused
        self._refused.clear()

    def _execute(self, actions: Iterable[Action], carry_out: Callable[[Action], None]) -> bool:
        """Whether everything was accepted."""
        is_refused = False
        for action in actions:
            if is_refused and isinstance(action, CreateAction):
                continue
            try:
                carry_out(action)
            except self._refusals:
                is_refused = True
        return not is_refused


def _waker(due: dict[tuple[int, Any], None], place: int) -> Callable[[Any], None]:
    def wake(key: Any) -> None:
        due[place, key] = None

    return wake


def apply_patch(obj: T, patch: PatchAction) -> T:
    """The object that a server would make of it; a patch of a subresource changes the status."""
    status = getattr(obj, "status", None)
    if not patch.subresource or status is None:
        changed = convert_object(_merge_patch(obj, patch), type(obj), strict=False)
        return changed if status is None else _with(changed, status=status)
    # Only the status is looked at: it is written again and again, and the rest may be large.
    merged = _merge_patch(_StatusOnly(status), patch).get("status") or {}
    return _with(obj, status=convert_struct(merged, type(status)))


class _StatusOnly(msgspec.Struct):
    status: msgspec.Struct


def _merge_patch(obj: msgspec.Struct, patch: PatchAction) -> JsonObject:
    document: JsonObject = msgspec.json.decode(msgspec.json.encode(obj))
    if patch.kind is not PatchType.STRATEGIC:
        return merge(document, patch.body)
    resource = patch.resource
    schema = schema_of(resource.group, resource.version, resource.kind)
    return strategic_merge.apply(document, patch.body, schema)


def _with(obj: T, **fields: object) -> T:
    changed: T = replace(obj, **fields)
    return changed
