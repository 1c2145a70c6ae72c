"""Which nodes a pod can ever come to while other pods come: the answers of filters that stand.

Filters are asked one by one on a cluster without the pods in question. What most of them refuse
then they refuse whatever else is placed: labels and taints stay, and room only shrinks. That is a
promise of the plugin (`refusals_stand`, or what its filter depends on); those that promise nothing
may think better of it, are not believed and are named. What a filter counts it states itself
(`scheduler/framework/dependence.py`).
"""

from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Demand, PlacementLimits, SpreadLimit
from podium.scheduler.framework.filtering import run_filters, run_pre_filters
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin


@dataclass(slots=True)
class StandingAnswer:
    """What is known of a pod: `fits` by position among the rows, the names of plugins that were
    not believed, and what the filters of its profile state."""

    fits: Mask
    disbelieved: set[str] = field(default_factory=set)
    demands: list[Demand] | None = None
    """None where no filter looks at requests."""
    spread: list[SpreadLimit] = field(default_factory=list)
    amounts: dict[str, int] = field(default_factory=dict)
    """What it takes of what plugins count themselves (`counting`)."""
    counting: list[FilterPlugin] = field(default_factory=list)
    leaves_out: list[str] = field(default_factory=list)
    minds_ports: bool = False
    minds_pods: bool = False
    """Whether (anti-)affinity to other pods counts."""


def ask_filters(engine: Engine, info: PodInfo, rows: Ints) -> StandingAnswer:
    profile = engine.profile_of(info.pod)
    cycle = Cycle(info, engine.cluster)
    answer = StandingAnswer(np.ones(len(rows), dtype=np.bool_))
    names = engine.cluster.nodes.names
    refusing: set[str] = set()
    for plugin in profile.pre_filter:
        outcome = run_pre_filters([plugin], cycle)
        if outcome.status is None and outcome.nodes is None:
            continue
        if outcome.status is not None:
            refusing.add(plugin.name)
        if not _is_believed(plugin, cycle):
            answer.disbelieved.add(plugin.name)
        elif outcome.status is not None:
            answer.fits[:] = False
        elif outcome.nodes is not None:
            within = outcome.nodes
            answer.fits &= np.array([names[row] in within for row in rows.tolist()], np.bool_)
    minding = []
    for each in profile.filter:
        limits = each.state_limits(cycle) or PlacementLimits()
        is_believed = True
        if each.name not in cycle.skip_filter | refusing and not limits.says_all:
            is_believed = _ask(each, cycle, rows, answer)
        _note_limits(each, limits, answer)
        answer.minds_ports |= limits.host_ports and is_believed and each.name not in refusing
        if limits.affinity:
            minding.append(each)
    if minding:
        answer.minds_pods = True
        answer.fits &= _far_from_others(engine, minding, info, rows)
    return answer


def _ask(plugin: FilterPlugin, cycle: Cycle, rows: Ints, answer: StandingAnswer) -> bool:
    """Whether it is believed."""
    result = run_filters([plugin], cycle, rows)
    is_believed = _is_believed(plugin, cycle) and not result.broken
    if is_believed:
        answer.fits &= result.mask_passed()
    else:
        answer.disbelieved.add(plugin.name)
    return is_believed


def _is_believed(plugin: PreFilterPlugin | FilterPlugin, cycle: Cycle) -> bool:
    if plugin.refusals_stand:
        return True
    if not isinstance(plugin, FilterPlugin):
        return False
    limits = plugin.state_limits(cycle)
    if limits is not None and limits.says_all:
        return True
    dependence = plugin.filter_depends(cycle)
    return dependence is not None and dependence.stands


def _note_limits(plugin: FilterPlugin, limits: PlacementLimits, answer: StandingAnswer) -> None:
    if limits.requests is not None:
        answer.demands = [*(answer.demands or ()), *limits.requests]
    answer.spread += limits.spread
    if limits.amounts is not None:
        answer.amounts |= limits.amounts
        answer.counting.append(plugin)
    if limits.leaves_out:
        answer.leaves_out.append(limits.leaves_out)


def _far_from_others(
    engine: Engine, plugins: list[FilterPlugin], info: PodInfo, rows: Ints
) -> Mask:
    """Nodes where no pod that stays is in the way of anti-affinity, of either side. Affinity may
    still be satisfied by pods that come, so the question is put for a pod without any."""
    everywhere: Mask = np.ones(len(rows), dtype=np.bool_)
    affinity = info.pod.spec.affinity
    pod = info.pod
    if affinity is not None and affinity.pod_affinity is not None:
        pod = replace(pod, spec=replace(pod.spec, affinity=replace(affinity, pod_affinity=None)))
    cycle = Cycle(engine.cluster.infos.of(pod), engine.cluster)
    for plugin in plugins:
        if isinstance(plugin, PreFilterPlugin):
            outcome = run_pre_filters([plugin], cycle)
            if outcome.status is not None:
                return ~everywhere
        if plugin.name not in cycle.skip_filter:
            everywhere &= run_filters([plugin], cycle, rows).mask_passed()
    return everywhere
