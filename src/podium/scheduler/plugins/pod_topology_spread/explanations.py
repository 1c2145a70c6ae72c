"""What people are told of spread constraints: domains with their counts, and what would help.

Proposed are more skew, a wish in place of a demand, and another key.
"""

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod, TopologySpreadConstraint
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    Finding,
    count,
    or_rather,
    selector_text,
    some,
)
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.pod_topology_spread.counting import HardConstraint, SpreadFilterState
from podium.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread

MAX_DOMAINS = 6


def find_skew(view: AttemptView, among: Mask) -> list[Finding]:
    state = view.examination.cycle.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadFilterState):
        return []
    return list(_findings(view, state, among))


def _findings(view: AttemptView, state: SpreadFilterState, among: Mask) -> Iterator[Finding]:
    left = among
    for hard in state.constraints:
        slots = hard.topology.slots[view.rows]
        unlabelled = left & (slots == 0)
        if unlabelled.any():
            yield _find_unlabelled(view, hard, unlabelled)
        skewed = left & (slots != 0) & (hard.counts.totals[slots] > hard.highest_allowed())
        if skewed.any():
            yield _find_skewed(view, hard, skewed)
        left = left & ~unlabelled & ~skewed


def _find_unlabelled(view: AttemptView, hard: HardConstraint, nodes: Mask) -> Finding:
    key, told = hard.constraint.topology_key, selector_text(hard.constraint.selector)
    if hard.topology.domain_count == 0:
        meant = or_rather(view.table.labels.closest_key(key))
        clause = f"no node has the label {key}{meant}, over which it is to spread with {told}"
    else:
        clause = (
            view.say(nodes, "has", "have")
            + f" no label {key}, over which it is to spread with {told}"
        )
    return Finding(
        "topology-key-missing",
        key,
        nodes,
        clause,
        f"the node has no label {key}",
        facts={"topologyKey": key, "selector": told},
    )


def _find_skewed(view: AttemptView, hard: HardConstraint, nodes: Mask) -> Finding:
    constraint, totals = hard.constraint, hard.counts.totals
    key, told = constraint.topology_key, selector_text(constraint.selector)
    values = _values(view, hard)
    counted = [
        slot
        for slot in range(1, hard.topology.domain_count + 1)
        if hard.entries is None or hard.entries[slot]
    ]
    domains = sorted(
        ((values.get(slot, ""), int(totals[slot])) for slot in counted),
        key=lambda pair: (-pair[1], pair[0]),
    )
    listed = [f"{value} {number}" for value, number in domains]
    if len(listed) > MAX_DOMAINS:
        listed = [*listed[: MAX_DOMAINS - 1], f"... {listed[-1]}"]
    clause = (
        f"{view.say(nodes, 'is', 'are')} in a {key} with too many pods with {told}:"
        f" there are {some(listed, MAX_DOMAINS)}, and maxSkew {constraint.max_skew} allows"
        f" at most {max(hard.highest_allowed(), 0)} before this pod"
    )
    if len(counted) < constraint.min_domains:
        clause += (
            f", since minDomains {constraint.min_domains} is more than"
            f" the {count(len(counted), 'domain')} there {'is' if len(counted) == 1 else 'are'}"
        )
    slots = hard.topology.slots[view.rows]
    texts = {
        slot: f"{key} {values.get(slot, '')} has {int(totals[slot])} of {told},"
        f" at most {max(hard.highest_allowed(), 0)} are allowed before this pod"
        for slot in np.unique(slots[nodes]).tolist()
    }
    return Finding(
        "topology-spread",
        f"{told} by {key}",
        nodes,
        clause,
        clause,
        lambda position: texts[int(slots[position])],
        facts={
            "topologyKey": key,
            "selector": told,
            "maxSkew": constraint.max_skew,
            "minDomains": constraint.min_domains,
            "domains": dict(domains[:50]),
        },
    )


def _values(view: AttemptView, hard: HardConstraint) -> dict[int, str]:
    """The label's value by the number of its domain."""
    column = view.table.labels.column(hard.constraint.topology_key)
    slots = hard.topology.slots[view.rows]
    numbers, first = np.unique(slots, return_index=True)
    codes = column.codes[view.rows[first]]
    return {
        int(slot): column.values[int(code)]
        for slot, code in zip(numbers, codes, strict=True)
        if code >= 0
    }


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
    key = constraint.topology_key
    alike = situation.cluster.nodes.labels.closest_key(key)
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
