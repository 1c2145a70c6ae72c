"""Refusals that Podium cannot look behind: plugins of users, extenders, Reserve, Permit, errors.

Their own text is all there is to say, with who said it and of how many nodes.

Pods that are placed together or not at all.

Pods that were never tried: gates, groups, claims that are not there, other schedulers.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.catalog import group_of
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    count,
    join_words,
    sentence,
    some,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.framework.points import FilterPlugin, Plugin
from podium.scheduler.framework.status import Status

_ONE_NODE = re.compile(r"^0/\d+ nodes are available: 1 ")


def find_rejections(plugin: FilterPlugin, view: AttemptView, among: Mask) -> list[Finding]:
    """What a filter holds against nodes that it rejects; its reasons if it says no more."""
    try:
        found = list(plugin.explain_rejections(view, among))
    except Exception:  # an explanation that breaks leaves the plugin's own text
        found = []
    return found or _find_reasons(plugin, view, among)


def _find_reasons(plugin: FilterPlugin, view: AttemptView, among: Mask) -> list[Finding]:
    """The reasons of a filter, one finding for each."""
    found = []
    describe = _node_details(plugin, view)
    for status, nodes in view.examination.statuses(plugin.name):
        mask = nodes & among
        if mask.any():
            text = status.message or "no reason given"
            number = int(np.count_nonzero(mask))
            told = f'plugin {plugin.name} rejects {count(number, "node")}: "{text}"'
            behind = _ask(plugin, view.info, status.by(plugin.name))
            if behind is not None and not behind.keeps_message:
                told = behind.sentence[:1].lower() + behind.sentence[1:].rstrip(".")
            detail = f"plugin {plugin.name}: {text}"
            code = "plugin-refusal" if status.code.rejected else "plugin-error"
            found.append(Finding(code, text, mask, told, detail, _or(describe, detail)))
    return found


def _node_details(plugin: FilterPlugin, view: AttemptView) -> Callable[[int], str] | None:
    """What the plugin itself has to say of single nodes."""
    try:
        return plugin.explain_nodes(view.examination.cycle, view.rows)
    except Exception:  # an explanation that breaks leaves the plugin's own text
        return None


def explains_nodes(plugin: FilterPlugin) -> bool:
    """Whether a plugin has more to say of single nodes than its statuses do."""
    kind = type(plugin)
    return (
        kind.explain_rejections is not FilterPlugin.explain_rejections
        or kind.explain_nodes is not FilterPlugin.explain_nodes
    )


def _or(describe: Callable[[int], str] | None, detail: str) -> Callable[[int], str] | None:
    return None if describe is None else lambda position: describe(position) or detail


def chosen_by_plugins(view: AttemptView, explained: Iterable[str]) -> Narrowing | None:
    """The nodes that PreFilter plugins chose for the pod, if any did; those are `explained` that
    say of themselves what they choose."""
    outcome = view.examination.pre_filter
    by = sorted(outcome.narrowed_by.difference(explained))
    if outcome.nodes is None or not by:
        return None
    passes = np.array([name in outcome.nodes for name in view.names], dtype=np.bool_)
    plugin = ", ".join(by)
    plural, singular = f"are chosen by {plugin}", f"is chosen by {plugin}"
    return Narrowing(plugin, passes, plural, singular, lambda among: _find_not_chosen(view, among))


def _find_not_chosen(view: AttemptView, among: Mask) -> list[Finding]:
    """Plugins chose nodes for the pod that do not exist."""
    outcome = view.examination.pre_filter
    names = some(sorted(outcome.nodes or ()))
    by = ", ".join(sorted(outcome.narrowed_by))
    text = f"plugin {by} chose {names} for the pod, and there is no such node"
    return [Finding("plugin-refusal", names, among, text, text)]


def refused_whole_pod(status: Status) -> Cause:
    """A PreFilter plugin turned the pod away from all nodes."""
    code = "plugin-refusal" if status.code.rejected else "plugin-error"
    who = f"plugin {status.plugin}" if status.plugin else "the scheduler"
    text = sentence([f'{who} turns the pod away from every node: "{status.message}"'])
    return Cause(code, status.plugin, status.message, text)


def explain_refusal(engine: Engine, pod: Pod, status: Status) -> RefusalCause | None:
    """What a plugin says is behind its refusal."""
    profile = engine.profiles.get(pod.spec.scheduler_name)
    plugin = profile.plugins.get(status.plugin) if profile is not None else None
    return _ask(plugin, engine.cluster.infos.of(pod), status) if plugin is not None else None


def explained_by_plugin(engine: Engine, pod: Pod, status: Status) -> Cause | None:
    """What a plugin says in place of the message of its status."""
    told = explain_refusal(engine, pod, status)
    return None if told is None or told.keeps_message else cause_of(status.plugin, told)


def cause_of(plugin: str, told: RefusalCause) -> Cause:
    return Cause(told.code, plugin, told.subject, told.sentence, facts=dict(told.facts))


def _ask(plugin: Plugin, info: PodInfo, status: Status) -> RefusalCause | None:
    try:
        return plugin.explain_refusal(info, status)
    except Exception:  # an explanation that breaks leaves the plugin's own text
        return None


def refused_by_point(point: str, status: Status, node: str) -> Cause:
    """Reserve or Permit turned down the node that was chosen."""
    told = f'plugin {status.plugin} refused at {point}: "{status.message}"'
    text = sentence([f"node {node} was chosen and {told}"])
    return Cause(
        f"{point.lower()}-refusal", status.plugin, status.message, text, (node,) if node else ()
    )


def turned_away(plugin: str, node: str, message: str) -> Cause:
    """The pod had a node and lost it before it was bound: its wait at Permit was in vain, or a
    plugin refused while it was being bound."""
    who = f"by plugin {plugin}" if plugin else "while it was being bound"
    said = _ONE_NODE.sub("", message).rstrip(".")
    text = sentence([f'node {node} was chosen and the pod turned away {who}: "{said}"'])
    return Cause("turned-away", plugin, said, text, (node,))


def attempt_broke(plugin: str, message: str) -> Cause:
    return Cause("plugin-error", plugin, message, sentence([f"the attempt broke: {message}"]))


def not_explained(message: str) -> Cause:
    """What is left when nothing that is known of nodes says why."""
    return Cause("other", "", message, sentence([message or "no node was found"]))


def dropped_by_extenders(dropped: Mapping[str, Status]) -> list[Cause]:
    """Nodes that passed all filters and that extenders took away, by reason."""
    groups: dict[str, list[str]] = {}
    for node, status in dropped.items():
        groups.setdefault(status.message or "no reason given", []).append(node)
    return [
        Cause(
            "extender-refusal",
            "",
            reason,
            sentence(
                [
                    f"{count(len(nodes), 'node')} {'passes' if len(nodes) == 1 else 'pass'} all"
                    f" filters and an extender takes {'it' if len(nodes) == 1 else 'them'} away:"
                    f' "{reason}"'
                ]
            ),
            tuple(nodes),
        )
        for reason, nodes in sorted(groups.items(), key=lambda kv: (-len(kv[1]), kv[0]))
    ]


def find_group_cause(engine: Engine, pod: Pod) -> Cause | None:
    """The cause of a member whose group is placed as a whole; None for a pod on its own."""
    key = group_of(pod) if engine.cluster.pod_groups.enabled else None
    group = engine.cluster.catalog.get(PodGroup, key[1], key[0]) if key is not None else None
    if key is None or group is None:
        return None
    for plugin in engine.profile_of(pod).plugins.values():
        told = plugin.explain_group(group)
        if told is not None:
            return cause_of(plugin.name, told)
    subject = f"{key[0]}/{key[1]}"
    text = f"This pod alone would fit; PodGroup {subject} as a whole does not."
    return Cause("pod-group-unschedulable", "", subject, text)


def among_members(cause: Cause, group: Cause) -> str:
    """The sentence of a cause that was found with other members of the group in place."""
    return f"{cause.sentence} Members of PodGroup {group.subject} tried before it count as placed."


def find_waiting_cause(engine: Engine, pod: Pod) -> Cause | None:
    """Why a pod is not tried at all; None if nothing holds it back."""
    if pod.metadata.deletion_timestamp is not None:
        text = "The pod is being deleted and is not scheduled any more."
        return Cause("pod-deleting", "", "", text)
    if not engine.state.responsible(pod):
        name = pod.spec.scheduler_name
        known = join_words(engine.profiles)
        text = f"The pod asks for scheduler {name}; the profiles here are {known}."
        return Cause("other-scheduler", "", name, text, facts={"schedulerName": name})
    refusal = engine.pre_enqueue(engine.cluster.infos.of(pod))
    if refusal is None:
        return None
    return _find_refusal_cause(engine, pod, refusal)


def _find_refusal_cause(engine: Engine, pod: Pod, refusal: Status) -> Cause:
    told = explain_refusal(engine, pod, refusal)
    if told is not None:
        return cause_of(refusal.plugin, told)
    code = "pre-enqueue-refusal" if refusal.code.rejected else "plugin-error"
    who = f"plugin {refusal.plugin}" if refusal.plugin else "a plugin"
    text = sentence([f'{who} holds the pod back from the queue: "{refusal.message}"'])
    return Cause(code, refusal.plugin, refusal.message, text)
