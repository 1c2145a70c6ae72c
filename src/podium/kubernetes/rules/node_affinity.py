"""Node selectors and node affinity: which nodes a pod may go to, and which it would rather.

Terms are ORed, everything inside a term is ANDed, and a term that cannot be parsed matches no node
without spoiling the others (`staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity`).
Whatever this module returns is hashable, so node masks can be cached per term or per pod spec.

Contract: filtering never fails on a bad term (`NodeTerm.error` says what is wrong with it), while
a list of preferences with one bad entry fails as a whole.
"""

from collections.abc import Mapping
from typing import NamedTuple

from podium.kubernetes.kinds.pod import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PreferredSchedulingTerm,
)
from podium.kubernetes.rules.field_errors import (
    FieldError,
    aggregate,
    child,
    invalid,
    not_supported,
)
from podium.kubernetes.rules.labels import (
    DOES_NOT_EXIST,
    EVERYTHING,
    EXISTS,
    GREATER,
    IN,
    LESS,
    NOT_IN,
    Requirement,
    Selector,
    requirement_problems,
    selector_of_map,
)

NAME_FIELD = "metadata.name"

_LABEL_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GREATER, LESS)
_FIELD_OPERATORS = (IN, NOT_IN)

_NO_LABELS: Mapping[str, str] = {}


class NodeSelectorError(ValueError):
    """Node selector terms that cannot be parsed, where that is not forgiven."""


class FieldRequirement(NamedTuple):
    """A condition on a field of the node; every field but its name reads as an empty text."""

    key: str
    operator: str
    value: str

    def matches(self, name: str) -> bool:
        found = name if self.key == NAME_FIELD else ""
        return (found == self.value) == (self.operator == IN)


class NodeTerm(NamedTuple):
    """One node selector term. With an `error` it matches nothing."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()
    error: str | None = None

    def matches(self, labels: Mapping[str, str] | None, name: str) -> bool:
        if self.error is not None:
            return False
        found = _NO_LABELS if labels is None else labels
        if not all(expression.matches(found) for expression in self.expressions):
            return False
        # upstream: fields of a node without a name are not looked at.
        return not name or all(field.matches(name) for field in self.fields)


class PreferredNodeTerm(NamedTuple):
    """A term and what a node that matches it gains."""

    weight: int
    term: NodeTerm


class RequiredNodeAffinity(NamedTuple):
    """What a node must have: the pod's nodeSelector and, unless None, one of its terms."""

    selector: Selector = EVERYTHING
    terms: tuple[NodeTerm, ...] | None = None

    @property
    def everything(self) -> bool:
        """Whether every node will do."""
        return self.selector.empty and self.terms is None

    def matches(self, labels: Mapping[str, str] | None, name: str) -> bool:
        return self.selector.matches(labels) and (
            self.terms is None or any(term.matches(labels, name) for term in self.terms)
        )


_ANY_NODE = RequiredNodeAffinity()


def parse_node_selector(
    written: NodeSelector, *, path: str = "", strict: bool = False
) -> tuple[NodeTerm, ...]:
    """The usable terms: empty ones are dropped, so that no term at all matches no node.

    `strict` raises NodeSelectorError with the errors of all terms, as the `addedAffinity` of a
    configuration wants it; `path` is where the selector stands.
    """
    terms: list[NodeTerm] = []
    problems: list[FieldError] = []
    at_terms = child(path, "nodeSelectorTerms")
    for index, term in enumerate(written.node_selector_terms or ()):
        if not _is_empty(term):
            terms.append(_parse_term(term, f"{at_terms}[{index}]", problems))
    if strict and problems:
        raise NodeSelectorError(aggregate(problems))
    return tuple(terms)


def required_of(pod: Pod) -> RequiredNodeAffinity:
    """Where the pod may go by its own nodeSelector and required node affinity."""
    written = required_selector(pod)
    if written is None and not pod.spec.node_selector:
        return _ANY_NODE
    terms = None if written is None else parse_node_selector(written)
    return RequiredNodeAffinity(selector_of_map(pod.spec.node_selector), terms)


def required_selector(pod: Pod) -> NodeSelector | None:
    """The pod's required node affinity as written."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def required_names(written: NodeSelector | None) -> frozenset[str] | None:
    """The only node names that can match; None if names do not decide, empty if they conflict.

    upstream: the names are collected before anything is validated, so a two-value `In` narrows
    the search to nodes that its term will then refuse.
    """
    if written is None or not written.node_selector_terms:
        return None
    names: set[str] = set()
    for term in written.node_selector_terms:
        in_term: frozenset[str] | None = None
        for field in term.match_fields or ():
            if field.key == NAME_FIELD and field.operator == IN:
                listed = frozenset(field.values or ())
                in_term = listed if in_term is None else in_term & listed
        if in_term is None:
            return None
        names |= in_term
    return frozenset(names)


def preferred_of(
    written: tuple[PreferredSchedulingTerm, ...] | None, *, path: str = ""
) -> tuple[PreferredNodeTerm, ...]:
    """The preferences that can count: neither weight 0 nor empty. One bad entry fails them all."""
    preferred: list[PreferredNodeTerm] = []
    problems: list[FieldError] = []
    for index, entry in enumerate(written or ()):
        if entry.weight != 0 and not _is_empty(entry.preference):
            term = _parse_term(entry.preference, f"{path}[{index}]", problems)
            preferred.append(PreferredNodeTerm(entry.weight, term))
    if problems:
        raise NodeSelectorError(aggregate(problems))
    return tuple(preferred)


def _is_empty(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _parse_term(term: NodeSelectorTerm, path: str, problems: list[FieldError]) -> NodeTerm:
    """The term; what is wrong with it is also added to `problems`."""
    expressions: list[Requirement] = []
    fields: list[FieldRequirement] = []
    found: list[FieldError] = []
    for index, expression in enumerate(term.match_expressions or ()):
        at = f"{child(path, 'matchExpressions')}[{index}]"
        wrong = expression_problems(expression, at)
        found.extend(wrong)
        if not wrong:
            values = frozenset(expression.values or ())
            expressions.append(Requirement(expression.key, expression.operator, values))
    for index, field in enumerate(term.match_fields or ()):
        at = f"{child(path, 'matchFields')}[{index}]"
        wrong = field_problems(field, at)
        found.extend(wrong)
        if not wrong and field.values:
            fields.append(FieldRequirement(field.key, field.operator, field.values[0]))
    if found:
        problems.extend(found)
        return NodeTerm(error=aggregate(found))
    return NodeTerm(tuple(expressions), tuple(fields))


def expression_problems(expression: NodeSelectorRequirement, path: str) -> list[FieldError]:
    """What is wrong with one of the `matchExpressions`."""
    if expression.operator not in _LABEL_OPERATORS:
        return [not_supported(child(path, "operator"), expression.operator, _LABEL_OPERATORS)]
    return requirement_problems(expression.key, expression.operator, expression.values, path)


def field_problems(field: NodeSelectorRequirement, path: str) -> list[FieldError]:
    """What is wrong with one of the `matchFields`."""
    if field.operator not in _FIELD_OPERATORS:
        return [not_supported(child(path, "operator"), field.operator, _FIELD_OPERATORS)]
    if len(field.values or ()) != 1:
        return [invalid(child(path, "values"), field.values, "must have one element")]
    return []
