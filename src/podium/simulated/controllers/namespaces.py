"""Emptying namespaces that are to be deleted, and what these say of it meanwhile.

Everything of every kind in a namespace is deleted, whoever made it: the pods first, and the rest
when they are gone. When nothing is left, the finalizer that the server has put on the namespace is
taken away (`pkg/controller/namespace`).

What a namespace on its way out says of its deletion: what failed, what is left, what holds it.
(`pkg/controller/namespace/deletion/status_condition_utils.go`)
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from podium.client import DeleteOptions, KubeClient, PatchType, ResourceType, Selection
from podium.client.api_errors import ApiError, NotFound
from podium.client.resources import NAMESPACES, PODS
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.objects import changed_condition
from podium.kubernetes.kinds.meta import Condition, KubeObject, KubeStruct
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.clock import ClusterClock
from podium.simulated.informers import DiscoveredKinds, Informers

_FAILURE: Final = "NamespaceDeletionContentFailure"
_REMAINING: Final = "NamespaceContentRemaining"
_FINALIZERS: Final = "NamespaceFinalizersRemaining"
_ALL_IS_WELL: Final = {
    "NamespaceDeletionDiscoveryFailure": (
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    _FAILURE: (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    _REMAINING: ("ContentRemoved", "All content successfully removed"),
    _FINALIZERS: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


@dataclass(slots=True)
class NamespaceContents:
    """What was found in a namespace after everything was told to go."""

    left: Counter[str] = field(default_factory=Counter)
    """By kind, as conditions name them."""
    finalizers: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, resource: ResourceType, finalizers: Sequence[Sequence[str]]) -> None:
        """Objects of a kind that are still there, by what holds each of them."""
        if finalizers:
            self.left[f"{resource.plural}.{resource.group}"] += len(finalizers)
            self.finalizers.update(each for held in finalizers for each in held)


def deletion_conditions(
    present: tuple[Condition, ...] | None, contents: NamespaceContents, moment: Moment
) -> list[JsonObject]:
    """The conditions that have to be written."""
    trouble: dict[str, tuple[str, str]] = {}
    if contents.failures:
        told = ", ".join(sorted(contents.failures))
        count = len(contents.failures)
        message = f"Failed to delete all resource types, {count} remaining: {told}"
        trouble[_FAILURE] = ("ContentDeletionFailed", message)
    if contents.left:
        told = _tell_counts(contents.left, "{} has {} resource instances")
        trouble[_REMAINING] = ("SomeResourcesRemain", f"Some resources are remaining: {told}")
    if contents.finalizers:
        told = _tell_counts(contents.finalizers, "{} in {} resource instances")
        message = f"Some content in the namespace has finalizers remaining: {told}"
        trouble[_FINALIZERS] = ("SomeFinalizersRemain", message)
    found = [
        changed_condition(present, moment, kind, str(kind in trouble), *trouble.get(kind, well))
        for kind, well in _ALL_IS_WELL.items()
    ]
    return [each for each in found if each is not None]


def _tell_counts(counts: Counter[str], form: str) -> str:
    return ", ".join(sorted(form.format(*each) for each in counts.items()))


FINALIZER: Final = "kubernetes"
_AGAIN_S: Final = 1.0
_NEEDED: Final = frozenset({"list", "deletecollection"})
_BACKGROUND: Final = DeleteOptions(propagation="Background")


class _Status(KubeStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class _Namespace(KubeObject, frozen=True):
    status: _Status = _Status()


_NAMESPACES: Final = msgspec.json.Decoder(_Namespace)
_OBJECTS: Final = msgspec.json.Decoder(KubeObject)


class Namespaces:
    """Keys are names of namespaces (a `Synchroniser`)."""

    name = "namespaces"

    def __init__(
        self, informers: Informers, client: KubeClient, kinds: DiscoveredKinds, clock: ClusterClock
    ) -> None:
        self._namespaces = informers.namespaces
        self._client = client
        self._kinds = kinds
        self._clock = clock

    def watch(self, wake: Wake) -> None:
        def namespace_changed(_: KubeObject | None, new: KubeObject | None) -> None:
            if new is not None and new.metadata.is_terminating:
                wake(new.name)

        self._namespaces.listen(namespace_changed)

    async def sync(self, key: str) -> float | None:
        namespace = self._namespaces.get("", key)
        if namespace is None or not namespace.metadata.is_terminating:
            return None
        pods = await self._empty_collection(key, PODS)
        if pods:
            # upstream: what is left is not told before the pods are gone.
            await self._tell(key, NamespaceContents())
            return _AGAIN_S
        contents, problem = await self._delete_contents(key)
        if contents.left or contents.failures:
            await self._tell(key, contents)
        if problem is not None:
            raise problem
        if contents.left:
            return _AGAIN_S
        await self._release(key)
        return None

    async def _delete_contents(self, namespace: str) -> tuple[NamespaceContents, ApiError | None]:
        """What is still there, and the first of the problems."""
        contents, problem = NamespaceContents(), None
        for kind in await self._kinds.all():
            if not kind.resource.namespaced or not kind.verbs >= _NEEDED:
                continue
            try:
                contents.add(kind.resource, await self._empty_collection(namespace, kind.resource))
            except ApiError as refusal:
                contents.failures.append(str(refusal))
                problem = problem or refusal
        return contents, problem

    async def _empty_collection(
        self, namespace: str, resource: ResourceType
    ) -> list[tuple[str, ...]]:
        """The finalizers of each object that is still there after its deletion was requested."""
        selection = Selection(namespace=namespace)
        page = await self._client.list_page(resource, selection, (("limit", "1"),))
        if not page.items:
            return []
        await self._client.delete_collection(resource, selection, _BACKGROUND)
        page = await self._client.list(resource, selection)
        return [_OBJECTS.decode(item).metadata.finalizers or () for item in page.items]

    async def _tell(self, name: str, contents: NamespaceContents) -> None:
        try:
            found = _NAMESPACES.decode(await self._client.get(NAMESPACES, name))
            conditions = deletion_conditions(
                found.status.conditions, contents, self._clock.moment()
            )
            if conditions:
                await self._client.patch(
                    NAMESPACES,
                    name,
                    {"status": {"conditions": conditions}},
                    kind=PatchType.STRATEGIC,
                    subresource="status",
                )
        except NotFound:
            return

    async def _release(self, name: str) -> None:
        try:
            written = msgspec.json.decode(await self._client.get(NAMESPACES, name))
            spec = written.setdefault("spec", {})
            spec["finalizers"] = [f for f in spec.get("finalizers") or () if f != FINALIZER]
            await self._client.update(NAMESPACES, name, written, subresource="finalize")
        except NotFound:
            return
