"""From what every filter says about every node to the causes, the one that matters first.

What the pod asks of a node (labels, size, volumes, devices, affinity) narrows the choice. Where
nothing is left, that is the cause. Of the nodes that are left, those count that the fewest filters
reject: a filter that alone stands between the pod and many nodes comes before one that keeps it
from few, and where each node has several against it, they are named together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes.refusals import (
    among_members,
    attempt_broke,
    cause_of,
    chosen_by_plugins,
    dropped_by_extenders,
    explain_refusal,
    explained_by_plugin,
    explains_nodes,
    find_group_cause,
    find_rejections,
    not_explained,
    refused_by_point,
    refused_whole_pod,
)
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.diagnosis import NO_NODES
from podium.scheduler.framework.explanations.filter_examination import FilterExamination
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    count,
    join_words,
    sentence,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.status import Status

MAX_CAUSES = 5
MAX_PLUGINS_TOLD = 3


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

    The engine is between two cycles, its cluster is as the examination found it.
    """
    status = examination.pre_filter.status
    if status is not None:
        return (_whole_pod(engine, info.pod, status),)
    if not len(examination.nodes) or examination.mask_accepted().any():
        return ()
    view = view_of(engine, info, examination)
    filters = _filters_of(engine, info, examination)
    introduction = _narrow(view, filters)
    if isinstance(introduction, Cause):
        return (introduction,)
    return tuple(islice(_stops(view, introduction, filters), MAX_CAUSES))


def view_of(engine: Engine, info: PodInfo, examination: FilterExamination) -> AttemptView:
    trial = Trial(engine, info.pod)

    def count_fitting(pod: Pod) -> int:
        return int(np.count_nonzero(trial.examine(pod).mask_accepted()))

    return AttemptView(engine.cluster, engine.gates, info, examination, count_fitting)


def _filters_of(
    engine: Engine, info: PodInfo, examination: FilterExamination
) -> dict[str, FilterPlugin]:
    """The filters that were asked, in calling order."""
    filters = {plugin.name: plugin for plugin in engine.profile_of(info.pod).filter}
    return {name: filters[name] for name in examination.plugins}


def find_broken_filter(examination: FilterExamination) -> str:
    """The filter that could not answer, if there is one."""
    for plugin in examination.plugins:
        if any(not status.code.rejected for status, _ in examination.statuses(plugin)):
            return plugin
    return ""


def _whole_pod(engine: Engine, pod: Pod, status: Status) -> Cause:
    """A PreFilter plugin's refusal."""
    told = explain_refusal(engine, pod, status)
    return cause_of(status.plugin, told) if told is not None else refused_whole_pod(status)


# --- narrowing --------------------------------------------------------------------------------


def _narrow(view: AttemptView, filters: Mapping[str, FilterPlugin]) -> str | Cause:
    """Leave the nodes that can serve the pod; what that takes, or that none is left."""
    phrases: list[tuple[str, str]] = []
    for narrowing in _narrowings(view, filters.values()):
        plugin = narrowing.plugin
        left = view.candidates & narrowing.passes
        if not (view.candidates & ~left).any():
            continue
        if not left.any():
            told = _introduce(view, phrases)
            findings = narrowing.explain(view.candidates) if narrowing.explain else []
            findings = findings or find_rejections(filters[plugin], view, view.candidates)
            return _cause(plugin, findings[0], (told,), view)
        view.candidates, view.introduced = left, True
        phrases.append((narrowing.plural, narrowing.singular))
    return _introduce(view, phrases)


def _narrowings(view: AttemptView, filters: Iterable[FilterPlugin]) -> Iterator[Narrowing]:
    """One after the other, each asked when those before it have narrowed the view."""
    narrowing = sorted((f for f in filters if f.narrows is not None), key=lambda f: f.narrows or 0)
    chosen = chosen_by_plugins(view, (plugin.name for plugin in narrowing))
    if chosen is not None:
        yield chosen
    for plugin in narrowing:
        yield plugin.narrow_nodes(view)


def _introduce(view: AttemptView, phrases: Sequence[tuple[str, str]]) -> str:
    """`20 nodes match pool=gpu`, or nothing if every node will do."""
    if not phrases:
        return ""
    number = int(np.count_nonzero(view.candidates))
    if number == 1:
        return f"1 node ({view.named(view.candidates)[0]}) {join_words(one for _, one in phrases)}"
    return f"{count(number, 'node')} {join_words(many for many, _ in phrases)}"


# --- what stops the nodes that are left ---------------------------------------------------------


def _stops(
    view: AttemptView, introduction: str, filters: Mapping[str, FilterPlugin]
) -> Iterator[Cause]:
    plugins, matrix = _rejections(view, filters.values())
    numbers = matrix.sum(axis=0)
    nearest = view.candidates & (numbers == numbers[view.candidates].min())
    for members, nodes in _patterns(matrix, nearest):
        first, *others = (plugins[number] for number in members)
        rest = [find_rejections(plugin, view, nodes) for plugin in others[: MAX_PLUGINS_TOLD - 1]]
        among = nodes if first.rejects_by_degree else matrix[plugins.index(first)]
        findings = [f for f in find_rejections(first, view, among) if (f.nodes & nodes).any()]
        if not first.rejects_by_degree:
            findings.sort(key=lambda f: -int(np.count_nonzero(f.nodes & nodes)))
        for finding in findings:
            besides = [f for found in rest for f in found[:1] if (f.nodes & finding.nodes).any()]
            yield _cause(first.name, finding, (introduction,), view, besides)


def _rejections(
    view: AttemptView, filters: Iterable[FilterPlugin]
) -> tuple[list[FilterPlugin], Mask]:
    """The plugins that reject candidates, and where; what two say of one thing counts once."""
    plugins: list[FilterPlugin] = []
    masks: list[Mask] = []
    for plugin in filters:
        mask = view.rejected(plugin.name) & view.candidates
        restated = plugin.find_restated(view) if mask.any() else None
        if restated is not None and any(other.name == restated.plugin for other in plugins):
            mask = mask & ~restated.nodes
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
    """The cause that a finding is, with what is reported before it and what comes on top of it."""
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
    view = view_of(engine, info, examination)
    found: dict[str, list[Finding]] = {}
    for name, plugin in _filters_of(engine, info, examination).items():
        mask = view.rejected(name)
        if mask.any() and explains_nodes(plugin):
            found[name] = find_rejections(plugin, view, mask)
    return found
