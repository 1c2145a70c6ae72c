"""Topology spread constraints: more skew, a wish in place of a demand, another key."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.kinds.pod import Pod, TopologySpreadConstraint
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread

HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"
MAX_SKEW = 64
"""A larger skew is no longer a spread."""


def propose_other_spread(situation: Situation) -> Iterator[ProposedChange]:
    if not situation.nodes_near(PodTopologySpread.name):
        return
    pod = situation.pod
    for at, constraint in enumerate(pod.spec.topology_spread_constraints or ()):
        if constraint.when_unsatisfiable not in ("", HARD):
            continue
        key = constraint.topology_key
        if constraint.min_domains:
            changed = _with_constraint(pod, at, replace(constraint, min_domains=None))
            yield situation.change_pod(
                "drop-min-domains",
                f"drop minDomains {constraint.min_domains} from the spread over {key}",
                disturbance.RELAX_SPREAD - 1,
                changed,
            )
        yield from _propose_key(situation, at, constraint)
        skew = _smallest_skew(situation, at, constraint)
        if skew:
            yield situation.change_pod(
                "raise-max-skew",
                f"raise maxSkew over {key} from {constraint.max_skew} to {skew}",
                disturbance.RELAX_SPREAD,
                _with_constraint(pod, at, replace(constraint, max_skew=skew)),
            )
        yield situation.change_pod(
            "relax-spread",
            f"spread over {key} by whenUnsatisfiable {SOFT} in place of {HARD}",
            disturbance.RELAX_SPREAD + 1,
            _with_constraint(
                pod, at, replace(constraint, when_unsatisfiable=SOFT, min_domains=None)
            ),
        )


def _propose_key(
    situation: Situation, at: int, constraint: TopologySpreadConstraint
) -> Iterator[ProposedChange]:
    keys = {key for node in situation.all_nodes() for key in node.metadata.labels or {}}
    key = constraint.topology_key
    alike = "" if key in keys else closest(key, sorted(keys))
    if alike:
        yield situation.change_pod(
            "correct-topology-key",
            f"spread over {alike} in place of {key}, which no node has",
            disturbance.CORRECT_NAME,
            _with_constraint(situation.pod, at, replace(constraint, topology_key=alike)),
        )


def _smallest_skew(situation: Situation, at: int, constraint: TopologySpreadConstraint) -> int:
    """The smallest maxSkew with which the filter lets some node pass; 0 if none does."""

    def passes(skew: int) -> bool:
        pod = _with_constraint(situation.pod, at, replace(constraint, max_skew=skew))
        examination = situation.examine(pod, ())
        return any(
            examination.status(PodTopologySpread.name, name) is None
            for name in situation.nodes_near(PodTopologySpread.name)
        )

    low, high = constraint.max_skew, MAX_SKEW
    if not passes(high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _with_constraint(pod: Pod, at: int, constraint: TopologySpreadConstraint) -> Pod:
    listed = list(pod.spec.topology_spread_constraints or ())
    listed[at] = constraint
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=tuple(listed)))
