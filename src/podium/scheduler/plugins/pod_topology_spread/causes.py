"""Spread constraints: the constraint, its domains with their counts, and the skew."""

from collections.abc import Iterator

import numpy as np

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, count, selector_text, some
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.pod_topology_spread import PodTopologySpread
from podium.scheduler.plugins.pod_topology_spread.filtering import HardConstraint, SpreadFilterState

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
        clause = f"no node has the label {key}, over which it is to spread with {told}"
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
