"""What a namespace may use of GPUs, by model and pool or by ResourceQuotas, and what it uses.

By model and pool, a document names for each namespace how many cards of which models it may use, on
nodes of which pools. A namespace that it does not name is not limited; one that it names can use
only the models that stand there.

What a ResourceQuota allows of cards: amounts of a dialect's cores and memory over all cards. The
API server counts what pods ask for, container by container. A pod that asks for two cards with 1000
units of memory takes 2000, and one that asks for all memory of a card says no amount at all: so
what pods hold is counted where cards are given out. Quotas with scopes are the server's alone.

What the pods of each namespace take of cards, node by node: what quotas count. ResourceQuotas count
what pods hold of cards. Quotas by model count the cores that pods ask for, from the moment that
they have a node or hold cards of one until they have finished. Neither counts a pod against itself.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import MAX_MEMORY
from podium.addons.gpu.cards.columns import Bools, Ints
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.rules.quantity import QuantityError, value

CORES_OF_A_CARD = 100
QUOTA_CONFIG_MAP: Final = ("kube-system", "gpuquota")
"""Namespace and name of the ConfigMap with the document, and the key under which it stands."""
QUOTA_KEY: Final = "gpu_quota"
MODEL_LABEL: Final = "gaia.tencent.com/gpu-model"
POOL_LABEL: Final = "gaia.tencent.com/gpu-pool"
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class InvalidQuota(ValueError):
    """The quota document cannot be read; the text says where, and what would be right."""


class NamespaceQuota(msgspec.Struct, frozen=True):
    """Cards by model, and the pools whose nodes may be used; all of them if none is named."""

    quota: dict[str, Annotated[int, msgspec.Meta(ge=0)]] = {}
    pool: tuple[str, ...] = ()


def read_quotas(text: str) -> dict[str, NamespaceQuota]:
    """The document `gpu_quota`, by namespace."""
    try:
        quotas = msgspec.json.decode(text, type=dict[str, NamespaceQuota | None])
    except msgspec.DecodeError as error:
        raise InvalidQuota(
            f"gpu_quota: {error}; right would be "
            '{"<namespace>": {"quota": {"<model>": <cards>}, "pool": ["<pool>"]}}'
        ) from None
    return {name: quota or NamespaceQuota() for name, quota in quotas.items()}


def eligible_models(
    quota: NamespaceQuota, used_cores: Mapping[str, int], pod_cores: int
) -> frozenset[str]:
    """The models of which the namespace may use `pod_cores` more.

    `used_cores` are those of its pods that are not terminated, by the model of their node.
    """
    return frozenset(
        model
        for model, cards in quota.quota.items()
        if used_cores.get(model, 0) + pod_cores <= cards * CORES_OF_A_CARD
    )


def nodes_within_quota(
    quota: NamespaceQuota | None,
    models: frozenset[str],
    node_models: Ints,
    node_pools: Ints,
    model_codes: Mapping[str, int],
    pool_codes: Mapping[str, int],
) -> Bools:
    """Which nodes the namespace may use; the others are refused with QUOTA_EXCEEDED.

    The columns hold the codes of the nodes' labels, of which -1 stands for no label.
    """
    if quota is None:
        return np.ones(len(node_models), np.bool_)
    within = np.isin(node_models, [model_codes[each] for each in models if each in model_codes])
    if quota.pool:
        pools = [pool_codes[each] for each in quota.pool if each in pool_codes]
        within &= np.isin(node_pools, pools)
    return within


class QuotaLeft(msgspec.Struct, frozen=True):
    """What ResourceQuotas leave of cores and of memory over all cards; None where none limits it.
    Nothing left blocks whoever asks for some."""

    cores: int | None = None
    memory: int | None = None


class QuotaAmounts(msgspec.Struct, frozen=True):
    """Hard and used amounts of one ResourceQuota, in hundredths of cards and units of memory."""

    hard_cores: int | None = None
    used_cores: int = 0
    hard_memory: int | None = None
    used_memory: int = 0


def quota_left(quotas: Iterable[QuotaAmounts]) -> QuotaLeft | None:
    """What the tightest of a namespace's quotas leaves; None if none limits cards."""
    cores: list[int] = []
    memory: list[int] = []
    for quota in quotas:
        if quota.hard_cores is not None:
            cores.append(quota.hard_cores - quota.used_cores)
        if quota.hard_memory is not None:
            memory.append(quota.hard_memory - quota.used_memory)
    if not cores and not memory:
        return None
    return QuotaLeft(min(cores, default=None), min(memory, default=None))


def requested_cores(request: PodRequest) -> int:
    """What a pod counts in a quota by model: the cores of its containers, as generation A does."""
    return sum(_cores(container) for container in request.containers if container is not None)


def pod_cores(dialect: Dialect, pod: Pod) -> int:
    """The same of a pod as it is written; 0 if it asks for no card, cannot be read, or has
    finished."""
    if pod.status.phase in _FINISHED:
        return 0
    try:
        request = dialect.pod_request(pod)
    except InvalidRequest:
        return 0
    return 0 if request is None else requested_cores(request)


def _cores(container: ContainerRequest) -> int:
    each = CORES_OF_A_CARD if container.whole else container.cores
    return container.cards * each


def hard_amounts(quota: ResourceQuota, dialect: Dialect) -> tuple[int | None, int | None] | None:
    """Cores and memory that it allows, in units of pods' requests; None if it limits neither."""
    if quota.spec.scopes or quota.spec.scope_selector:
        return None
    cores, memory = (
        _hard(quota, resource) for resource in (dialect.cores_resource, dialect.memory_resource)
    )
    return None if cores is None and memory is None else (cores, memory)


def _hard(quota: ResourceQuota, resource: str) -> int | None:
    """The smaller of what is allowed as limits and as requests: such resources have both equal."""
    found = []
    for kind in ("limits", "requests") if resource else ():
        written = (quota.spec.hard or {}).get(f"{kind}.{resource}")
        if written is not None:
            try:
                found.append(min(value(written), MAX_MEMORY))
            except QuantityError:
                continue  # the server takes none that is no quantity
    return min(found, default=None)


NO_USES: Final[Mapping[int, CardUse]] = {}


class PodUse(NamedTuple):
    """What one pod takes on one node: held of its cards, and asked for."""

    cores: int = 0
    memory: int = 0
    requested_cores: int = 0


_NOTHING: Final = PodUse()


class NamespaceUse:
    def __init__(self) -> None:
        self._pods: dict[str, dict[str, tuple[str, PodUse]]] = {}
        """By uid and node: the namespace, and what is taken."""
        self._nodes: dict[str, dict[str, PodUse]] = {}
        """Sums by namespace and node."""

    def put(
        self,
        uid: str,
        node_name: str,
        namespace: str,
        uses: Mapping[int, CardUse],
        requested_cores: int = 0,
    ) -> None:
        """What a pod takes on a node from now on, instead of what it took there before."""
        known = self._pods.get(uid)
        if known is not None and node_name in known:
            self._add(node_name, *known.pop(node_name), -1)
            if not known:
                del self._pods[uid]
        cores = memory = 0
        for use in uses.values():
            cores += use.cores
            memory += use.memory
        taken = PodUse(cores, memory, requested_cores)
        if taken != _NOTHING:
            self._pods.setdefault(uid, {})[node_name] = namespace, taken
            self._add(node_name, namespace, taken, 1)

    def remove(self, uid: str) -> None:
        """The pod takes nothing any more, wherever it did."""
        for node_name, (namespace, taken) in self._pods.pop(uid, {}).items():
            self._add(node_name, namespace, taken, -1)

    def held(self, namespace: str, without: str = "") -> tuple[int, int]:
        """Cores and memory on all nodes; `without` is the uid of a pod that does not count."""
        taken = self._nodes.get(namespace, {}).values()
        cores, memory = sum(each.cores for each in taken), sum(each.memory for each in taken)
        for _, own in self._pods.get(without, {}).values():
            cores -= own.cores
            memory -= own.memory
        return cores, memory

    def requested_by_model(
        self, namespace: str, model_of: Callable[[str], str], without: str = ""
    ) -> dict[str, int]:
        """Cores that are asked for, by the model of the node; `model_of` takes the node's name."""
        found: dict[str, int] = {}
        own = self._pods.get(without, {})
        for node_name, taken in self._nodes.get(namespace, {}).items():
            cores = taken.requested_cores
            if node_name in own:
                cores -= own[node_name][1].requested_cores
            model = model_of(node_name)
            found[model] = found.get(model, 0) + cores
        return found

    def compute_quota_left(
        self, limits: Iterable[tuple[int | None, int | None]], namespace: str, without: str = ""
    ) -> QuotaLeft | None:
        """What ResourceQuotas of a namespace leave, given as amounts of cores and memory."""
        cores, memory = self.held(namespace, without)
        return quota_left(
            QuotaAmounts(hard_cores, cores, hard_memory, memory)
            for hard_cores, hard_memory in limits
        )

    def _add(self, node_name: str, namespace: str, taken: PodUse, sign: int) -> None:
        nodes = self._nodes.setdefault(namespace, {})
        known = nodes.get(node_name, _NOTHING)
        together = PodUse(
            known.cores + sign * taken.cores,
            known.memory + sign * taken.memory,
            known.requested_cores + sign * taken.requested_cores,
        )
        if together != _NOTHING:
            nodes[node_name] = together
            return
        nodes.pop(node_name, None)
        if not nodes:
            del self._nodes[namespace]
