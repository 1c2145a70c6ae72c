"""CapacityScheduling: quotas of namespaces that may borrow what nobody uses.

PreFilter refuses a pod whose namespace would have more than its maximum, or for which nothing is
left that any namespace is guaranteed: so what others do not use can be borrowed. PostFilter takes
the place of DefaultPreemption and gives a namespace back what it is guaranteed. At Reserve there is
nothing to do, since an assumed pod counts already.

Whom a pod may preempt where quotas rule. A namespace that has not used up what it is guaranteed
takes it back from namespaces that have borrowed, whatever the priorities; one that has may only
make its own weaker pods leave. Pods without a quota and pods with one leave each other alone.

Upstream takes a pod twice that neither filters nor quotas let back, which is an error, and forgets
the budget of one that only quotas keep out; here a pod that may not come back is one victim,
whatever the reason.

Quotas: their bounds, what is used of them, and how one attempt and its trials see both. An attempt
starts from what is used now; a trial of preemption or of nominated pods notes what it imagines to
come and go on top of that, so that a copy for a trial copies little.

What the pods on nodes ask for, summed up by namespace. The sums follow the table of the cluster:
when pods have come to a node or left it, what that node contributed is worked out anew. A pod
counts from the moment it is assumed there.

The bounds of ElasticQuotas as the scheduler counts, and the definition of the kind. A bound that is
absent as a whole means nothing guaranteed, and no limit. One that is given and does not name cpu,
memory or ephemeral storage has 0 of it; any other resource that it does not name counts as 0
against `min` and is unlimited in `max` (`pkg/capacityscheduling/elasticquota.go` of the
collection).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from podium.addons.collection.custom_kinds import AGE, QUANTITIES, definition, object_schema
from podium.golang.arithmetic import INT64_MAX
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota
from podium.kubernetes.rules.requests import allocatable_vector
from podium.plugin import (
    SKIP,
    Action,
    Arguments,
    Cycle,
    GroupTrial,
    Handle,
    NodeTable,
    PodInfo,
    PreFilterExtensions,
    PreFilterPlugin,
    RefusalCause,
    Registration,
    ReservePlugin,
    Resource,
    Status,
    Usage,
    WatchedKind,
    unschedulable,
)
from podium.plugin.preemption import (
    DefaultPreemption,
    Unit,
    VictimRules,
    importance,
    select_victims,
    weaker_than,
)

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

    def sum_used(self, namespace: str) -> Amounts:
        found = dict(self._used.get(namespace, _NOTHING))
        add_amounts(found, self._imagined.get(namespace, _NOTHING))
        return found

    def is_over_min(self, namespace: str) -> bool:
        """Whether a namespace has borrowed."""
        return exceeds(self.sum_used(namespace), _NOTHING, self.quotas[namespace].min, unnamed=0)

    def is_over_min_with(self, asked: Mapping[str, int]) -> bool:
        used = self.sum_used(self.quota.namespace)
        return exceeds(asked, used, self.quota.min, unnamed=0)

    def is_over_max_with(self, asked: Mapping[str, int]) -> bool:
        used = self.sum_used(self.quota.namespace)
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


NAME: Final = "CapacityScheduling"
QUOTA_EXCEEDED: Final = unschedulable("global quota max exceeded")


class QuotaVictims(VictimRules):
    """For pods of a namespace that has a quota; `state` is that of the attempt itself."""

    stable = False

    def __init__(self, state: QuotaState) -> None:
        self._has_used_up_min = state.is_over_min_with(state.in_quota)

    def in_order(self, pods: Sequence[PodInfo]) -> Sequence[PodInfo]:
        return sorted(pods, key=importance, reverse=True)

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool:
        namespace = pod.shape.namespace
        if namespace == trial.pod.shape.namespace:
            return self._has_used_up_min and pod.priority < trial.pod.priority
        return not self._has_used_up_min and _has_borrowed(trial, namespace)

    def refuse_emptied(self, trial: Cycle) -> Status | None:
        state = trial.read(NAME, QuotaState)
        too_much = state.is_over_max_with(state.request)
        too_much = too_much or state.is_total_over_min_with(state.request)
        return QUOTA_EXCEEDED if too_much else None

    def refuse_given_back(self, trial: Cycle) -> Status | None:
        state = trial.read(NAME, QuotaState)
        too_much = state.is_over_max_with(state.in_quota)
        too_much = too_much or state.is_total_over_min_with(state.in_all)
        return QUOTA_EXCEEDED if too_much else None

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        namespace = pod.shape.namespace
        if namespace == cycle.pod.shape.namespace:
            return pod.priority < cycle.pod.priority
        return not self._has_used_up_min and _has_borrowed(cycle, namespace)


class UnlimitedVictims(VictimRules):
    """For pods of a namespace without a quota; `namespaces` have one."""

    stable = False

    def __init__(self, namespaces: frozenset[str]) -> None:
        self._namespaces = namespaces

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool:
        return pod.priority < trial.pod.priority and pod.shape.namespace not in self._namespaces

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        return self.may_leave(cycle, pod)


def borrowed_pods(state: QuotaState, pods: Iterable[PodInfo]) -> Iterator[PodInfo]:
    """Pods of other namespaces that run on what these have borrowed, the least important first;
    `state` sees them go."""
    for pod in sorted(pods, key=importance, reverse=True):
        namespace = pod.shape.namespace
        borrows = namespace in state.quotas and namespace != state.quota.namespace
        if borrows and state.is_over_min(namespace):
            state.imagine(pod, -1)
            yield pod


def _has_borrowed(cycle: Cycle, namespace: str) -> bool:
    state = cycle.read(NAME, QuotaState)
    return namespace in state.quotas and state.is_over_min(namespace)


OVER_MAX: Final = "Pod {} is rejected in PreFilter because ElasticQuota {} is more than Max"
OVER_TOTAL: Final = (
    "Pod {} is rejected in PreFilter because total ElasticQuota used is more than min"
)


class CapacityScheduling(DefaultPreemption, PreFilterPlugin, PreFilterExtensions, ReservePlugin):
    name = NAME
    watched_kinds = (ELASTIC_QUOTAS,)

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._usage = QuotaUsage(handle.cluster.nodes, handle.cluster.usage)
        self._quotas: dict[str, Bounds] = {}
        self._quotas_version = -1

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE),
            Registration(ELASTIC_QUOTAS.event_resource, Action.ALL),
        )

    def pre_filter(self, cycle: Cycle) -> Status | None:
        state = self._state_of(cycle.pod)
        if state is None:
            return SKIP
        cycle.write(self.name, state)
        if state.is_over_max_with(state.in_quota):
            return unschedulable(OVER_MAX.format(cycle.pod.key, state.quota.namespace))
        if state.is_total_over_min_with(state.in_all):
            return unschedulable(OVER_TOTAL.format(cycle.pod.key))
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        cycle.read(self.name, QuotaState).imagine(pod, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:  # noqa: ARG002
        cycle.read(self.name, QuotaState).imagine(pod, -1)

    def victim_rules(self, cycle: Cycle) -> VictimRules:
        if cycle.pod.shape.namespace in self._current_quotas():
            return QuotaVictims(cycle.read(self.name, QuotaState))
        return UnlimitedVictims(frozenset(self._quotas))

    def count_wanted(self, potential: int) -> int:
        return potential

    def preemptable_for(self, pods: Sequence[PodInfo]) -> list[PodInfo]:
        state = self._state_of(pods[0])
        if state is None:
            weaker = super().preemptable_for(pods)
            return [pod for pod in weaker if pod.shape.namespace not in self._quotas]
        asked = sum_amounts(pod.shape.requests for pod in pods)
        if state.is_over_max_with(asked):
            return []
        if state.is_over_min_with(asked):
            namespace = state.quota.namespace
            weaker = super().preemptable_for(pods)
            return [pod for pod in weaker if pod.shape.namespace == namespace]
        return list(borrowed_pods(state, self._on_nodes()))

    def pod_group_post_filter(self, group: PodGroup, members: Sequence[PodInfo]) -> GroupTrial:
        may_leave = self._units_that_may_leave(group, members)
        return select_victims(self.handle.cluster, group, members, may_leave)

    def _units_that_may_leave(
        self, group: PodGroup, members: Sequence[PodInfo]
    ) -> Callable[[Unit], bool]:
        """The rules of `preemptable_for`, for units that leave as a whole."""
        state, is_weaker = self._state_of(members[0]), weaker_than(group)
        if state is None:
            return lambda unit: (
                is_weaker(unit)
                and not any(pod.shape.namespace in self._quotas for pod in unit.pods)
            )
        asked = sum_amounts(pod.shape.requests for pod in members)
        if state.is_over_max_with(asked):
            return lambda _: False
        if state.is_over_min_with(asked):
            namespace = state.quota.namespace
            return lambda unit: (
                is_weaker(unit) and all(pod.shape.namespace == namespace for pod in unit.pods)
            )
        borrowed = {pod.uid for pod in borrowed_pods(state, self._on_nodes())}
        return lambda unit: all(pod.uid in borrowed for pod in unit.pods)

    def _on_nodes(self) -> Iterator[PodInfo]:
        usage = self.handle.cluster.usage
        for row in self.handle.cluster.node_order().tolist():
            yield from usage.pods(row)

    def reserve(self, cycle: Cycle, node_name: str) -> None:
        """Nothing is left to set aside."""

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        state = self._state_of(pod)
        return explain(state, pod) if state is not None else None

    def _state_of(self, pod: PodInfo) -> QuotaState | None:
        """None for a pod of a namespace without a quota."""
        quotas = self._current_quotas()
        if pod.shape.namespace not in quotas:
            return None
        state = QuotaState(pod, quotas, self._usage.read())
        state.count_nominated((other for other, _ in self.handle.cluster.nominator), pod)
        return state

    def _current_quotas(self) -> Mapping[str, Bounds]:
        """By namespace; of several in one namespace the one that was seen first counts."""
        version = self.handle.cluster.catalog.version(ElasticQuota)
        if version != self._quotas_version:
            self._quotas_version = version
            self._quotas = {}
            for quota in self.handle.list(ElasticQuota):
                self._quotas.setdefault(quota.metadata.namespace, bounds_of(quota))
        return self._quotas


def explain(state: QuotaState, pod: PodInfo) -> RefusalCause | None:
    """What is exceeded, if something still is."""
    namespace = pod.shape.namespace
    used = state.sum_used(namespace)
    if state.is_over_max_with(state.in_quota):
        name, bound = _first_exceeded(state.in_quota, used, state.quota.max, INT64_MAX)
        text = (
            f"The ElasticQuota of namespace {namespace} allows {_amount(name, bound)} {name}:"
            f" {_amount(name, used.get(name, 0))} used,"
            f" {_amount(name, state.in_quota.get(name, 0))} asked for"
        )
        return RefusalCause("quota-max-exceeded", namespace, f"{text}.", {"resource": name})
    if state.is_total_over_min_with(state.in_all):
        total = sum_amounts(state.sum_used(each) for each in state.quotas)
        guaranteed = sum_amounts(bounds.min for bounds in state.quotas.values())
        name, bound = _first_exceeded(state.in_all, total, guaranteed, 0)
        text = (
            f"All ElasticQuotas together guarantee {_amount(name, bound)} {name}:"
            f" {_amount(name, total.get(name, 0))} used,"
            f" {_amount(name, state.in_all.get(name, 0))} asked for; nothing is left to borrow"
        )
        return RefusalCause("quota-total-exceeded", namespace, f"{text}.", {"resource": name})
    return None


def _first_exceeded(
    asked: Mapping[str, int], used: Mapping[str, int], bound: Mapping[str, int], unnamed: int
) -> tuple[str, int]:
    for name in (*FIXED, *sorted({*asked} | {*used})):
        most = bound.get(name, unnamed)
        if asked.get(name, 0) + used.get(name, 0) > most:
            return name, most
    return FIXED[0], bound.get(FIXED[0], unnamed)


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return str(amount / 1000).removesuffix(".0")
    mebibytes = 1 << 20
    if name in FIXED and amount and amount % mebibytes == 0:
        return f"{amount // mebibytes}Mi"
    return str(amount)
