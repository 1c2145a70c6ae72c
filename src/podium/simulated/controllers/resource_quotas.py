"""Resource quotas: their status says what their namespace may have and what it has.

What would exceed a quota is refused by the API server; here is only counted, when something that
the quota limits changes, and every five minutes for kinds that are not followed
(`pkg/controller/resourcequota`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from podium.client import KubeClient, PatchType, ResourceType, Selection
from podium.client.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    SERVICES,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, Wake, status_patch
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.rules.quota_usage import Amounts, Counted, kinds_of, quota_usage
from podium.simulated.clock import ClusterClock
from podium.simulated.informers import DiscoveredKinds, Informers
from podium.simulated.request_executor import RequestExecutor

_RESYNC_S: Final = 300.0
_MEASURED: Final = (PODS, SERVICES, PERSISTENT_VOLUME_CLAIMS)
Contents = Mapping[Counted, Iterable[JsonObject]]


def decide(quota: ResourceQuota, contents: Contents, now_s: float) -> list[Action]:
    """`contents` are the objects of the namespace that the quota may count."""
    hard = quota.spec.hard or {}
    used = quota_usage(msgspec.to_builtins(quota.spec), contents, now_s)
    status = quota.status
    if (status.hard or {}) == hard and (status.used or {}) == used:
        return []
    written = {
        "hard": {**dict.fromkeys(status.hard or {}), **hard},
        "used": {**dict.fromkeys(status.used or {}), **used},
    }
    return [status_patch(RESOURCE_QUOTAS, quota, written, PatchType.MERGE)]


class ResourceQuotas:
    """Keys are the namespace and name of a quota (a `Synchroniser`)."""

    name = "resourcequotas"

    def __init__(
        self,
        informers: Informers,
        client: KubeClient,
        executor: RequestExecutor,
        kinds: DiscoveredKinds,
        clock: ClusterClock,
    ) -> None:
        self._informers = informers
        self._quotas = informers.quotas
        self._client = client
        self._executor = executor
        self._kinds = kinds
        self._clock = clock
        self._wake: Wake = lambda _: None
        self._followed: set[ResourceType] = set()

    def watch(self, wake: Wake) -> None:
        self._wake = wake

        def quota_changed(_: ResourceQuota | None, new: ResourceQuota | None) -> None:
            if new is not None:
                wake(new.metadata.key)

        self._quotas.listen(quota_changed)
        for resource in _MEASURED:
            self._follow(resource)

    def _follow(self, resource: ResourceType) -> None:
        if resource in self._followed:
            return
        self._followed.add(resource)

        def on_change(old: Any, new: Any) -> None:
            if old is not None and new is not None and _as_counted(old) == _as_counted(new):
                return
            kind = Counted(resource.group, resource.plural)
            for quota in self._quotas.in_namespace.of((new or old).metadata.namespace):
                if kind in kinds_of(quota.spec.hard or ()):
                    self._wake(quota.metadata.key)

        self._informers.store_of(resource).listen(on_change)

    async def sync(self, key: tuple[str, str]) -> float | None:
        quota = self._quotas.find(key)
        if quota is None or quota.metadata.is_terminating:
            return None
        served = {
            Counted(each.resource.group, each.resource.plural): each.resource
            for each in await self._kinds.all()
        }
        contents: dict[Counted, list[JsonObject]] = {}
        for kind in kinds_of(quota.spec.hard or ()):
            if kind in served:
                contents[kind] = await self._contents(served[kind], key[0])
        actions = decide(quota, contents, self._clock.moment().wall_s)
        await self._executor.execute(actions)
        return _RESYNC_S

    async def _contents(self, resource: ResourceType, namespace: str) -> list[JsonObject]:
        """Objects as plain values; those of kinds that are only counted are empty."""
        if resource in self._informers.stores:
            self._follow(resource)
            found = self._informers.store_of(resource).in_namespace.of(namespace)
            if resource in _MEASURED:
                return [msgspec.to_builtins(obj) for obj in found]
            return [{} for _ in found]
        page = await self._client.list(resource, Selection(namespace=namespace))
        return [{} for _ in page.items]


def _as_counted(obj: KubeObject) -> Amounts | object:
    """What of an object quotas look at."""
    status = getattr(obj, "status", None)
    return getattr(obj, "spec", None), getattr(status, "phase", ""), obj.metadata.is_terminating
