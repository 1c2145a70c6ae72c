"""From what every filter says about every node to the causes, the one that matters first.

What the pod asks of a node (labels, size, volumes, devices, affinity) narrows the choice. Where
nothing is left, that is the cause. Of the nodes that are left, those count that the fewest filters
reject: a filter that alone stands between the pod and many nodes comes before one that keeps it
from few, and where each node has several against it, they are named together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from podium.cluster.growth import Mask
from podium.cluster.pod_info import PodInfo
from podium.engine.decision import Decision
from podium.engine.scheduler import Engine
from podium.explain.cause import Cause
from podium.explain.causes.attempt_view import AttemptView, Narrowing
from podium.explain.causes.device_claims import (
    find_device_claim_problem,
    find_device_class_problem,
)
from podium.explain.causes.families import FINDERS, NARROWINGS, Find, find
from podium.explain.causes.finding import Finding
from podium.explain.causes.node_labels import find_name_conflict
from podium.explain.causes.pod_groups import among_members, find_group_cause
from podium.explain.causes.refusals import (
    attempt_broke,
    chosen_by_plugins,
    dropped_by_extenders,
    explained_by_plugin,
    explains_nodes,
    find_not_chosen,
    not_explained,
    refused_by_point,
    refused_whole_pod,
)
from podium.explain.causes.taints import cordoned_only
from podium.explain.causes.volume_claims import find_claim_problem
from podium.explain.causes.wording import count, joined, sentence
from podium.explain.filter_examination import FilterExamination
from podium.framework.fit_message import NO_NODES
from podium.framework.status import Status
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.node_affinity.plugin import NAMES_CONFLICT
from podium.plugins.node_unschedulable import NodeUnschedulable
from podium.plugins.taint_toleration import TaintToleration

MAX_CAUSES = 5
MAX_PLUGINS_TOLD = 3

_BY_DEGREE = frozenset({"NodeResourcesFit", "NodeVolumeLimits"})
"""Plugins that are nearer to some nodes than to others: only the nodes that matter are compared."""
_VOLUME_PLUGINS = frozenset({"VolumeBinding", "VolumeZone", "VolumeRestrictions"})


def find_causes(
    engine: Engine, decision: Decision, filtered: Sequence[Cause] = (), broken: str = ""
) -> tuple[Cause, ...]:
    """Why an attempt found no node; nothing if it found one.

    `filtered` is what `find_filter_causes` said when the node was looked for, `broken` the filter
    that could not answer then. The cluster may have moved on since.
    """
    if decision.bound is not None:
        return ()
    refused = decision.refused_by
    if refused is not None:
        profile = engine.profile_of(decision.pod.pod)
        permits = any(plugin.name == refused.plugin for plugin in profile.permit)
        point = "Permit" if permits else "Reserve"
        told = explained_by_plugin(engine, decision.pod.pod, refused)
        return (told or refused_by_point(point, refused, decision.chosen or ""),)
    if decision.is_error:
        return (attempt_broke(broken, decision.message or ""),)
    if decision.message == NO_NODES:
        return (Cause("no-nodes", "", "", "There are no nodes."),)
    causes = (*dropped_by_extenders(decision.dropped), *filtered)[:MAX_CAUSES]
    group = find_group_cause(engine, decision.pod.pod)
    if group is None:
        return causes or (not_explained(decision.message or ""),)
    return tuple(replace(cause, sentence=among_members(cause, group)) for cause in causes) or (
        group,
    )


def find_filter_causes(
    engine: Engine, info: PodInfo, examination: FilterExamination
) -> tuple[Cause, ...]:
    """What PreFilter and Filter plugins have against all nodes; nothing if some node fits.

    The engine stands between two cycles, its cluster is as the examination found it.
    """
    view = AttemptView(engine, info, examination)
    status = examination.pre_filter.status
    if status is not None:
        return (_whole_pod(view, status),)
    if not len(examination.nodes) or examination.accepted().any():
        return ()
    introduction = _narrow(view)
    if isinstance(introduction, Cause):
        return (introduction,)
    return tuple(islice(_stops(view, introduction), MAX_CAUSES))


def find_broken_filter(examination: FilterExamination) -> str:
    """The filter that could not answer, if there is one."""
    for plugin in examination.plugins:
        if any(not status.code.rejected for status, _ in examination.statuses(plugin)):
            return plugin
    return ""


def _whole_pod(view: AttemptView, status: Status) -> Cause:
    """A PreFilter plugin's refusal."""
    if status.reasons == NAMES_CONFLICT.reasons:
        return _cause(status.plugin, find_name_conflict(view), ())
    if status.plugin in _VOLUME_PLUGINS:
        finding = find_claim_problem(view)
        if finding is not None:
            return _cause(status.plugin, finding, ())
    if status.plugin == DynamicResources.name:
        cause = find_device_claim_problem(view.engine, view.pod) or find_device_class_problem(
            view.engine, view.pod
        )
        if cause is not None:
            return cause
    return explained_by_plugin(view.engine, view.pod, status) or refused_whole_pod(status)


# --- narrowing --------------------------------------------------------------------------------


def _narrow(view: AttemptView) -> str | Cause:
    """Leave the nodes that can serve the pod; what that takes, or that none is left."""
    phrases: list[tuple[str, str]] = []
    for narrowing, explain in _narrowings(view):
        plugin = narrowing.plugin
        left = view.candidates & narrowing.passes
        if not (view.candidates & ~left).any():
            continue
        if not left.any():
            told = _introduce(view, phrases)
            findings = explain(view, view.candidates) or find(view, plugin, view.candidates)
            return _cause(plugin, findings[0], (told,), view)
        view.candidates, view.introduced = left, True
        phrases.append((narrowing.plural, narrowing.singular))
    return _introduce(view, phrases)


def _narrowings(view: AttemptView) -> Iterator[tuple[Narrowing, Find]]:
    """One after the other, each asked when those before it have narrowed the view."""
    chosen = chosen_by_plugins(view)
    if chosen is not None:
        yield chosen, find_not_chosen
    for plugin, (narrow, explain) in NARROWINGS.items():
        if plugin in view.examination.plugins:
            yield narrow(view), explain


def _introduce(view: AttemptView, phrases: Sequence[tuple[str, str]]) -> str:
    """`20 nodes match pool=gpu`, or nothing if every node will do."""
    if not phrases:
        return ""
    number = int(np.count_nonzero(view.candidates))
    if number == 1:
        return f"1 node ({view.named(view.candidates)[0]}) {joined(one for _, one in phrases)}"
    return f"{count(number, 'node')} {joined(many for many, _ in phrases)}"


# --- what stops the nodes that are left ---------------------------------------------------------


def _stops(view: AttemptView, introduction: str) -> Iterator[Cause]:
    plugins, matrix = _rejections(view)
    numbers = matrix.sum(axis=0)
    nearest = view.candidates & (numbers == numbers[view.candidates].min())
    for members, nodes in _patterns(matrix, nearest):
        first, *others = (plugins[number] for number in members)
        rest = [find(view, plugin, nodes) for plugin in others[: MAX_PLUGINS_TOLD - 1]]
        among = nodes if first in _BY_DEGREE else matrix[plugins.index(first)]
        findings = [f for f in find(view, first, among) if (f.nodes & nodes).any()]
        if first not in _BY_DEGREE:
            findings.sort(key=lambda f: -int(np.count_nonzero(f.nodes & nodes)))
        for finding in findings:
            besides = [f for found in rest for f in found[:1] if (f.nodes & finding.nodes).any()]
            yield _cause(first, finding, (introduction,), view, besides)


def _rejections(view: AttemptView) -> tuple[list[str], Mask]:
    """The plugins that reject candidates, and where; a cordon and its taint are one thing."""
    plugins: list[str] = []
    masks: list[Mask] = []
    for plugin in view.examination.plugins:
        mask = view.rejected(plugin) & view.candidates
        if plugin == TaintToleration.name and NodeUnschedulable.name in plugins:
            mask = mask & ~cordoned_only(view)
        if mask.any():
            plugins.append(plugin)
            masks.append(mask)
    return plugins, np.array(masks, dtype=np.bool_)


def _patterns(matrix: Mask, nearest: Mask) -> list[tuple[list[int], Mask]]:
    """The sets of plugins that reject nodes together, those with most nodes first."""
    positions = np.flatnonzero(nearest)
    patterns, which, sizes = np.unique(
        matrix[:, positions], axis=1, return_inverse=True, return_counts=True
    )
    found = []
    for number in np.argsort(-sizes, kind="stable").tolist():
        mask: Mask = np.zeros(len(nearest), dtype=np.bool_)
        mask[positions[which.ravel() == number]] = True
        found.append((np.flatnonzero(patterns[:, number]).tolist(), mask))
    return found


def _cause(
    plugin: str,
    finding: Finding,
    before: Sequence[str],
    view: AttemptView | None = None,
    besides: Sequence[Finding] = (),
) -> Cause:
    """The cause that a finding is, with what is told before it and what comes on top of it."""
    clauses = [*before, finding.clause, *(f"besides, {other.clause}" for other in besides)]
    facts = dict(finding.facts)
    if besides:
        facts["besides"] = [{"code": f.code, "subject": f.subject, **f.facts} for f in besides]
    if view is not None and finding.relax is not None:
        relaxation = finding.relax()
        fitting = view.count_fitting(relaxation.pod)
        facts["wouldFit"] = fitting
        if fitting:
            who = "1 node" if fitting == 1 else f"{fitting:,}"
            clauses.append(f"{relaxation.words} {who} would fit")
    nodes = tuple(view.named(finding.nodes)) if view is not None else ()
    subject = "; ".join((finding.subject, *(other.subject for other in besides)))
    return Cause(finding.code, plugin, subject, sentence(clauses), nodes, facts)


# --- one node -----------------------------------------------------------------------------------


def describe_nodes(
    engine: Engine, info: PodInfo, examination: FilterExamination
) -> dict[str, list[Finding]]:
    """Plugin -> what it holds against nodes, over all nodes; for the question about one of them."""
    view = AttemptView(engine, info, examination)
    found: dict[str, list[Finding]] = {}
    for plugin in examination.plugins:
        mask = view.rejected(plugin)
        if mask.any() and (plugin in FINDERS or explains_nodes(view.plugin(plugin))):
            found[plugin] = find(view, plugin, mask)
    return found
