"""What the ResourceQuotas of a namespace leave of cores and memory to one of its pods."""

from podium.addons.gpu.cards.ledger import Ledger
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.resource_quotas import hard_amounts
from podium.addons.gpu.dialects.dialect import Dialect
from podium.kubernetes.kinds.admission_kinds import ResourceQuota


class ResourceQuotas:
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

    def left(self, ledger: Ledger, namespace: str, uid: str) -> QuotaLeft | None:
        """For one pod of a namespace, which does not count against itself; None if not limited."""
        quotas = self._quotas.get(namespace)
        if not quotas:
            return None
        found = (hard_amounts(quota, self._dialect) for quota in quotas.values())
        limits = [amounts for amounts in found if amounts is not None]
        if not limits:
            return None
        return ledger.use.left(limits, namespace, without=uid)
