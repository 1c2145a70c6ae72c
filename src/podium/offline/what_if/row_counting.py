"""How many pods of one template fit on each node, for all nodes at once.

Most pods meet filters that look at one node at a time: its labels and taints, which stay, and the
sums of what pods request on it, which grow. Then it does not matter in which order nodes fill up,
and the largest number that each node takes can be searched for in halves, over all nodes together,
on a fork of the usage. The filters themselves are asked, so there is no second rule of what fits.

Contract: the counts are those that scheduling the pods one after the other ends with. Where a
filter, or anything else of the profile, may look beyond one node or at more than sums and ports,
there is no answer here and the pods have to be scheduled (`capacity.py`).
"""

from dataclasses import dataclass

import numpy as np

from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult
from podium.scheduler.framework.filtering import run_filters
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import unresolvable


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Pods that fit by row, and what keeps the next one out."""

    rows: Ints
    counts: Ints
    diagnosis: Diagnosis


def count_rows(engine: Engine, info: PodInfo) -> RowCounts | None:
    """How many pods like this one fit on each node; None if they have to be scheduled to tell."""
    profile = engine.profile_of(info.pod)
    cycle = Cycle(info, engine.cluster)
    outcome = profile.run_pre_filters(cycle)
    cluster = engine.cluster
    if outcome.status is not None or not cluster.nodes.present_count:
        return None
    if not _looks_at_single_nodes(engine, profile, cycle):
        return None
    rows = np.array(cluster.node_order(), dtype=np.intp)
    diagnosis = Diagnosis(len(rows))
    if outcome.nodes is not None:
        by = " ".join(sorted(outcome.narrowed_by))
        diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{by}]")
        names = cluster.nodes.names
        rows = np.array([row for row in rows if names[row] in outcome.nodes], dtype=np.intp)
    counts = _search(profile, cycle, rows)
    if counts is None:
        return None
    diagnosis.results.append(_filter(profile, cycle, rows, counts))
    return RowCounts(rows, counts, diagnosis)


def _search(profile: Profile, cycle: Cycle, rows: Ints) -> Ints | None:
    """The largest number for each row with which the last of them still passes."""
    usage = cycle.cluster.usage
    usage.grow()
    low: Ints = np.zeros(len(rows), dtype=np.int64)
    # A filter that counts requests is always asked; it lets nobody in beyond the number of pods.
    high: Ints = np.maximum(cycle.nodes.allowed_pods[rows] - usage.pod_count[rows], 0)
    if cycle.pod.shape.ports:
        high = np.minimum(high, 1)
    while (low < high).any():
        middle = (low + high + 1) // 2
        result = _filter(profile, cycle, rows, np.maximum(middle - 1, 0))
        if result.broken:
            return None
        fits: Mask = result.passed()
        low = np.where(fits & (low < high), middle, low)
        high = np.where(fits, high, np.maximum(middle - 1, low))
    return low


def _filter(profile: Profile, cycle: Cycle, rows: Ints, counts: Ints) -> FilterResult:
    """What filters say of one more pod on nodes that have so many already."""
    usage = cycle.cluster.usage.fork()
    usage.suppose_alike(rows, counts, cycle.pod)
    return run_filters(profile.filter, cycle.fork(usage), rows)


def _looks_at_single_nodes(engine: Engine, profile: Profile, cycle: Cycle) -> bool:
    if engine.configuration.extenders or engine.cluster.nominator or cycle.pod.shape.is_immense:
        return False
    filters = [plugin for plugin in profile.filter if plugin.name not in cycle.skip_filter]
    limits = [plugin.state_limits(cycle) for plugin in filters]
    return (
        any(each is not None and each.requests is not None for each in limits)
        and all(plugin.looks_at_sums(cycle) for plugin in filters)
        and all(plugin.sets_nothing_aside(cycle) for plugin in profile.reserve)
        and all(plugin.lets_go(cycle) for plugin in profile.permit)
    )
