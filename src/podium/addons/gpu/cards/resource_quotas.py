"""What a ResourceQuota allows of cards: amounts of a dialect's cores and memory over all cards.

The API server counts what pods ask for, container by container. A pod that asks for two cards with
1000 units of memory takes 2000, and one that asks for all memory of a card says no amount at all:
so what pods hold is counted where cards are given out. Quotas with scopes are the server's alone.
"""

from podium.addons.gpu.cards.card import MAX_MEMORY
from podium.addons.gpu.dialects.dialect import Dialect
from podium.kubernetes.kinds.admission_kinds import ResourceQuota
from podium.kubernetes.rules.quantity import QuantityError, value


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
