"""What the extender knows: the ledger of cards, quotas, its configuration, what may be relied on.

How many cards of which models a namespace may use, from a ConfigMap or a file. A document that
cannot be read is told and changes nothing. Without any, nobody is limited. What counts as used is
`podium.addons.gpu.cards.quota`'s, reservations included: two calls at the same time cannot
both take what is left.

The configuration file is that of gpu-admission's first generation, JSON.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final

import msgspec
import numpy as np

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.columns import Bools
from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.quota import (
    MODEL_LABEL,
    POOL_LABEL,
    QUOTA_CONFIG_MAP,
    InvalidQuota,
    NamespaceQuota,
    QuotaLeft,
    eligible_models,
    hard_amounts,
    nodes_within_quota,
    read_quotas,
    requested_cores,
)
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect
from podium.client.extenders.extender import ExtenderError
from podium.golang.errors import InputError, PodiumError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota

_LOG: Final = logging.getLogger("podium.addons.extenders")


class NamespaceQuotas:
    def __init__(self, model_label: str = MODEL_LABEL, pool_label: str = POOL_LABEL) -> None:
        self._model_label = model_label
        self._pool_label = pool_label
        self._quotas: dict[str, NamespaceQuota] = {}

    def read(self, text: str | None, source: str) -> None:
        """Take over a document; None if there is none."""
        try:
            self._quotas = {} if text is None else read_quotas(text)
        except InvalidQuota as problem:
            _LOG.error("%s: %s; what was known before stays", source, problem)

    def find_allowed_nodes(
        self, ledger: Ledger, namespace: str, uid: str, request: PodRequest, names: Sequence[str]
    ) -> Bools | None:
        """Which of the nodes the namespace may use for this pod; None if all."""
        quota = self._quotas.get(namespace)
        if quota is None:
            return None
        models: dict[str, int] = {}
        pools: dict[str, int] = {}
        node_models = np.array([_code(models, self._model(ledger, name)) for name in names])
        node_pools = np.array([_code(pools, self._pool(ledger, name)) for name in names])
        used = ledger.use.requested_by_model(
            namespace, lambda name: self._model(ledger, name), without=uid
        )
        eligible = eligible_models(quota, used, requested_cores(request))
        return nodes_within_quota(quota, eligible, node_models, node_pools, models, pools)

    def _model(self, ledger: Ledger, node_name: str) -> str:
        node = ledger.nodes.get(node_name)
        return "" if node is None else node.metadata.label(self._model_label)

    def _pool(self, ledger: Ledger, node_name: str) -> str:
        node = ledger.nodes.get(node_name)
        return "" if node is None else node.metadata.label(self._pool_label)


def _code(codes: dict[str, int], value: str) -> int:
    """The number of a label's value, -1 for none."""
    return codes.setdefault(value, len(codes)) if value else -1


class PodChanged(PodiumError):
    """The pod is not the one that was decided about any more, or is not the one that a request
    says it is: gone, replaced, bound, or of another name."""


class ClusterView:
    def __init__(self, ledger: Ledger, quotas: NamespaceQuotas, wall: Callable[[], float]) -> None:
        self.ledger = ledger
        self.quotas = quotas
        self.resource_quotas = ExtenderQuotas(ledger.dialect)
        self.is_synced = False
        """Whether everything was listed once."""
        self.rejections: dict[tuple[str, Reason], int] = {}
        """How many nodes were refused, by verb and reason."""
        self._wall = wall
        self._busy: set[str] = set()

    @property
    def dialect(self) -> Dialect:
        return self.ledger.dialect

    def now(self) -> float:
        return self._wall()

    def start_call(self) -> float:
        """The time, with all that it ends ended. Raises ExtenderError before the first sync."""
        if not self.is_synced:
            raise ExtenderError("GPU nodes and pods have not been synced, please retry later")
        now = self.now()
        self.ledger.expire(now)
        return now

    def request_of(self, pod: Pod) -> PodRequest | None:
        """Raises InvalidRequest, also for pods whose metadata make no sense."""
        return self.dialect.pod_request(pod)

    def require_own_uid(self, namespace: str, name: str, uid: str) -> None:
        """Raises PodChanged if the UID is known to be another pod's: what that one holds is not to
        be taken for free, nor to be forgotten."""
        known, reservation = self.ledger.pod(uid), self.ledger.reservations.get(uid)
        pod = known or (reservation.pod if reservation is not None else None)
        if pod is not None and pod.metadata.key != (namespace, name):
            raise PodChanged(f"UID {uid} is that of pod {pod.namespace}/{pod.name}")

    def is_busy(self, uid: str) -> bool:
        return uid in self._busy

    @contextmanager
    def writing_about(self, pod_name: str, uid: str) -> Iterator[None]:
        """One at a time writes about a pod: whoever comes meanwhile is told to come again."""
        if uid in self._busy:
            raise ExtenderError(f"an earlier call for pod {pod_name} is still under way")
        self._busy.add(uid)
        try:
            yield
        finally:
            self._busy.discard(uid)

    def count_rejection(self, verb: str, reason: Reason, nodes: int = 1) -> None:
        key = (verb, reason)
        self.rejections[key] = self.rejections.get(key, 0) + nodes


class ExtenderQuotas:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._quotas: dict[str, dict[str, ResourceQuota]] = {}

    @property
    def are_needed(self) -> bool:
        return bool(self._dialect.cores_resource or self._dialect.memory_resource)

    def put(self, quota: ResourceQuota) -> None:
        self._quotas.setdefault(quota.namespace, {})[quota.name] = quota

    def delete(self, quota: ResourceQuota) -> None:
        self._quotas.get(quota.namespace, {}).pop(quota.name, None)

    def compute_quota_left(self, ledger: Ledger, namespace: str, uid: str) -> QuotaLeft | None:
        """For one pod of a namespace, which does not count against itself; None if not limited."""
        quotas = self._quotas.get(namespace)
        if not quotas:
            return None
        found = (hard_amounts(quota, self._dialect) for quota in quotas.values())
        limits = [amounts for amounts in found if amounts is not None]
        if not limits:
            return None
        return ledger.use.compute_quota_left(limits, namespace, without=uid)


class GPUExtenderFile(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, frozen=True):
    """`SkipBindTime` is read and not needed: nothing waits for the last binding to be seen."""

    quota_config_map_name: str = QUOTA_CONFIG_MAP[1]
    quota_config_map_namespace: str = "kube-system"
    gpu_model_label: str = msgspec.field(default=MODEL_LABEL, name="GPUModelLabel")
    gpu_pool_label: str = msgspec.field(default=POOL_LABEL, name="GPUPoolLabel")
    skip_bind_time: Annotated[int, msgspec.Meta(ge=0)] = 0


def read_config_file(content: bytes, source: str) -> GPUExtenderFile:
    """Raises InputError."""
    try:
        return msgspec.json.decode(content, type=GPUExtenderFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        known = ", ".join(field.encode_name for field in msgspec.structs.fields(GPUExtenderFile))
        raise InputError(str(problem), source=source, remedy=f"JSON with {known}") from None
