"""Which nodes a pod can ever come to while other pods come: the answers of filters that stand.

Filters are asked one by one on a cluster without the pods in question. What most of them refuse
then they refuse whatever else is placed: labels and taints stay, and room only shrinks. Filters
that may think better of it, and those that nobody knows, are not believed and are named.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from podium.cluster.growth import Ints, Mask
from podium.cluster.pod_info import PodInfo
from podium.engine.scheduler import Engine
from podium.framework.cycle import Cycle
from podium.framework.filtering import run_filters, run_pre_filters
from podium.framework.points import FilterPlugin, Plugin, PreFilterPlugin
from podium.framework.profile import Profile
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.plugins.legacy_volume_limits import (
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)
from podium.plugins.node_affinity import NodeAffinity
from podium.plugins.node_declared_features import NodeDeclaredFeatures
from podium.plugins.node_label import NodeLabel
from podium.plugins.node_name import NodeName
from podium.plugins.node_ports import NodePorts
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.plugin import Demands
from podium.plugins.node_unschedulable import NodeUnschedulable
from podium.plugins.node_volume_limits import NodeVolumeLimits
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.plugins.pod_topology_spread.filtering import SpreadFilterState
from podium.plugins.taint_toleration import TaintToleration
from podium.plugins.volume_binding import VolumeBinding
from podium.plugins.volume_restrictions import VolumeRestrictions
from podium.plugins.volume_zone import VolumeZone
from podium.what_if.card_sums import card_demands, is_card_plugin

_STANDING: Final[tuple[type[Plugin], ...]] = (
    AzureDiskLimits,
    CinderLimits,
    DynamicResources,
    EBSLimits,
    GCEPDLimits,
    NodeAffinity,
    NodeDeclaredFeatures,
    NodeLabel,
    NodeName,
    NodePorts,
    NodeResourcesFit,
    NodeUnschedulable,
    NodeVolumeLimits,
    TaintToleration,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
)
"""What these refuse, they refuse for good while pods only come."""
_OF_OTHER_PODS: Final = (InterPodAffinity, PodTopologySpread)
"""What these refuse depends on who else is there, and is stated in rows of its own."""


@dataclass(slots=True)
class StandingAnswer:
    """What is known of a pod: `fits` by position among the rows, the names of plugins that were
    not believed, and what its profile has counted."""

    fits: Mask
    disbelieved: set[str] = field(default_factory=set)
    demands: Demands | None = None
    """None where no filter looks at requests."""
    spread: SpreadFilterState | None = None
    cards: dict[str, int] = field(default_factory=dict)
    """What it takes of the GPU cards of a node."""
    card_plugin: Plugin | None = None
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
    for each in profile.filter:
        is_silent = each.name in cycle.skip_filter or each.name in refusing
        if not is_silent and not isinstance(each, _OF_OTHER_PODS):
            _ask(each, cycle, rows, answer)
    _read_states(profile, cycle, answer)
    if answer.minds_pods:
        answer.fits &= _far_from_others(engine, profile, info, rows)
    return answer


def _ask(plugin: FilterPlugin, cycle: Cycle, rows: Ints, answer: StandingAnswer) -> None:
    result = run_filters([plugin], cycle, rows)
    if _is_believed(plugin, cycle) and not result.broken:
        answer.fits &= result.passed()
        answer.minds_ports |= isinstance(plugin, NodePorts)
    else:
        answer.disbelieved.add(plugin.name)


def _is_believed(plugin: PreFilterPlugin | FilterPlugin, cycle: Cycle) -> bool:
    if type(plugin) in (*_STANDING, *_OF_OTHER_PODS) or is_card_plugin(plugin):
        return True
    if not isinstance(plugin, FilterPlugin):
        return False
    dependence = plugin.filter_depends(cycle)
    return dependence is not None and dependence.stands


def _read_states(profile: Profile, cycle: Cycle, answer: StandingAnswer) -> None:
    for plugin in profile.filter:
        state = cycle.states.get(plugin.name)
        if isinstance(plugin, NodeResourcesFit) and isinstance(state, Demands):
            answer.demands = state
        elif isinstance(plugin, InterPodAffinity):
            answer.minds_pods = True
        elif is_card_plugin(plugin) and plugin.name not in cycle.skip_filter:
            answer.cards, answer.card_plugin = card_demands(plugin, state), plugin
        elif isinstance(state, SpreadFilterState) and plugin.name not in cycle.skip_filter:
            answer.spread = state


def _far_from_others(engine: Engine, profile: Profile, info: PodInfo, rows: Ints) -> Mask:
    """Nodes where no pod that stays is in the way of anti-affinity, of either side. Affinity may
    still be satisfied by pods that come, so the question is put for a pod without any."""
    everywhere: Mask = np.ones(len(rows), dtype=np.bool_)
    affinity = info.pod.spec.affinity
    pod = info.pod
    if affinity is not None and affinity.pod_affinity is not None:
        pod = replace(pod, spec=replace(pod.spec, affinity=replace(affinity, pod_affinity=None)))
    plugins = [each for each in profile.filter if isinstance(each, InterPodAffinity)]
    cycle = Cycle(engine.cluster.infos.of(pod), engine.cluster)
    for plugin in plugins:
        outcome = run_pre_filters([plugin], cycle)
        if outcome.status is not None:
            return ~everywhere
        if plugin.name not in cycle.skip_filter:
            everywhere &= run_filters([plugin], cycle, rows).passed()
    return everywhere
