"""Which spread constraints hold for a pod, and which nodes take part when one counts.

A pod's own constraints shut out the defaults altogether, even where none of its own has the action
in question. Defaults name no pods; they take the selector of the pod's services and controller, and
without one they do not hold (`pkg/scheduler/framework/plugins/podtopologyspread/common.go`).

Which nodes take part when a spread constraint counts. A constraint may leave out nodes that the
pod's own node selector and affinity exclude (`nodeAffinityPolicy`, honoured unless told otherwise)
and nodes with taints that it does not tolerate (`nodeTaintsPolicy`, ignored unless told otherwise).
A cordoned node is left out through its taint only. Each policy is worked out once per pod, however
many constraints ask.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal, NamedTuple

from podium.kubernetes.kinds.pod import TopologySpreadConstraint
from podium.kubernetes.rules.labels import EVERYTHING, Selector, selector_of, selector_of_map
from podium.kubernetes.rules.tolerations import HARD_EFFECTS
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.node_matching import required_mask, untolerated_mask
from podium.scheduler.cluster.pod_classes import PodClasses, PodCounter, PodQuery
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.config.plugin_args import SYSTEM_DEFAULTING, PodTopologySpreadArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.topology import OwnerSelectors, Topology

Action = Literal["DoNotSchedule", "ScheduleAnyway"]
HARD: Action = "DoNotSchedule"
SOFT: Action = "ScheduleAnyway"

_MAX_KEPT = 4096


class SpreadConstraint(NamedTuple):
    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool

    def counter(self, classes: PodClasses, namespace: str) -> PodCounter | None:
        """What counts the pods of the constraint; None where it counts none anywhere.

        Terminating pods do not count. upstream: an empty selector counts nothing here, although
        it matches every pod elsewhere.
        """
        if self.selector.empty or self.selector.nothing:
            return None
        conditions = ((frozenset((namespace,)), self.selector),)
        return classes.counter(PodQuery(conditions, terminating=False))


class SpreadConstraints:
    """Chooses and compiles; what was compiled is kept per pod template."""

    def __init__(
        self, args: PodTopologySpreadArgs, catalog: Catalog, *, match_label_keys: bool
    ) -> None:
        self._match_label_keys = match_label_keys
        self._owners = OwnerSelectors(catalog, services_only=args.services_only)
        self._own: dict[tuple[PodShape, Action], tuple[SpreadConstraint, ...]] = {}
        defaults = args.constraints_for_plain_pods
        self._defaults: Mapping[Action, tuple[SpreadConstraint, ...]] = {
            action: tuple(_compile(c, EVERYTHING) for c in _with_action(defaults, action))
            for action in (HARD, SOFT)
        }
        self._system_defaults = args.defaulting_type == SYSTEM_DEFAULTING

    def of(self, pod: PodInfo, action: Action) -> tuple[SpreadConstraint, ...]:
        """The constraints with an action; SelectorError if one cannot be parsed."""
        written = pod.pod.spec.topology_spread_constraints
        if not written:
            return self._default(pod, action)
        key = (pod.shape, action)
        found = self._own.get(key)
        if found is None:
            if len(self._own) >= _MAX_KEPT:
                self._own.clear()
            found = self._own[key] = self._compile_own(written, action, pod.shape.labels)
        return found

    def needs_all_keys(self, pod: PodInfo) -> bool:
        """Whether a node without one of the topology keys is left out of scoring."""
        return bool(pod.pod.spec.topology_spread_constraints) or not self._system_defaults

    def _default(self, pod: PodInfo, action: Action) -> tuple[SpreadConstraint, ...]:
        defaults = self._defaults[action]
        if not defaults:
            return ()
        selector = self._owners.of(pod)
        if selector.empty:
            return ()
        return tuple([default._replace(selector=selector) for default in defaults])

    def _compile_own(
        self,
        written: Iterable[TopologySpreadConstraint],
        action: Action,
        labels: Mapping[str, str],
    ) -> tuple[SpreadConstraint, ...]:
        compiled = []
        for constraint in _with_action(written, action):
            selector = selector_of(constraint.label_selector)
            if self._match_label_keys:
                keys = constraint.match_label_keys or ()
                own = {key: labels[key] for key in keys if key in labels}
                if own:
                    selector = selector.merge(selector_of_map(own))
            compiled.append(_compile(constraint, selector))
        return tuple(compiled)


def _with_action(
    written: Iterable[TopologySpreadConstraint], action: Action
) -> Iterable[TopologySpreadConstraint]:
    return (constraint for constraint in written if constraint.when_unsatisfiable == action)


def _compile(written: TopologySpreadConstraint, selector: Selector) -> SpreadConstraint:
    return SpreadConstraint(
        max_skew=written.max_skew,
        topology_key=written.topology_key,
        selector=selector,
        min_domains=1 if written.min_domains is None else written.min_domains,
        honors_affinity=written.node_affinity_policy in (None, "Honor"),
        honors_taints=written.node_taints_policy == "Honor",
    )


class NodeInclusion:
    """The policies over all rows of the table, for the pod of one cycle."""

    def __init__(self, cycle: Cycle, *, comparison: bool) -> None:
        self._cycle = cycle
        self._comparison = comparison

    def mask(self, constraint: SpreadConstraint) -> Mask | None:
        """Rows that meet the constraint's policies; None for all of them."""
        affinity = self._affinity if constraint.honors_affinity else None
        taints = self._taints if constraint.honors_taints else None
        return both(affinity, taints)

    @cached_property
    def _affinity(self) -> Mask | None:
        nodes = self._cycle.nodes
        return required_mask(nodes, self._cycle.pod.shape.node_affinity, nodes.all_rows())

    @cached_property
    def _taints(self) -> Mask | None:
        nodes = self._cycle.nodes
        tolerations = self._cycle.pod.pod.spec.tolerations
        untolerated = untolerated_mask(
            nodes, tolerations, HARD_EFFECTS, nodes.all_rows(), comparison=self._comparison
        )
        return None if untolerated is None else ~untolerated


def rows_with_all_keys(topologies: list[Topology]) -> Mask | None:
    """Rows that carry every topology key; None for all of them."""
    mask: Mask | None = None
    for topology in topologies:
        if not topology.complete:
            mask = both(mask, topology.slots > 0)
    return mask


def both(one: Mask | None, other: Mask | None) -> Mask | None:
    """The rows of both masks, where None stands for all rows."""
    if one is None:
        return other
    return one if other is None else one & other
