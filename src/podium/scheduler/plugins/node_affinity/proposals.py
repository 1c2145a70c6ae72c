"""Labels and names of nodes: another value, one demand less, or a label for a node."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from podium.golang.arithmetic import parse_int
from podium.golang.errors import closest
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import NodeSelector
from podium.kubernetes.rules.labels import GREATER, IN, LESS
from podium.kubernetes.rules.nodes import is_daemon
from podium.scheduler.config.plugin_args import NodeAffinityArgs
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import TYPO
from podium.scheduler.framework.explanations.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.node_affinity.plugin import (
    LabelDemand,
    NodeAffinity,
    demands_of,
    demands_of_term,
    rename_keys,
    rewrite_demands,
    unmet_demands,
)

_OF_THE_MACHINE = ("kubernetes.io/", "beta.kubernetes.io/", "topology.kubernetes.io/")
"""Labels that tell what a machine is and where it is; nobody should write them by hand."""


def propose_other_labels(situation: Situation) -> Iterator[ProposedChange]:
    """Changes of the pod, those first that let go of the fewest demands for the most nodes."""
    groups = _nodes_by_unmet(situation)
    ranked = sorted(groups, key=lambda unmet: (len(unmet), -len(groups[unmet]), unmet))
    for unmet in ranked[:MAX_STEPS_OF_A_KIND]:
        hopeless = all(_is_hopeless(situation, demand) for demand in unmet)
        yield from _propose_keys(situation, unmet)
        yield from _propose_values(situation, unmet, groups[unmet], hopeless)
        told = " and ".join(f"{'field ' if d.is_field else ''}{d}" for d in unmet)
        changed = rewrite_demands(situation.pod, unmet, lambda _: None)
        weight = disturbance.DROP_REQUIREMENT if hopeless else disturbance.DROP_MET_REQUIREMENT
        weight += len(unmet) - 1
        yield situation.change_pod("drop-node-selector", f"drop {told}", weight, changed)


def _is_hopeless(situation: Situation, demand: LabelDemand) -> bool:
    """Whether no node at all meets a demand."""
    return not any(demand.matches(node) for node in situation.all_nodes())


def _nodes_by_unmet(situation: Situation) -> dict[tuple[LabelDemand, ...], list[Node]]:
    entries, terms = demands_of(situation.pod)
    groups: dict[tuple[LabelDemand, ...], list[Node]] = defaultdict(list)
    pinned = is_daemon(situation.pod)
    for node in _targets(situation):
        unmet = unmet_demands(entries, terms, node)
        if pinned and any(demand.is_field for demand in unmet):
            continue  # its daemon set has chosen the node
        if unmet:
            groups[unmet].append(node)
    return groups


def _targets(situation: Situation) -> Iterator[Node]:
    refusal = situation.refusal
    if refusal is not None and refusal.plugin == NodeAffinity.name:
        yield from situation.all_nodes()  # names in conflict: no node was looked at
        return
    for name in situation.nodes_near(NodeAffinity.name):
        yield situation.node(name)


def _propose_values(
    situation: Situation, unmet: tuple[LabelDemand, ...], nodes: list[Node], hopeless: bool
) -> Iterator[ProposedChange]:
    """Values that nodes have in place of those that none has, the most alike or frequent first."""
    choices: dict[tuple[tuple[str, ...], ...], int] = defaultdict(int)
    for node in nodes:
        values = tuple(_value_for(demand, node) for demand in unmet)
        if all(values):
            choices[values] += 1
    if not choices:
        return
    alike = [closest(unmet[0].values[0], [v[0][-1] for v in choices])] if unmet[0].values else []
    ranked = sorted(choices, key=lambda v: (v[0][-1] not in alike, -choices[v], v))
    for values in ranked[:2]:
        by_demand = dict(zip(unmet, values, strict=True))
        changed = rewrite_demands(situation.pod, unmet, lambda demand: by_demand[demand])  # noqa: B023
        told = " and ".join(_describe_value(d, v) for d, v in by_demand.items())
        typo = (
            hopeless
            and len(unmet) == 1
            and closest(unmet[0].values[0], [values[0][-1]], TYPO) == values[0][-1]
        )
        weight = disturbance.GIVE_EXISTING_VALUE if hopeless else disturbance.CHANGE_VALUE
        weight = disturbance.CORRECT_NAME if typo else weight
        yield situation.change_pod(
            "correct-label-value" if typo else "change-label-value",
            told,
            weight + len(unmet) - 1,
            changed,
        )


def _propose_keys(situation: Situation, unmet: tuple[LabelDemand, ...]) -> Iterator[ProposedChange]:
    """Labels that nodes have in place of those that none has and that are spelt nearly so."""
    labels = situation.cluster.nodes.labels
    keys = {d: key for d in unmet if not d.is_field and (key := labels.closest_key(d.key))}
    if not keys:
        return
    renamed = (
        f"ask for {dataclasses.replace(d, key=key)} in place of {d}" for d, key in keys.items()
    )
    yield situation.change_pod(
        "correct-label-key",
        f"{' and '.join(renamed)}, a label that no node has",
        disturbance.CORRECT_NAME + len(keys) - 1,
        rename_keys(situation.pod, keys),
    )


def _value_for(demand: LabelDemand, node: Node) -> tuple[str, ...]:
    """The values with which a demand would be met by a node; none if no value helps."""
    if demand.is_field:
        return (node.metadata.name,) if demand.operator == IN else ()
    found = (node.metadata.labels or {}).get(demand.key)
    if found is None:
        return ()
    match demand.operator:
        case "In":
            return (found,) if demand.term < 0 else (*demand.values, found)
        case "NotIn":
            return tuple(value for value in demand.values if value != found)
        case "Gt" | "Lt":
            number = parse_int(found)
            if number is not None:
                return (str(number - 1 if demand.operator == GREATER else number + 1),)
    return ()


def _describe_value(demand: LabelDemand, values: tuple[str, ...]) -> str:
    if demand.operator == IN:
        what = "node name" if demand.is_field else demand.key
        others = " or ".join(demand.values)
        joined = "in place of" if demand.term < 0 or demand.is_field else "besides"
        return f"ask for {what}={values[-1]} {joined} {others}"
    if demand.operator in (GREATER, LESS):
        sign = ">" if demand.operator == GREATER else "<"
        return f"ask for {demand.key}{sign}{values[0]} in place of {demand}"
    return f"allow {', '.join(sorted({*demand.values} - {*values}))} as {demand.key}"


# --- labels for nodes -------------------------------------------------------------------------


def propose_node_labels(
    situation: Situation, args: NodeAffinityArgs | None
) -> Iterator[ProposedChange]:
    """A label for one node; for a configuration's addedAffinity there is nothing else."""
    if not situation.nodes_near(NodeAffinity.name):
        return
    entries, terms = demands_of(situation.pod)
    enforced = _enforced_terms(args)
    if enforced:
        terms = terms or [[]]
        terms = [[*own, *added] for own in terms for added in enforced]
    offers = []
    for name in situation.nodes_near(NodeAffinity.name):
        node = situation.node(name)
        unmet = unmet_demands(entries, terms, node)
        labels = _labels_to_write(unmet)
        if labels:
            offers.append((len(labels), labels, node, unmet))
    offers.sort(key=lambda offer: offer[0])
    for _, labels, node, unmet in offers[:MAX_STEPS_OF_A_KIND]:
        merged = {**(node.metadata.labels or {}), **labels}
        kept = {key: value for key, value in merged.items() if value is not None}
        changed = replace(node, metadata=replace(node.metadata, labels=kept))
        told = " and ".join(
            f"{key}={value}" if value is not None else f"without {key}"
            for key, value in labels.items()
        )
        hopeless = all(_is_hopeless(situation, demand) for demand in unmet)
        weight = disturbance.LABEL_NODE if hopeless else disturbance.LABEL_LIKE_OTHERS
        yield ProposedChange(
            "label-node",
            f"label node {node.name} {told}",
            weight + len(labels) - 1,
            nodes=(changed,),
        )


def _labels_to_write(unmet: tuple[LabelDemand, ...]) -> dict[str, str | None]:
    """Labels that would meet demands; none if they cannot be met like that."""
    labels: dict[str, str | None] = {}
    for demand in unmet:
        if demand.is_field or demand.key.startswith(_OF_THE_MACHINE):
            return {}
        match demand.operator:
            case "In" if demand.values:
                labels[demand.key] = demand.values[0]
            case "Exists":
                labels[demand.key] = "true"
            case "DoesNotExist" | "NotIn":
                labels[demand.key] = None
            case _:
                return {}
    return labels


def _enforced_terms(args: NodeAffinityArgs | None) -> list[list[LabelDemand]]:
    added = args.added_affinity if args is not None else None
    written = added and added.required_during_scheduling_ignored_during_execution
    if not isinstance(written, NodeSelector):
        return []
    terms = written.node_selector_terms or ()
    return [demands_of_term(index, term) for index, term in enumerate(terms)]
