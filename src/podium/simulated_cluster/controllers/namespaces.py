"""Emptying namespaces that are to be deleted, and letting them go.

Everything of every kind in a namespace is deleted, whoever made it; when nothing is left, the
finalizer that the server has put on the namespace is taken away (`pkg/controller/namespace`).
"""

from typing import Final

import msgspec

from podium.api.meta import KubeObject
from podium.client import DeleteOptions, KubeClient, ResourceType, Selection
from podium.client.api_errors import NotFound
from podium.client.resources import NAMESPACES
from podium.simulated_cluster.control import Wake
from podium.simulated_cluster.informers import Informers
from podium.simulated_cluster.served_kinds import ServedKinds

FINALIZER: Final = "kubernetes"
_AGAIN_S: Final = 1.0
_NEEDED: Final = frozenset({"list", "deletecollection"})
_BACKGROUND: Final = DeleteOptions(propagation="Background")


class Namespaces:
    """Keys are names of namespaces (a `Synchroniser`)."""

    name = "namespaces"

    def __init__(self, informers: Informers, client: KubeClient, kinds: ServedKinds) -> None:
        self._namespaces = informers.namespaces
        self._client = client
        self._kinds = kinds

    def watch(self, wake: Wake) -> None:
        def namespace_changed(_: KubeObject | None, new: KubeObject | None) -> None:
            if new is not None and new.metadata.is_terminating:
                wake(new.name)

        self._namespaces.listen(namespace_changed)

    async def sync(self, key: str) -> float | None:
        namespace = self._namespaces.get("", key)
        if namespace is None or not namespace.metadata.is_terminating:
            return None
        left = 0
        for kind in await self._kinds.all():
            if kind.resource.namespaced and kind.verbs >= _NEEDED:
                left += await self._emptied(key, kind.resource)
        if left:
            return _AGAIN_S
        await self._release(key)
        return None

    async def _emptied(self, namespace: str, resource: ResourceType) -> int:
        """How much of a kind is still there after its deletion was asked for; 1 is enough."""
        selection = Selection(namespace=namespace)
        page = await self._client.list_page(resource, selection, (("limit", "1"),))
        if not page.items:
            return 0
        await self._client.delete_collection(resource, selection, _BACKGROUND)
        page = await self._client.list_page(resource, selection, (("limit", "1"),))
        return len(page.items)

    async def _release(self, name: str) -> None:
        try:
            written = msgspec.json.decode(await self._client.get(NAMESPACES, name))
            spec = written.setdefault("spec", {})
            spec["finalizers"] = [f for f in spec.get("finalizers") or () if f != FINALIZER]
            await self._client.update(NAMESPACES, name, written, subresource="finalize")
        except NotFound:
            return
