"""Labels and label selectors; selectors are compiled once and compared by meaning.

Affinity terms, spread constraints, services and controllers all select by labels, and the engine
caches what it counted per selector. So a compiled `Selector` is hashable by what it selects on: the
order of requirements, repeated ones and `matchLabels` against a one-value `In` make no difference.

Contract: an absent LabelSelector selects nothing, an empty one everything, and a LabelSelector
that upstream cannot parse raises `SelectorError` with upstream's text. Plain maps (nodeSelector,
Service selectors, match label keys) are taken literally and never fail.

LabelSelector objects, as budgets and workloads carry them, made ready to match.

`matchLabelKeys` and `mismatchLabelKeys`, merged into the selectors they belong to. The server does
this when a pod is created, and the scheduler relies on it: a key stands for "the same value as
mine" (or "another value than mine") at that moment. A key that the pod has no label for is left
out, and so is everything next to an absent selector.

What counts as a label key or value, and the words in which a bad one is refused. Selectors, node
affinity and extended resource names share these rules. kube-scheduler shows the texts to users
(`parsing pod: key: Invalid value: ...`), so they keep upstream's wording
(`staging/src/k8s.io/apimachinery/pkg/api/validate/content`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from podium.golang.arithmetic import parse_int
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import LabelSelector
from podium.kubernetes.rules.field_errors import FieldError, aggregate, child, invalid

IN: Final = "In"
NOT_IN: Final = "NotIn"
EXISTS: Final = "Exists"
DOES_NOT_EXIST: Final = "DoesNotExist"
GREATER: Final = "Gt"
LESS: Final = "Lt"

_NO_LABELS: Final[Mapping[str, str]] = {}


class SelectorError(ValueError):
    """A label selector that cannot be parsed; the text is the one kube-scheduler shows."""


class Requirement(NamedTuple):
    """One condition on one label. `Gt` and `Lt` occur in node selectors only."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        found = labels.get(self.key)
        if self.operator == IN:
            return found in self.values
        if self.operator == NOT_IN:
            return found not in self.values
        if self.operator == EXISTS:
            return found is not None
        if self.operator == DOES_NOT_EXIST:
            return found is None
        return found is not None and self._compares(found)

    def _compares(self, found: str) -> bool:
        (operand,) = self.values
        left, right = parse_int(found), parse_int(operand)
        if left is None or right is None:
            return False
        return left > right if self.operator == GREATER else left < right

    def __str__(self) -> str:
        listed = ",".join(sorted(self.values))
        match self.operator:
            case "In":
                return (
                    f"{self.key}={listed}" if len(self.values) == 1 else f"{self.key} in ({listed})"
                )
            case "NotIn":
                return f"{self.key} notin ({listed})"
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case _:
                return f"{self.key}{'>' if self.operator == GREATER else '<'}{listed}"


class Selector:
    """An AND of requirements, or `NOTHING`. Immutable; equal selectors select the same way."""

    __slots__ = ("_equalities", "_hash", "_others", "empty", "nothing", "requirements")

    requirements: tuple[Requirement, ...]
    """Each requirement once, in canonical order; empty for EVERYTHING and NOTHING."""
    empty: bool
    """Restricts nothing, that is, selects everything."""
    nothing: bool
    """Selects nothing at all (an absent LabelSelector)."""

    def __init__(self, requirements: Iterable[Requirement] = (), *, nothing: bool = False) -> None:
        self.nothing = nothing
        self.requirements = (
            () if nothing else tuple(sorted(set(requirements), key=_canonical_order))
        )
        self.empty = not nothing and not self.requirements
        self._hash = hash((nothing, self.requirements))
        # Nearly all requirements are "key equals value"; kept as pairs, those match quickly.
        self._equalities = tuple(
            (requirement.key, next(iter(requirement.values)))
            for requirement in self.requirements
            if requirement.operator == IN and len(requirement.values) == 1
        )
        self._others = tuple(
            requirement
            for requirement in self.requirements
            if requirement.operator != IN or len(requirement.values) != 1
        )

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        if self.nothing:
            return False
        found = _NO_LABELS if labels is None else labels
        for key, value in self._equalities:
            if found.get(key) != value:
                return False
        return all(requirement.matches(found) for requirement in self._others)

    def merge(self, other: "Selector") -> "Selector":
        """What both select. NOTHING stays NOTHING: leave it out where null means "no selector"."""
        if self.nothing or other.nothing:
            return NOTHING
        return Selector((*self.requirements, *other.requirements))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Selector):
            return NotImplemented
        return (
            self._hash == other._hash
            and self.nothing == other.nothing
            and self.requirements == other.requirements
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<Selector {self}>"

    def __str__(self) -> str:
        if self.nothing:
            return "nothing"
        return ",".join(map(str, self.requirements)) or "everything"


def _canonical_order(requirement: Requirement) -> tuple[str, str, list[str]]:
    return requirement.key, requirement.operator, sorted(requirement.values)


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(nothing=True)


def selector_of(written: LabelSelector | None) -> Selector:
    """Compile a LabelSelector; SelectorError if upstream would refuse it."""
    if written is None:
        return NOTHING
    requirements = [
        _validate_requirement(key, IN, (value,))
        for key, value in sorted((written.match_labels or {}).items())
    ]
    for expression in written.match_expressions or ():
        if expression.operator not in (IN, NOT_IN, EXISTS, DOES_NOT_EXIST):
            raise SelectorError(f'"{expression.operator}" is not a valid label selector operator')
        # upstream: an empty list of values is copied into a null one before it is reported.
        values = expression.values or None
        requirements.append(_validate_requirement(expression.key, expression.operator, values))
    return Selector(requirements) if requirements else EVERYTHING


def selector_of_map(labels: Mapping[str, str] | None) -> Selector:
    """The selector for labels equal to all entries; nothing is validated, no entry is no limit."""
    if not labels:
        return EVERYTHING
    return Selector(Requirement(key, IN, frozenset((value,))) for key, value in labels.items())


def _validate_requirement(key: str, operator: str, values: Sequence[str] | None) -> Requirement:
    problems = requirement_problems(key, operator, values)
    if problems:
        raise SelectorError(aggregate(problems))
    return Requirement(key, operator, frozenset(values or ()))


def requirement_problems(
    key: str, operator: str, values: Sequence[str] | None, path: str = ""
) -> list[FieldError]:
    """Everything upstream finds wrong with a requirement, `path` in front of each field.

    The operator is one of the six of this module: what others mean differs from caller to caller.
    """
    problems: list[FieldError] = []
    if wrong := key_problems(key):
        problems.append(invalid(child(path, "key"), key, "; ".join(wrong)))
    given = values or ()
    at_values = child(path, "values")
    match operator:
        case "In" | "NotIn":
            if not given:
                detail = "for 'in', 'notin' operators, values set can't be empty"
                problems.append(invalid(at_values, values, detail))
        case "Exists" | "DoesNotExist":
            if given:
                detail = "values set must be empty for exists and does not exist"
                problems.append(invalid(at_values, values, detail))
        case "Gt" | "Lt":
            if len(given) != 1:
                detail = "for 'Gt', 'Lt' operators, exactly one value is required"
                problems.append(invalid(at_values, values, detail))
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            problems.extend(
                invalid(f"{at_values}[{index}]", value, detail)
                for index, value in enumerate(given)
                if parse_int(value) is None
            )
    # upstream: operands of Gt and Lt must be label values too, so `-5` never parses.
    for index, value in enumerate(given):
        if wrong := value_problems(value):
            problems.append(invalid(f"{at_values}[{index}][{key}]", value, "; ".join(wrong)))
    return problems


def selector_or_nothing(written: LabelSelector | None) -> Selector:
    """The selector, or one that selects nothing if it cannot be understood."""
    try:
        return selector_of(written)
    except SelectorError:
        return NOTHING


def object_selector(written: JsonObject | None) -> Selector:
    """What a LabelSelector selects; one that cannot be read selects nothing."""
    if written is None:
        return NOTHING
    try:
        return selector_of(msgspec.convert(written, LabelSelector))
    except (msgspec.ValidationError, SelectorError):
        return NOTHING


_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def merge_label_keys(spec: JsonObject, labels: Mapping[str, str]) -> None:
    """Extend the selectors in the spec of a new pod that has these labels."""
    if spec.get("affinity"):
        for term in _affinity_terms(spec["affinity"]):
            _extend(term, "matchLabelKeys", IN, labels)
            _extend(term, "mismatchLabelKeys", NOT_IN, labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _extend(constraint, "matchLabelKeys", IN, labels)


def _affinity_terms(affinity: JsonObject) -> Iterator[JsonObject]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for weighted in terms.get(_PREFERRED) or ():
            if weighted.get("podAffinityTerm"):
                yield weighted["podAffinityTerm"]
        yield from terms.get(_REQUIRED) or ()


def _extend(holder: JsonObject, field: str, operator: str, labels: Mapping[str, str]) -> None:
    keys, selector = holder.get(field), holder.get("labelSelector")
    if not keys or selector is None:
        return
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]} for key in keys if key in labels
    ]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


_NAME_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FORM = f"({_NAME_FORM})?"
_SUBDOMAIN_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

_NAME = re.compile(_NAME_FORM)
_VALUE = re.compile(_VALUE_FORM)
# Possessive: nothing is gained by giving a part back, and remembering how takes 200 bytes a part.
_SUBDOMAIN = re.compile(f"{_SUBDOMAIN_FORM}+")

# Most keys and values look like this, and are good.
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PLAIN_KEY = re.compile(rf"(?:(?=[^/]{{1,253}}/){_SUBDOMAIN_FORM}/)?{_PLAIN_VALUE.pattern}")

_MAX_NAME = 63
_MAX_VALUE = 63
_MAX_SUBDOMAIN = 253

_ALPHANUMERIC_ENDS = (
    "consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
# upstream: the list of examples really has two spaces after each comma.
_NAME_RULE = (
    f"must {_ALPHANUMERIC_ENDS} (e.g. 'MyName',  or 'my.name',  or '123-abc', "
    f"regex used for validation is '{_NAME_FORM}')"
)
_VALUE_RULE = (
    f"a valid label must be an empty string or {_ALPHANUMERIC_ENDS} (e.g. 'MyValue',  or "
    f"'my_value',  or '12345', regex used for validation is '{_VALUE_FORM}')"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{_SUBDOMAIN_FORM}')"
)


def is_plain_key(key: str) -> bool:
    """Whether a label key is seen to be valid at first sight."""
    return _PLAIN_KEY.fullmatch(key) is not None


def is_plain_value(value: str) -> bool:
    """Whether a label value is seen to be valid at first sight."""
    return _PLAIN_VALUE.fullmatch(value) is not None


def key_problems(key: str) -> list[str]:
    """Everything wrong with a label key (`name` or `prefix/name`); empty if it is valid."""
    prefix, slash, name = key.partition("/")
    if not slash:
        prefix, name = "", key
    elif "/" in name:
        return [
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')"
        ]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems.extend(f"prefix part {problem}" for problem in _subdomain_problems(prefix))
    if not name:
        problems.append("name part must be non-empty")
    elif _size(name) > _MAX_NAME:
        problems.append(f"name part {_too_long(_MAX_NAME)}")
    if not _NAME.fullmatch(name):
        problems.append(f"name part {_NAME_RULE}")
    return problems


def value_problems(value: str) -> list[str]:
    """Everything wrong with a label value; empty if it is valid."""
    problems = []
    if _size(value) > _MAX_VALUE:
        problems.append(_too_long(_MAX_VALUE))
    if not _VALUE.fullmatch(value):
        problems.append(_VALUE_RULE)
    return problems


def _subdomain_problems(text: str) -> list[str]:
    problems = []
    if _size(text) > _MAX_SUBDOMAIN:
        problems.append(_too_long(_MAX_SUBDOMAIN))
    if not _SUBDOMAIN.fullmatch(text):
        problems.append(_SUBDOMAIN_RULE)
    return problems


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"
