"""Keeps what the extender knows true: nodes, pods, and the ConfigMaps that say more."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Final, Generic, TypeVar

from podium.addons.gpu.cards.quota import QUOTA_KEY
from podium.addons.gpu.extender.cluster_view import ClusterView
from podium.client import (
    Clock,
    DeletedFinalStateUnknown,
    KubeClient,
    ObjectStore,
    Reflector,
    ResourceType,
    Selection,
    last_state,
)
from podium.client.object_decoding import decoder_of
from podium.client.resources import CONFIG_MAPS, NODES, PODS, RESOURCE_QUOTAS
from podium.kubernetes.controllers.workloads import ConfigMap
from podium.kubernetes.kinds.admission_kinds import ResourceQuota
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

_EVERYTHING: Final = Selection()
_RUNNING_OR_WAITING: Final = Selection(fields="status.phase!=Succeeded,status.phase!=Failed")
"""Pods that have finished hold nothing: to a watch they are deleted."""

T = TypeVar("T", bound=KubeObject)


class _Told(Generic[T]):
    """Hears of changes: `put` of an object that is there, `gone` of one that is not any more."""

    def __init__(self, put: Callable[[T], None], gone: Callable[[T], None]) -> None:
        self._put = put
        self._gone = gone

    def on_add(self, obj: T, /, *, is_in_initial_list: bool) -> None:  # noqa: ARG002
        self._put(obj)

    def on_update(self, old: T, new: T, /) -> None:  # noqa: ARG002
        self._put(new)

    def on_delete(self, obj: T | DeletedFinalStateUnknown, /) -> None:
        self._gone(last_state(obj))


class ClusterWatch:
    """`quota_config_map` is namespace and name; None if quotas come from somewhere else."""

    def __init__(
        self,
        client: KubeClient,
        view: ClusterView,
        *,
        clock: Clock,
        randomness: Random,
        quota_config_map: tuple[str, str] | None,
    ) -> None:
        self.synced = asyncio.Event()
        self._client = client
        self._view = view
        self._clock = clock
        self._randomness = randomness
        ledger = view.ledger
        nodes: _Told[Node] = _Told(
            lambda node: ledger.put_node(node, view.now()),
            lambda node: ledger.delete_node(node.name),
        )
        pods: _Told[Pod] = _Told(
            lambda pod: ledger.put_pod(pod, view.now()),
            lambda pod: ledger.delete_pod(pod.metadata.uid, view.now()),
        )
        self.reflectors: tuple[Reflector[Any], ...] = (
            self._reflector(NODES, Node, nodes),
            self._reflector(PODS, Pod, pods, _RUNNING_OR_WAITING),
            *self._of_config_maps(quota_config_map),
            *self._of_resource_quotas(),
        )

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for reflector in self.reflectors:
                group.create_task(reflector.run())
            for reflector in self.reflectors:
                await reflector.synced.wait()
            self._view.ledger.stop_adopting(self._view.now())
            self._view.is_synced = True
            self.synced.set()

    def trouble(self) -> str:
        """What cannot be followed right now, and why; empty if everything can."""
        return next((each.trouble for each in self.reflectors if each.trouble), "")

    def _reflector(
        self,
        resource: ResourceType,
        kind: type[T],
        told: _Told[T],
        selection: Selection = _EVERYTHING,
    ) -> Reflector[ObjectStore[T]]:
        return Reflector(
            self._client,
            resource,
            ObjectStore(resource.plural, decoder_of(kind), told),
            selection=selection,
            clock=self._clock,
            randomness=self._randomness,
        )

    def _of_config_maps(self, quota: tuple[str, str] | None) -> list[Reflector[Any]]:
        view, found = self._view, []
        if quota is not None:
            source = f"ConfigMap {quota[0]}/{quota[1]}"
            told: _Told[ConfigMap] = _Told(
                lambda each: view.quotas.read((each.data or {}).get(QUOTA_KEY), source),
                lambda _: view.quotas.read(None, source),
            )
            selection = Selection(namespace=quota[0], fields=f"metadata.name={quota[1]}")
            found.append(self._reflector(CONFIG_MAPS, ConfigMap, told, selection))
        of_nodes = view.dialect.config_map_name("")
        if of_nodes is not None:
            told = _Told(
                lambda each: self._put_config_map(each, each.data or {}),
                lambda each: self._put_config_map(each, {}),
            )
            selection = Selection(namespace=of_nodes[0])
            found.append(self._reflector(CONFIG_MAPS, ConfigMap, told, selection))
        return found

    def _of_resource_quotas(self) -> list[Reflector[Any]]:
        quotas = self._view.resource_quotas
        if not quotas.are_needed:
            return []
        told: _Told[ResourceQuota] = _Told(quotas.put, quotas.delete)
        return [self._reflector(RESOURCE_QUOTAS, ResourceQuota, told)]

    def _put_config_map(self, config_map: ConfigMap, data: dict[str, str]) -> None:
        view = self._view
        view.ledger.put_config_map(config_map.namespace, config_map.name, data, view.now())
