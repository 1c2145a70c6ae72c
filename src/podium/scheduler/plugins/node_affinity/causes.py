"""Labels and names that a pod demands of nodes: what no node has, and the nearest there are."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import replace

from podium.golang.errors import closest, did_you_mean
from podium.golang.json_values import JsonValue
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.labels import EXISTS, GREATER, IN, LESS, Requirement
from podium.kubernetes.rules.node_affinity import (
    NAME_FIELD,
    NodeTerm,
    parse_node_selector,
    required_of,
    required_selector,
)
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.node_matching import labels_mask, term_mask
from podium.scheduler.config.plugin_args import NodeAffinityArgs
from podium.scheduler.framework.explanations.finding import (
    TYPO,
    Finding,
    Narrowing,
    Relaxation,
    count,
    counted_values,
    join_words,
    or_rather,
    sentence,
    some,
    term_text,
    terms_text,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.plugins.node_affinity import NodeAffinity
from podium.scheduler.plugins.node_affinity.plugin import ENFORCED_MISMATCH

MAX_WORDS_OF_TERMS = 3
MAX_LISTED = 5
MAX_COMPARED = 500
"""So many values of a label are compared with a misspelt one."""


def narrow_by_labels(view: AttemptView) -> Narrowing:
    """Where nodeSelector and required node affinity let the pod go."""
    wanted = selector_text(view)
    rejected = view.rejected(NodeAffinity.name)
    return Narrowing(NodeAffinity.name, ~rejected, f"match {wanted}", f"matches {wanted}")


def selector_text(view: AttemptView) -> str:
    """nodeSelector and required terms as one would write them for kubectl."""
    required = view.shape.node_affinity
    parts = [str(requirement) for requirement in required.selector.requirements]
    if required.terms is not None:
        told = [term_text(term) for term in required.terms[:MAX_WORDS_OF_TERMS]]
        left = len(required.terms) - len(told)
        if left:
            told.append(f"{left} more terms")
        parts.append(join_words(told, "or"))
    return ", ".join(parts) or "the scheduler's addedAffinity"


def find_labels(view: AttemptView, among: Mask, args: NodeAffinityArgs) -> list[Finding]:
    """Why no node matches; `among` are the nodes that could, were it not for labels."""
    enforced = _find_enforced(view, among, args)
    if enforced is not None:
        return [enforced]
    required = view.shape.node_affinity
    conditions = list(required.selector.requirements)
    terms = required.terms
    if terms is None or len(terms) == 1:
        term = terms[0] if terms else NodeTerm()
        finding = _find_in_term(view, among, conditions, term)
        return [finding]
    stuck = labels_mask(view.table, conditions, view.rows)
    if conditions and stuck is not None and not stuck.any():
        return [_find_in_term(view, among, conditions, NodeTerm())]
    told = "; ".join(
        _find_in_term(view, among, conditions, term).clause for term in terms[:MAX_WORDS_OF_TERMS]
    )
    clause = f"none of the {len(terms)} terms of the pod's node affinity matches a node: {told}"
    return [
        Finding(
            "node-labels-apart",
            selector_text(view),
            among,
            clause,
            f"the node does not match {selector_text(view)}",
            _describer(view),
            relax=lambda: _without_selectors(view.pod),
        )
    ]


def explain_name_conflict(pod: Pod) -> RefusalCause:
    """Terms that each name a node, and no node that they agree on."""
    written = required_selector(pod)
    names = [
        value
        for term in (written.node_selector_terms if written is not None else None) or ()
        for field in term.match_fields or ()
        if field.key == NAME_FIELD
        for value in field.values or ()
    ]
    clause = (
        f"the pod's node affinity asks for a node that is named {join_words(names)} at once,"
        " which no node can be"
    )
    facts: dict[str, JsonValue] = {"names": [*names]}
    return RefusalCause(
        "node-names-conflict", ",".join(names), sentence([clause]), facts, keeps_message=True
    )


def _find_enforced(view: AttemptView, among: Mask, args: NodeAffinityArgs) -> Finding | None:
    mask = among & view.with_reason(NodeAffinity.name, ENFORCED_MISMATCH.reasons[0])
    if not mask.any() or (among & ~mask).any():
        return None
    written = args.added_affinity
    required = (
        written.required_during_scheduling_ignored_during_execution if written is not None else None
    )
    terms = parse_node_selector(required) if required is not None else ()
    wanted = terms_text(terms)
    nobody = "no node" if among.all() else "none of them"
    clause = f"the scheduler's own addedAffinity asks for {wanted}; {nobody} has that"
    return Finding(
        "enforced-node-affinity",
        wanted,
        mask,
        clause,
        f"the scheduler's addedAffinity asks for {wanted}",
        facts={"addedAffinity": wanted},
    )


def _find_in_term(
    view: AttemptView, among: Mask, conditions: Sequence[Requirement], term: NodeTerm
) -> Finding:
    """What is wrong with nodeSelector and one term, given that no node meets both."""
    if term.error is not None:
        clause = f"the pod's node affinity cannot be read: {term.error}"
        return Finding("node-affinity-invalid", term.error, among, clause, clause)
    all_conditions = [*conditions, *term.expressions]
    for condition in all_conditions:
        mask = labels_mask(view.table, (condition,), view.rows)
        if mask is not None and not mask.any():
            return _find_unmet(view, among, condition)
    names = [field.value for field in term.fields if field.key == NAME_FIELD]
    if names and not term_mask(view.table, NodeTerm(fields=term.fields), view.rows).any():
        return _find_unnamed(view, among, names)
    return _find_apart(view, among, all_conditions, term)


def _find_unmet(view: AttemptView, among: Mask, condition: Requirement) -> Finding:
    """A condition that no node meets, and what nodes have instead."""
    key = condition.key
    values = view.label(key, view.everywhere)
    if not values:
        asked = "" if condition.operator == EXISTS else f"the pod asks for {_condition(condition)}"
        remarks = [
            each for each in (asked, did_you_mean(view.table.labels.closest_key(key))) if each
        ]
        clause = f"no node has the label {key}" + (f" ({'; '.join(remarks)})" if remarks else "")
        code = "label-missing"
    else:
        code = "label-value-missing"
        meant = _meant_value(condition, values)
        nearest = _nearest(condition, values)
        clause = f"no node has {_condition(condition)}{or_rather(meant)}; {nearest}"
    return Finding(
        code,
        str(condition),
        among,
        clause,
        f"the node does not match {condition}",
        _describer(view),
        facts={
            "label": key,
            "operator": condition.operator,
            "wanted": [*sorted(condition.values)],
            "present": dict(values[:20]),
        },
        relax=lambda: _without_selectors(view.pod),
    )


def _meant_value(condition: Requirement, values: Sequence[tuple[str, int]]) -> str:
    """The value that was probably meant, where there is one and the other looks like a slip."""
    if condition.operator != IN or len(condition.values) != 1 or len(values) > MAX_LISTED:
        return ""  # the nearest of many is told anyway
    (wanted,) = condition.values
    return closest(wanted, [value for value, _ in values], TYPO)


def _nearest(condition: Requirement, values: Sequence[tuple[str, int]]) -> str:
    if condition.operator in (GREATER, LESS):
        return "of its values, " + some(
            [f"{number:,} have {value}" for value, number in values], MAX_LISTED
        )
    if condition.operator == IN and len(values) > MAX_LISTED:
        alike = closest(min(condition.values), [value for value, _ in values[:MAX_COMPARED]])
        if alike:
            number = dict(values)[alike]
            return f"the nearest of {len(values):,} values is {alike}, {count(number, 'node')}"
    return f"there {'is' if len(values) == 1 else 'are'} {counted_values(values)}"


def _find_unnamed(view: AttemptView, among: Mask, names: Sequence[str]) -> Finding:
    clause = f"there is no node named {join_words(names, 'or')}"
    return Finding(
        "node-name-missing",
        ",".join(names),
        among,
        clause,
        f"the node is not named {join_words(names, 'or')}",
        _describer(view),
        facts={"names": list(names)},
        relax=lambda: _without_selectors(view.pod),
    )


def _find_apart(
    view: AttemptView, among: Mask, conditions: Sequence[Requirement], term: NodeTerm
) -> Finding:
    """Conditions that nodes meet, each of them some, and no node all of them."""
    parts = [NodeTerm((condition,)) for condition in conditions]
    parts += [NodeTerm(fields=(field,)) for field in term.fields]
    together: Mask = view.everywhere
    held: list[str] = []
    for part in parts:
        mask = term_mask(view.table, part, view.rows)
        if not (together & mask).any():
            before = int(np.count_nonzero(together))
            clause = (
                f"{count(before, 'node')} {_match(before)} {', '.join(held)} and"
                f" {count(int(np.count_nonzero(mask)), 'node')} {term_text(part)},"
                " but none matches both"
            )
            break
        together = together & mask
        held.append(term_text(part))
    else:
        clause = f"{view.say(among, 'does', 'do')} not match {', '.join(held)}"
    return Finding(
        "node-labels-apart",
        selector_text(view),
        among,
        clause,
        f"the node does not match {selector_text(view)}",
        _describer(view),
        facts={"conditions": [term_text(part) for part in parts]},
        relax=lambda: _without_selectors(view.pod),
    )


def _describer(view: AttemptView) -> Callable[[int], str]:
    """What says which parts of the pod's selectors a node does not meet."""
    pod, names, objects = view.pod, view.names, view.examination.objects

    def describe(position: int) -> str:
        unmet = unmet_selectors(pod, objects[names[position]])
        return "; ".join(unmet) or "the scheduler's addedAffinity does not match"

    return describe


def _match(number: int) -> str:
    return "matches" if number == 1 else "match"


def _condition(condition: Requirement) -> str:
    if condition.operator in (GREATER, LESS):
        (bound,) = condition.values
        word = "above" if condition.operator == GREATER else "below"
        return f"a {condition.key} {word} {bound}"
    return str(condition)


def _without_selectors(pod: Pod) -> Relaxation:
    affinity = pod.spec.affinity
    if affinity is not None:
        affinity = replace(affinity, node_affinity=None)
    spec = replace(pod.spec, node_selector=None, affinity=affinity)
    return Relaxation("without its node selector", replace(pod, spec=spec))


def unmet_selectors(pod: Pod, node: Node) -> list[str]:
    """Parts of the pod's nodeSelector and required affinity that the node does not meet."""
    labels, name = node.metadata.labels or {}, node.metadata.name
    required = required_of(pod)
    unmet = [
        f"nodeSelector {requirement} ({_describe_label(requirement.key, labels)})"
        for requirement in required.selector.requirements
        if not requirement.matches(labels)
    ]
    terms = required.terms
    if terms is not None and not any(term.matches(labels, name) for term in terms):
        wanted = " or ".join(_unmet_part(term, labels, name) for term in terms)
        unmet.append(f"required affinity {wanted or 'has no usable term'}")
    return unmet


def _unmet_part(term: NodeTerm, labels: dict[str, str], name: str) -> str:
    parts = [
        f"{expression} ({_describe_label(expression.key, labels)})"
        for expression in term.expressions
        if not expression.matches(labels)
    ]
    parts += [
        f"{field.key} {field.operator} {field.value}"
        for field in term.fields
        if not field.matches(name)
    ]
    return term.error or " and ".join(parts)


def _describe_label(key: str, labels: dict[str, str]) -> str:
    return f"the node has {labels[key]}" if key in labels else "the node has no such label"
