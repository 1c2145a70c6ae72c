"""What plugins of the binding cycle may have done on the API server; the driver carries it out.

Objects go in and come out typed, whatever their kind. A typed object holds the fields that
scheduling reads: `update` writes what was changed in it and leaves fields alone that it does not
know. It is one protocol for all plugins, those for volumes and devices included. Every driver has a
handle of its own: a client, or the cluster in memory (`offline/driver/in_memory_api.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar, runtime_checkable

from podium.golang.json_values import ReadOnlyJson
from podium.kubernetes.kinds.meta import KubeObject
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.extender_calls import BindAnswer, BindCall, CallFailed
from podium.scheduler.framework.status import Status

K = TypeVar("K", bound=KubeObject)


class ApiCallFailed(RuntimeError):
    """The API server could not be asked, or said no."""


class ObjectNotFound(ApiCallFailed):
    """There is no such object, or no such kind."""


class ObjectExists(ApiCallFailed):
    """There is an object of that name already."""


class ObjectConflict(ApiCallFailed):
    """The object has changed since it was read: read it again and decide anew."""


class ApiHandle(Protocol):
    """All calls raise ApiCallFailed, or the one of its kinds that says why."""

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """Put a pod on a node."""

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """Record a Normal event about a pod, such as ("Provisioning", "Binding", "...")."""

    async def pause(self, seconds: float) -> None:
        """Let time pass; nothing else in the scheduler waits for it."""

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        """An object as it is stored now. `Handle.get` has what was seen last and does not wait."""
        ...

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        """A new object, as it is stored then; `generate_name` has a name made that starts so."""
        ...

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        """Write what was changed in an object that was read before. The object's resource version,
        if it has one, must still be the stored one; its status is written by
        `subresource="status"` and by nothing else. With the `base` that was changed, nobody has to
        read the object first, and it must be the stored one in any case."""
        ...

    async def patch(
        self,
        kind: type[K],
        name: str,
        patch: Mapping[str, ReadOnlyJson],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> K:
        """Change an object by a JSON merge patch; fields are named as in YAML. A patch of a pod's
        status is tried again where that may help."""
        ...

    async def delete(self, obj: KubeObject) -> None:
        """Delete an object, unless another has taken its name since."""

    def take_turn(self, uid: str) -> AbstractAsyncContextManager[None]:
        """Wait until nobody else of this scheduler writes to an object; pods that share one would
        otherwise run into each other's versions."""
        ...


class DeferredWrite(ABC):
    """A write that a plugin asks for where it must not wait, by `cycle.writes`: after a failed
    attempt, or when a node is given back. The driver carries it out beside everything else, and
    nobody waits for the outcome: look before you write, as the cluster may have moved on."""

    @abstractmethod
    async def carry_out(self, api: ApiHandle) -> None:
        """Write it; ApiCallFailed is told in the log."""


@runtime_checkable
class ConcurrentApi(Protocol):
    """A handle under which several pieces of work can wait at the same time.

    Without it the members of a PreBind group take turns, which is right where nothing waits.
    """

    async def first_failure(
        self, work: Sequence[Coroutine[object, object, Status | None]]
    ) -> Status | None:
        """Run all of it together; the first failure ends the rest and is the answer."""
        ...


@runtime_checkable
class ExtenderApi(Protocol):
    """A handle that can ask an extender to bind. Engines with extenders need no other."""

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed: ...
