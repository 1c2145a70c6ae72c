"""The quotas as one attempt sees them, and as its trials imagine them.

An attempt starts from what is used now; a trial of preemption or of nominated pods notes what it
imagines to come and go on top of that, so that a copy for a trial copies little.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from podium.addons.collection.capacity_scheduling.elastic_quotas import FIXED, Bounds
from podium.addons.collection.capacity_scheduling.quota_usage import (
    Amounts,
    add_amounts,
    is_counted,
)
from podium.golang.arithmetic import INT64_MAX
from podium.plugin import PodInfo

_NOTHING: Final[Mapping[str, int]] = {}


class QuotaState:
    """`in_quota` is what has to fit into the pod's own quota: its request and those of nominated
    pods of its namespace that are as important. `in_all` is what has to fit into all quotas
    together."""

    def __init__(
        self, pod: PodInfo, quotas: Mapping[str, Bounds], used: Mapping[str, Mapping[str, int]]
    ) -> None:
        self.quotas = quotas
        self.quota = quotas[pod.shape.namespace]
        self.request: Mapping[str, int] = pod.shape.requests
        self.in_quota: Amounts = dict(self.request)
        self.in_all: Amounts = dict(self.request)
        self._used = used
        self._imagined: dict[str, Amounts] = {}
        self._total_min = sum_amounts(bounds.min for bounds in quotas.values())
        self._total_used = sum_amounts(used.get(namespace, _NOTHING) for namespace in quotas)

    def clone(self) -> "QuotaState":
        twin = object.__new__(QuotaState)
        twin.__dict__.update(self.__dict__)
        twin._imagined = {namespace: dict(a) for namespace, a in self._imagined.items()}
        twin._total_used = dict(self._total_used)
        return twin

    def count_nominated(self, pods: Iterable[PodInfo], pod: PodInfo) -> None:
        """Leave room for pods that wait for a node of theirs."""
        for other in pods:
            namespace = other.shape.namespace
            if other.uid == pod.uid or namespace not in self.quotas:
                continue
            if namespace != pod.shape.namespace:
                if not self.is_over_min(namespace):
                    add_amounts(self.in_all, other.shape.requests)
            elif other.priority >= pod.priority:
                add_amounts(self.in_quota, other.shape.requests)
                add_amounts(self.in_all, other.shape.requests)

    def imagine(self, pod: PodInfo, sign: int) -> None:
        """A trial has put a pod on a node (1) or taken it off (-1)."""
        if pod.shape.namespace in self.quotas and is_counted(pod):
            of_namespace = self._imagined.setdefault(pod.shape.namespace, {})
            add_amounts(of_namespace, pod.shape.requests, sign)
            add_amounts(self._total_used, pod.shape.requests, sign)

    def used(self, namespace: str) -> Amounts:
        found = dict(self._used.get(namespace, _NOTHING))
        add_amounts(found, self._imagined.get(namespace, _NOTHING))
        return found

    def is_over_min(self, namespace: str) -> bool:
        """Whether a namespace has borrowed."""
        return exceeds(self.used(namespace), _NOTHING, self.quotas[namespace].min, unnamed=0)

    def is_over_min_with(self, asked: Mapping[str, int]) -> bool:
        used = self.used(self.quota.namespace)
        return exceeds(asked, used, self.quota.min, unnamed=0)

    def is_over_max_with(self, asked: Mapping[str, int]) -> bool:
        used = self.used(self.quota.namespace)
        return exceeds(asked, used, self.quota.max, unnamed=INT64_MAX)

    def is_total_over_min_with(self, asked: Mapping[str, int]) -> bool:
        """Whether more would be used than all quotas guarantee together."""
        wanted = dict(self._total_used)
        add_amounts(wanted, asked)
        return exceeds(wanted, _NOTHING, self._total_min, unnamed=0)


def exceeds(
    asked: Mapping[str, int], used: Mapping[str, int], bound: Mapping[str, int], *, unnamed: int
) -> bool:
    """Whether something asked for is more than a bound leaves of it; `unnamed` is the bound of
    resources that it does not name. Cpu, memory and ephemeral storage are always looked at, others
    only where they are asked for."""
    return any(
        asked.get(name, 0) + used.get(name, 0) > bound.get(name, unnamed)
        for name in {*FIXED, *asked}
    )


def sum_amounts(parts: Iterable[Mapping[str, int]]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        add_amounts(total, part)
    return total
