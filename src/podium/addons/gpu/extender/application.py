"""The GPU extender put together: a view kept true, verbs, what it shows, what time brings.

Nodes, pods and the ConfigMaps that say more are watched. With time doubts are cleared up, leftovers
removed, and the quota file read again.

What the extender shows: cards as `kubectl inspect gpushare` reads them, and metrics. `totalGPU` and
`usedGPU` are memory in the dialect's units, as there; what else is known of cards stands beside it.

Metrics (cards, fragmentation, refusals) are read from the ledger when somebody asks.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Final, Generic, TypeVar

import msgspec
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from podium import __version__
from podium.addons.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService, PageText, Route
from podium.addons.gpu.cards.allocations import NOTHING_CHARGED
from podium.addons.gpu.cards.fragmentation import (
    CARD_READINGS,
    REJECTED_NODES,
    REJECTED_NODES_LABELS,
    REJECTED_NODES_WORDS,
    RESERVATIONS,
    RESERVATIONS_WORDS,
    UNREADABLE,
    UNREADABLE_WORDS,
)
from podium.addons.gpu.cards.ledger import Holder, Ledger
from podium.addons.gpu.cards.quota import MODEL_LABEL, POOL_LABEL, QUOTA_CONFIG_MAP, QUOTA_KEY
from podium.addons.gpu.dialects.dialect import GRACE_PERIOD_S, Dialect
from podium.addons.gpu.extender.cluster_view import ClusterView, NamespaceQuotas, PodChanged
from podium.addons.gpu.extender.deciding import Decider
from podium.addons.gpu.extender.gpu_extender import GPUExtender, Predicates
from podium.addons.gpu.extender.preemption import PreemptionSettings
from podium.client import (
    Clock,
    DeletedFinalStateUnknown,
    KubeClient,
    LoopClock,
    ObjectStore,
    Reflector,
    RequestFailed,
    ResourceType,
    Selection,
    last_state,
)
from podium.client.reflector import decoder_of
from podium.client.resources import CONFIG_MAPS, NODES, PODS, RESOURCE_QUOTAS
from podium.kubernetes.controllers.workloads import ConfigMap
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.net.files.bounded_files import read_file

PREFIX: Final = "/scheduler"
GPUSHARE_PREFIX: Final = "/gpushare-scheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class GPUExtenderOptions:
    """`prefix` is where verbs are served, "" for where the dialect's own extender has them.
    `quota_config_map` is namespace and name; with a `quota_file` it is not looked at."""

    dialect: Dialect
    prefix: str = ""
    grace_period_s: float = GRACE_PERIOD_S
    quota_config_map: tuple[str, str] = QUOTA_CONFIG_MAP
    quota_file: Path | None = None
    model_label: str = MODEL_LABEL
    pool_label: str = POOL_LABEL
    preemption: PreemptionSettings = field(default_factory=PreemptionSettings)
    body_limit: int = DEFAULT_BODY_LIMIT

    def prefixes(self) -> tuple[str, ...]:
        if self.prefix:
            return (self.prefix,)
        of_gpushare = self.dialect.name.startswith("gpushare")
        return (PREFIX, GPUSHARE_PREFIX) if of_gpushare else (PREFIX,)


class GPUExtenderApplication:
    """`service` is the ASGI application; `run` keeps what it knows true."""

    def __init__(
        self,
        client: KubeClient,
        options: GPUExtenderOptions,
        *,
        clock: Clock | None = None,
        wall: Callable[[], float] = time.time,
        randomness: Random | None = None,
    ) -> None:
        ticking = clock or LoopClock()
        ledger = Ledger(options.dialect, options.grace_period_s)
        quotas = NamespaceQuotas(options.model_label, options.pool_label)
        self.view = ClusterView(ledger, quotas, wall)
        self.decider = Decider(client, self.view, ticking)
        self.housekeeping = Housekeeping(self.decider, ticking, options.quota_file)
        self.watch = ClusterWatch(
            client,
            self.view,
            clock=ticking,
            randomness=randomness or SystemRandom(),
            quota_config_map=None if options.quota_file else options.quota_config_map,
        )
        self.service = self._service(options)

    async def run(self) -> None:
        """Until cancelled."""
        self.housekeeping.read_quota_file()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.watch.run())
            group.create_task(self.housekeeping.run())

    def _service(self, options: GPUExtenderOptions) -> ExtenderService:
        extender = GPUExtender(self.decider, options.preemption)
        routes = {
            "filter": Route(extender, "filter"),
            "filter-dryrun": Route(extender, "filter"),
            "prioritize": Route(extender, "prioritize"),
            "priorities": Route(extender, "prioritize"),
            "bind": Route(extender, "bind"),
            "preempt": Route(extender, "preempt"),
        }
        if options.dialect.lock is None:
            # Between a decision in a filter and the binding nobody could hold a lock.
            routes["predicates"] = Route(Predicates(self.decider), "filter")
        service = ExtenderService(
            extender,
            body_limit=options.body_limit,
            prefixes=options.prefixes(),
            routes=routes,
            pages={"version": _version, "inspect": lambda name: inspect_page(self.view, name)},
            tells_decoding=True,
        )
        service.metrics.registry.register(LedgerMetrics(self.view))
        return service


def _version(below: str) -> PageText | None:
    return None if below else PageText(200, f"podium-{__version__}".encode())


_LOG: Final = logging.getLogger("podium.addons.extenders")
_EVERY_S: Final = 1.0
_MAX_WRITES: Final = 20
"""How many leftovers are removed at a time."""
_AGAIN_S: Final = 30.0
"""After how long something is tried again that a server refused."""


class Housekeeping:
    def __init__(self, decider: Decider, clock: Clock, quota_file: Path | None = None) -> None:
        self._decider = decider
        self._view = decider.view
        self._clock = clock
        self._quota_file = quota_file
        self._quota_stamp: tuple[int, int] | None = None
        self._not_before: dict[str, float] = {}

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self.read_quota_file()
            if self._view.is_synced:
                await self.round()
            await self._clock.sleep(_EVERY_S)

    async def round(self) -> None:
        now = self._view.now()
        ledger = self._view.ledger
        ledger.expire(now)
        for uid, doubt in list(self._decider.doubts.items()):
            if not self._view.is_busy(uid):
                await self._clear_up(uid, doubt.reservation.pod.name)
        self._not_before = {uid: at for uid, at in self._not_before.items() if at > now}
        due = [
            pod
            for pod in ledger.stale(now)
            if pod.metadata.uid not in self._not_before and not self._view.is_busy(pod.metadata.uid)
        ]
        for pod in due[:_MAX_WRITES]:
            await self._clear(pod.metadata.uid)
        for pod in ledger.find_unseen_pods(now):
            if not self._view.is_busy(pod.metadata.uid):
                await self._look(pod.metadata.uid)

    def read_quota_file(self) -> None:
        """Read the file again if it has changed; one that is gone limits nobody."""
        path = self._quota_file
        if path is None:
            return
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp == self._quota_stamp:
                return
            text: str | None = read_file(path).decode("utf-8", "replace")
        except FileNotFoundError:
            stamp, text = (0, 0), None
            if stamp == self._quota_stamp:
                return
        except OSError as problem:
            _LOG.error("%s: %s; what was known before stays", path, problem)
            return
        self._quota_stamp = stamp
        self._view.quotas.read(text, str(path))

    async def _clear_up(self, uid: str, name: str) -> None:
        try:
            with self._view.writing_about(name, uid):
                await self._decider.clear_up(self._decider.doubts[uid])
        except RequestFailed as problem:
            _LOG.info("pod %s: what became of its decision is still not known: %s", name, problem)

    async def _clear(self, uid: str) -> None:
        pod = self._view.ledger.pod(uid)
        if pod is None or pod.spec.node_name or self._view.is_busy(uid):
            return
        try:
            with self._view.writing_about(pod.name, uid):
                await self._decider.writer.clear(pod)
        except (RequestFailed, PodChanged) as problem:
            self._not_before[uid] = self._view.now() + _AGAIN_S
            _LOG.info("pod %s/%s: its old decision stays: %s", pod.namespace, pod.name, problem)

    async def _look(self, uid: str) -> None:
        pod = self._view.ledger.pod(uid)
        if pod is None:
            return
        try:
            await self._decider.writer.read(*pod.metadata.key, uid)
        except PodChanged:
            return
        except RequestFailed as problem:
            _LOG.info("pod %s/%s cannot be looked at: %s", pod.namespace, pod.name, problem)
        self._view.ledger.look_again_later(uid, self._view.now())


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


_JSON = "application/json"


def inspect_page(view: ClusterView, node_name: str) -> PageText | None:
    """All nodes with cards, or one by its name."""
    if node_name and node_name not in view.ledger.rows():
        body = {"nodes": [], "error": f"node {node_name} not found"}
        return PageText(404, msgspec.json.encode(body), _JSON)
    holders = view.ledger.holders()
    names = [node_name] if node_name else sorted(view.ledger.rows())
    found = [_node(view, name, holders.get(name, [])) for name in names]
    if not node_name:
        found = [node for node in found if node["devs"] or "reason" in node]
    return PageText(200, msgspec.json.encode({"nodes": found}), _JSON)


def _node(view: ClusterView, name: str, holders: list[Holder]) -> dict[str, Any]:
    ledger = view.ledger
    row = ledger.rows()[name]
    cards = ledger.cards(name)
    books = ledger.table.charged[row]
    devices = []
    for card in cards.cards:
        charged = books.get(card.index, NOTHING_CHARGED)
        devices.append(
            {
                "id": card.index,
                "totalGPU": card.memory,
                "usedGPU": charged.memory,
                "totalCores": card.cores,
                "usedCores": charged.cores,
                "uuid": card.uuid,
                "model": card.model,
                "healthy": card.healthy,
                "pods": [
                    _pod(holder, card.index) for holder in holders if card.index in holder.uses
                ],
            }
        )
    node: dict[str, Any] = {
        "name": name,
        "totalGPU": sum(device["totalGPU"] for device in devices),
        "usedGPU": sum(device["usedGPU"] for device in devices),
        "devs": devices,
    }
    reason = ledger.table.refusal_of(row)
    if reason is not None and (cards.cards or cards.detail):
        node["reason"] = reason.code
        node["message"] = cards.detail or reason.phrase
    return node


def _pod(holder: Holder, card: int) -> dict[str, Any]:
    use = holder.uses[card]
    return {
        "name": holder.pod.name,
        "namespace": holder.pod.namespace,
        "usedGPU": use.memory,
        "usedCores": use.cores,
        "reserved": holder.is_reserved,
    }


class LedgerMetrics(Collector):
    def __init__(self, view: ClusterView) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        ledger = self._view.ledger
        for reading in CARD_READINGS:
            gauge = GaugeMetricFamily(reading.name, reading.words, labels=reading.labels)
            for labels, number in reading.read(ledger.table, ledger.rows()):
                gauge.add_metric(labels, number)
            yield gauge
        rejected = CounterMetricFamily(
            REJECTED_NODES.removesuffix("_total"),
            REJECTED_NODES_WORDS,
            labels=REJECTED_NODES_LABELS,
        )
        for (verb, reason), count in self._view.rejections.items():
            rejected.add_metric((verb, reason.code), count)
        yield rejected
        yield GaugeMetricFamily(RESERVATIONS, RESERVATIONS_WORDS, value=len(ledger.reservations))
        unread = sum(1 for _, held in ledger.pods() if held.unread)
        yield GaugeMetricFamily(UNREADABLE, UNREADABLE_WORDS, value=unread)
