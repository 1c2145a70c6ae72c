"""Quotas: their bounds, what is used of them, and how one attempt and its trials see both.

An attempt starts from what is used now; a trial of preemption or of nominated pods notes what it
imagines to come and go on top of that, so that a copy for a trial copies little.

What the pods on nodes ask for, summed up by namespace. The sums follow the table of the cluster:
when pods have come to a node or left it, what that node contributed is worked out anew. A pod
counts from the moment it is assumed there.

The bounds of ElasticQuotas as the scheduler counts, and the definition of the kind. A bound that is
absent as a whole means nothing guaranteed, and no limit. One that is given and does not name cpu,
memory or ephemeral storage has 0 of it; any other resource that it does not name counts as 0
against `min` and is unlimited in `max` (`pkg/capacityscheduling/elasticquota.go` of the
collection).
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium.addons.collection.custom_kinds import AGE, QUANTITIES, definition, object_schema
from podium.golang.arithmetic import INT64_MAX
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.elastic_quota import ElasticQuota
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.rules.requests import allocatable_vector
from podium.plugin import PodInfo
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.framework.events import WatchedKind

Amounts = dict[str, int]

_COUNTED_PHASES = ("", "Pending", "Running")


def is_counted(pod: PodInfo) -> bool:
    """Whether a pod takes something of its namespace's quota."""
    return pod.pod.status.phase in _COUNTED_PHASES


def add_amounts(total: Amounts, amounts: Mapping[str, int], sign: int = 1) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + sign * amount


class QuotaUsage:
    def __init__(self, nodes: NodeTable, usage: Usage) -> None:
        self._nodes = nodes
        self._usage = usage
        self._generation = -1
        self._by_row: dict[int, dict[str, Amounts]] = {}
        self._by_namespace: dict[str, Amounts] = {}

    def read(self) -> Mapping[str, Mapping[str, int]]:
        """Namespace -> amounts, up to date; namespaces without pods may be missing."""
        changed = self._usage.log.since(self._generation)
        if changed is None:
            self._by_row.clear()
            self._by_namespace.clear()
            changed = list(range(self._nodes.size))
        for row in set(changed):
            self._count_again(row)
        self._generation = self._usage.log.generation
        return self._by_namespace

    def _count_again(self, row: int) -> None:
        for namespace, amounts in self._by_row.pop(row, {}).items():
            add_amounts(self._by_namespace[namespace], amounts, -1)
        found: dict[str, Amounts] = {}
        for pod in self._usage.pods(row):
            if is_counted(pod):
                add_amounts(found.setdefault(pod.shape.namespace, {}), pod.shape.requests)
        for namespace, amounts in found.items():
            add_amounts(self._by_namespace.setdefault(namespace, {}), amounts)
        if found:
            self._by_row[row] = found


FIXED: Final = ("cpu", "memory", "ephemeral-storage")
"""Resources that every bound has an amount of."""


class Bounds(NamedTuple):
    """A quota's bounds in the scheduler's units: cpu in milli, the rest in units."""

    namespace: str
    min: Mapping[str, int]
    max: Mapping[str, int]


def bounds_of(quota: ElasticQuota) -> Bounds:
    spec = quota.spec
    return Bounds(
        quota.metadata.namespace,
        _amounts(spec.min) if spec.min is not None else dict.fromkeys(FIXED, 0),
        _amounts(spec.max) if spec.max is not None else dict.fromkeys(FIXED, INT64_MAX),
    )


def _amounts(bound: ResourceList) -> dict[str, int]:
    return {**dict.fromkeys(FIXED, 0), **allocatable_vector(bound)}


def _definition() -> JsonObject:
    return definition(
        ElasticQuota,
        "elasticquotas",
        short_names=("eq", "eqs"),
        properties={
            "spec": object_schema(min=QUANTITIES, max=QUANTITIES),
            "status": object_schema(used=QUANTITIES),
        },
        columns=(("Used", "string", ".status.used"), ("Max", "string", ".spec.max"), AGE),
    )


ELASTIC_QUOTAS: Final = WatchedKind(ElasticQuota, "elasticquotas", definition=_definition)


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
