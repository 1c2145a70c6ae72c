"""What a namespace may use of GPUs: by model and pool, and by the amounts of ResourceQuotas.

By model and pool, a document names for each namespace how many cards of which models it may use, on
nodes of which pools. A namespace that it does not name is not limited; one that it names can use
only the models that stand there.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec
import numpy as np

from podium.addons.gpu.cards.columns import Bools, Ints
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.kubernetes.kinds.pod import Pod

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
