"""What ResourceQuotas leave of cores and memory, counted as cards are given out.

The API server counts what pods ask for, container by container. A pod that asks for two cards with
1000 units of memory takes 2000, and one that asks for all memory of a card says no amount at all:
that is counted here, of pods that hold cards. Quotas with scopes are the server's business alone.
"""

from collections.abc import Mapping
from typing import Final

from podium.api.quantity import QuantityError, value
from podium.gpu.dialects.dialect import Dialect
from podium.gpu.dialects.hami import dialect as hami
from podium.gpu.dialects.vgpu_manager import dialect as vgpu_manager
from podium.gpu.ledger import Ledger
from podium.gpu.quota import QuotaAmounts, QuotaLeft, quota_left
from podium.workloads.quotas import ResourceQuota

_RESOURCES: Final[Mapping[str, tuple[str, str]]] = {
    "hami": (hami.CORES, hami.MEMORY),
    "vgpu-manager": (vgpu_manager.CORES, vgpu_manager.MEMORY),
}
"""Cores and memory of dialects in which pods ask for amounts of each of several cards."""


class ResourceQuotas:
    def __init__(self, dialect: Dialect) -> None:
        self._resources = _RESOURCES.get(dialect.name)
        self._quotas: dict[str, dict[str, ResourceQuota]] = {}

    @property
    def are_needed(self) -> bool:
        return self._resources is not None

    def put(self, quota: ResourceQuota) -> None:
        self._quotas.setdefault(quota.namespace, {})[quota.name] = quota

    def delete(self, quota: ResourceQuota) -> None:
        self._quotas.get(quota.namespace, {}).pop(quota.name, None)

    def left(self, ledger: Ledger, namespace: str, uid: str) -> QuotaLeft | None:
        """For one pod of a namespace, which does not count against itself; None if not limited."""
        quotas = self._quotas.get(namespace)
        if self._resources is None or not quotas:
            return None
        limits = [limit for quota in quotas.values() if (limit := self._limit(quota)) is not None]
        if not limits:
            return None
        cores, memory = _used(ledger, namespace, uid)
        return quota_left(
            QuotaAmounts(hard_cores, cores, hard_memory, memory)
            for hard_cores, hard_memory in limits
        )

    def _limit(self, quota: ResourceQuota) -> tuple[int | None, int | None] | None:
        assert self._resources is not None
        if quota.spec.scopes or quota.spec.scope_selector:
            return None
        cores, memory = (_hard(quota, resource) for resource in self._resources)
        return None if cores is None and memory is None else (cores, memory)


def _hard(quota: ResourceQuota, resource: str) -> int | None:
    """The smaller of what is allowed as limits and as requests: such resources have both equal."""
    found = []
    for kind in ("limits", "requests"):
        written = (quota.spec.hard or {}).get(f"{kind}.{resource}")
        if written is not None:
            try:
                found.append(value(written))
            except QuantityError:
                continue  # the server takes none that is no quantity
    return min(found, default=None)


def _used(ledger: Ledger, namespace: str, uid: str) -> tuple[int, int]:
    cores = memory = 0
    for pod in ledger.counted_pods():
        if pod.namespace != namespace or pod.metadata.uid == uid:
            continue
        for uses in ledger.charged(pod.metadata.uid).values():
            cores += sum(use.cores for use in uses.values())
            memory += sum(use.memory for use in uses.values())
    return cores, memory
