"""Which spread constraints hold for a pod, compiled for counting.

A pod's own constraints shut out the defaults altogether, even where none of its own has the action
in question. Defaults name no pods; they take the selector of the pod's services and controller, and
without one they do not hold (`pkg/scheduler/framework/plugins/podtopologyspread/common.go`).
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from podium.kubernetes.kinds.pod import TopologySpreadConstraint
from podium.kubernetes.rules.labels import EVERYTHING, Selector, selector_of, selector_of_map
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_classes import PodClasses, PodCounter, PodQuery
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.config.plugin_args import SYSTEM_DEFAULTING, PodTopologySpreadArgs
from podium.scheduler.plugins.topology.owner_selectors import OwnerSelectors

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
                    selector = selector.merged(selector_of_map(own))
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
