"""Refusals that Podium cannot look behind: plugins of users, extenders, Reserve, Permit, errors.

Their own text is all there is to say, with who said it and of how many nodes.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np

from podium.cluster.growth import Mask
from podium.engine.scheduler import Engine
from podium.explain.cause import Cause
from podium.explain.causes.attempt_view import AttemptView, Narrowing
from podium.explain.causes.finding import Finding
from podium.explain.causes.wording import count, sentence, some
from podium.framework.points import FilterPlugin, Plugin
from podium.framework.status import Status
from podium.kubernetes.kinds.pod import Pod
from podium.plugins.node_affinity import NodeAffinity

_ONE_NODE = re.compile(r"^0/\d+ nodes are available: 1 ")


def find_own_words(view: AttemptView, plugin: str, among: Mask) -> list[Finding]:
    """The reasons of a plugin, one finding for each."""
    found = []
    describe = _node_details(view, plugin)
    for status, nodes in view.examination.statuses(plugin):
        mask = nodes & among
        if mask.any():
            text = status.message or "no reason given"
            number = int(np.count_nonzero(mask))
            told = f'plugin {plugin} rejects {count(number, "node")}: "{text}"'
            behind = explained_by_plugin(view.engine, view.pod, status.by(plugin))
            if behind is not None:
                told = behind.sentence[:1].lower() + behind.sentence[1:].rstrip(".")
            detail = f"plugin {plugin}: {text}"
            code = "plugin-refusal" if status.code.rejected else "plugin-error"
            found.append(Finding(code, text, mask, told, detail, _or(describe, detail)))
    return found


def _node_details(view: AttemptView, name: str) -> Callable[[int], str] | None:
    """What the plugin itself has to say of single nodes."""
    plugin = view.plugin(name)
    if not isinstance(plugin, FilterPlugin) or not explains_nodes(plugin):
        return None
    try:
        return plugin.explain_nodes(view.examination.cycle, view.rows)
    except Exception:  # an explanation that breaks leaves the plugin's own text
        return None


def explains_nodes(plugin: Plugin | None) -> bool:
    """Whether a plugin has more to say of single nodes than its statuses do."""
    if not isinstance(plugin, FilterPlugin):
        return False
    return type(plugin).explain_nodes is not FilterPlugin.explain_nodes


def _or(describe: Callable[[int], str] | None, detail: str) -> Callable[[int], str] | None:
    return None if describe is None else lambda position: describe(position) or detail


def chosen_by_plugins(view: AttemptView) -> Narrowing | None:
    """The nodes that PreFilter plugins of users chose for the pod, if any did."""
    outcome = view.examination.pre_filter
    by = sorted(outcome.narrowed_by - {NodeAffinity.name})
    if outcome.nodes is None or not by:
        return None
    passes = np.array([name in outcome.nodes for name in view.names], dtype=np.bool_)
    plugin = ", ".join(by)
    return Narrowing(plugin, passes, f"are chosen by {plugin}", f"is chosen by {plugin}")


def find_not_chosen(view: AttemptView, among: Mask) -> list[Finding]:
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


def explained_by_plugin(engine: Engine, pod: Pod, status: Status) -> Cause | None:
    """What a plugin itself says is behind its refusal."""
    profile = engine.profiles.get(pod.spec.scheduler_name)
    plugin = profile.plugins.get(status.plugin) if profile is not None else None
    if plugin is None:
        return None
    try:
        told = plugin.explain_refusal(engine.cluster.infos.of(pod), status)
    except Exception:  # an explanation that breaks leaves the plugin's own text
        return None
    if told is None:
        return None
    return Cause(told.code, status.plugin, told.subject, told.sentence, facts=dict(told.facts))


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
