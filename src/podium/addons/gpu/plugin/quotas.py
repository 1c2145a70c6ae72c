"""What namespaces may use of cards, and when a pod that got none is worth another attempt.

A ResourceQuota limits with `limits.<resource>` or `requests.<resource>`, in the units of pods'
requests. What is used is what pods hold of cards, added up over all cards of each: not what
Kubernetes writes into the quota's status, which knows nothing of several cards.

`gpu_quota` limits cards by model and pool (docs of generation A). It is read every five seconds; a
document that cannot be read leaves the one before in place, one that is gone lifts all limits.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np

from podium.addons.gpu.cards.quota import (
    QUOTA_KEY,
    NamespaceQuota,
    NamespaceUse,
    QuotaLeft,
    eligible_models,
    hard_amounts,
    nodes_within_quota,
    read_quotas,
    requested_cores,
)
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.plugin.arguments import ConfigMapSource, GPUShareArgs, QuotaSettings
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.net.files.bounded_files import read_file
from podium.plugin import (
    Action,
    Handle,
    Ints,
    LabelColumn,
    Mask,
    Node,
    Pod,
    PodInfo,
    Registration,
    Resource,
    SourceColumn,
    ValueSource,
    WatchedKind,
)

Document = Mapping[str, NamespaceQuota]
RESOURCE_QUOTAS: Final = WatchedKind(ResourceQuota, "resourcequotas", optional=True)
MAX_DOCUMENT: Final = 1 << 20
REFRESH_EVERY_S: Final = 5.0
FOR_EVER_S: Final = 1e9
"""A document that cannot be read again stays in force."""


class CatalogQuotas:
    """What the ResourceQuotas of a namespace leave."""

    def __init__(self, handle: Handle, dialect: Dialect) -> None:
        self._handle = handle
        self._dialect = dialect
        self._version = -1
        self._hard: dict[str, list[tuple[int | None, int | None]]] = {}

    def compute_quota_left(self, namespace: str, uid: str, use: NamespaceUse) -> QuotaLeft | None:
        """For one pod of a namespace; None if nothing limits it."""
        self._read()
        limits = self._hard.get(namespace)
        return None if limits is None else use.compute_quota_left(limits, namespace, without=uid)

    def _read(self) -> None:
        version = self._handle.cluster.catalog.version(ResourceQuota)
        if version == self._version:
            return
        self._version = version
        self._hard = {}
        for quota in self._handle.list(ResourceQuota):
            amounts = hard_amounts(quota, self._dialect)
            if amounts is not None:
                self._hard.setdefault(quota.namespace, []).append(amounts)


class QuotaFile(ValueSource):
    """The document as a file, such as a ConfigMap that is mounted."""

    refresh_every_s = REFRESH_EVERY_S
    max_age_s = FOR_EVER_S

    def __init__(self, path: str) -> None:
        self.name = f"GPUShare file {path}"
        self.path = path

    async def fetch(self) -> Document:
        return _read_document(await asyncio.to_thread(self._text))

    def _text(self) -> str:
        try:
            return read_file(self.path, MAX_DOCUMENT).decode()
        except FileNotFoundError:
            return ""


class QuotaConfigMap(ConfigMapSource):
    """The document in its ConfigMap."""

    max_age_s = FOR_EVER_S

    async def fetch(self) -> object:
        found = await self.ask()
        return _read_document(found.get(self.one, {}).get(QUOTA_KEY, ""))


def _read_document(text: str) -> Document:
    """Raises InvalidQuota, which leaves what was read before in place."""
    return read_quotas(text) if text else {}


class QuotaDocument:
    """`gpu_quota` as it was read last."""

    def __init__(self, handle: Handle, settings: QuotaSettings) -> None:
        self._handle = handle
        self._settings = settings
        self.source = _source(handle, settings)
        self.version = 0
        self._quotas: Document = {}

    def is_new(self, answer: object) -> bool:
        return answer is not None and answer != self._quotas

    def models(
        self, namespace: str, uid: str, request: PodRequest, use: NamespaceUse
    ) -> "Allowed | None":
        """The models and pools that a pod may use; None if nothing limits its namespace."""
        quota = self._read().get(namespace)
        if quota is None:
            return None
        used = use.requested_by_model(namespace, self._model, without=uid)
        return quota, eligible_models(quota, used, requested_cores(request))

    def within(self, allowed: "Allowed", rows: Ints) -> Mask:
        quota, models = allowed
        labels = self._handle.cluster.nodes.labels
        of_models = labels.column(self._settings.model_label)
        of_pools = labels.column(self._settings.pool_label)
        return nodes_within_quota(
            quota,
            models,
            of_models.codes[rows].astype(np.int64),
            of_pools.codes[rows].astype(np.int64),
            _codes(of_models, models),
            _codes(of_pools, frozenset(quota.pool)),
        )

    def _model(self, node_name: str) -> str:
        nodes = self._handle.cluster.nodes
        row = nodes.row(node_name)
        if row < 0:
            return ""
        models = nodes.labels.column(self._settings.model_label)
        code = int(models.codes[row])
        return models.values[code] if code >= 0 else ""

    def _read(self) -> Document:
        if self.source is not None:
            answer = self._handle.sources.column(self.source.name).value
            if self.is_new(answer):
                self._quotas = cast("Document", answer)
                self.version += 1
        return self._quotas


Allowed = tuple[NamespaceQuota, frozenset[str]]
"""The quota of a namespace, and the models of which it may use more."""


def _source(handle: Handle, settings: QuotaSettings) -> ValueSource | None:
    if settings.file:
        return QuotaFile(settings.file)
    if handle.client_settings is None:
        return None
    namespace, name = settings.config_map.split("/")
    return QuotaConfigMap(handle.client_settings, namespace, name, refresh_every_s=REFRESH_EVERY_S)


def _codes(column: LabelColumn, names: frozenset[str]) -> dict[str, int]:
    return {name: column.values.find(name) for name in names if column.values.find(name) >= 0}


class Quotas:
    """Both kinds of quota, as far as a configuration wants them."""

    def __init__(self, handle: Handle, args: GPUShareArgs, dialect: Dialect) -> None:
        self._amounts = CatalogQuotas(handle, dialect) if args.resource_quota else None
        self.document = QuotaDocument(handle, args.quota) if args.quota is not None else None

    def compute_quota_left(self, pod: PodInfo, use: NamespaceUse) -> QuotaLeft | None:
        if self._amounts is None:
            return None
        return self._amounts.compute_quota_left(pod.pod.metadata.namespace, pod.uid, use)

    def find_allowed_models(
        self, pod: PodInfo, request: PodRequest, use: NamespaceUse
    ) -> Allowed | None:
        if self.document is None:
            return None
        return self.document.models(pod.pod.metadata.namespace, pod.uid, request, use)

    def sources(self) -> list[ValueSource]:
        source = self.document.source if self.document is not None else None
        return [] if source is None else [source]


class WakeUps:
    def __init__(
        self,
        handle: Handle,
        dialect: Dialect,
        document: QuotaDocument | None,
        of_nodes: ValueSource | None,
    ) -> None:
        self._handle = handle
        self._dialect = dialect
        self._document = document
        self._of_nodes = of_nodes

    def registrations(self) -> Sequence[Registration]:
        nodes = Action.ADD | Action.UPDATE_NODE_ANNOTATION | Action.UPDATE_NODE_ALLOCATABLE
        if self._document is not None:
            nodes |= Action.UPDATE_NODE_LABEL
        quotas = RESOURCE_QUOTAS.event_resource
        return (
            Registration(Resource.NODE, nodes, self._node_helps),
            Registration(
                Resource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_LABEL, self._pod_helps
            ),
            Registration(quotas, Action.UPDATE | Action.DELETE, self._quota_helps),
            Registration(Resource.SOURCE, Action.UPDATE, self._source_helps),
        )

    def _node_helps(self, waiting: PodInfo, old: Node | None, new: Node | None) -> bool:  # noqa: ARG002
        """Agents write every half a minute that they live: that alone helps nobody."""
        if new is None:
            return False
        now = self._handle.clock()
        after = self._dialect.node_cards(new, now)
        if after.refusal is not None:
            return False
        if old is None or (
            old.metadata.labels != new.metadata.labels and self._document is not None
        ):
            return True
        before = self._dialect.node_cards(old, now)
        return before.refusal is not None or before.cards != after.cards

    def _pod_helps(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:  # noqa: ARG002
        return old is not None and self._asks_or_holds(old)

    def _quota_helps(self, waiting: PodInfo, old: object, new: object) -> bool:
        of = old if old is not None else new
        namespace = waiting.pod.metadata.namespace
        return isinstance(of, RESOURCE_QUOTAS.struct) and of.metadata.namespace == namespace

    def _source_helps(self, waiting: PodInfo, old: object, new: object) -> bool:  # noqa: ARG002
        if not isinstance(new, SourceColumn):
            return False
        document, of_nodes = self._document, self._of_nodes
        source = document.source if document is not None else None
        if document is not None and source is not None and new.name == source.name:
            return document.is_new(new.value)
        return of_nodes is not None and new.name == of_nodes.name

    def _asks_or_holds(self, pod: Pod) -> bool:
        if self._dialect.decided_node(pod):
            return True
        try:
            return self._dialect.pod_request(pod) is not None
        except InvalidRequest:
            return False
