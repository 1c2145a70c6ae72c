"""Whether the rules of a definition are rules, and what they may cost at worst.

The cost of one evaluation is estimated from the sizes that the schema allows, and multiplied by
how often the value may occur in an object: the product of `maxItems` and `maxProperties` on the
way to it, or if one of them is missing as often as it fits into a request.

How many single checks one object may cause. A schema and an object of a few kilobytes each can ask
for millions of checks: a list whose items have a hundred alternatives, or lack a thousand required
fields, or get a long default each. Within `bounded_checks` they are counted, and TooManyChecks ends
the work.

Regular expressions of schemas, and how much matching one request may ask for. Whoever may
create a definition chooses the expressions, and whoever may create an object the texts. A
character of text costs up to 20 nanoseconds for each instruction of an expression, so the
instructions of a definition and the products of a validation are counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.regexp import PatternError, TooLarge, compile_pattern
from podium.kubernetes.cel import CompileError
from podium.kubernetes.cel.costs import MAX_UINT64, saturated_product, saturated_sum
from podium.kubernetes.crds.rule_tree import (
    OLD,
    RULES,
    Rule,
    RuleNode,
    build_rule_tree,
    schemas_below,
)
from podium.kubernetes.rules.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)

MAX_RULES: Final = 500
MAX_RULE_CHARACTERS: Final = 100_000
"""Of one definition. upstream has no such limits, but compiles a hundred times as fast."""
STATIC_COST_LIMIT: Final = 10_000_000
"""Of one expression."""
STATIC_TOTAL_COST_LIMIT: Final = 100_000_000
"""Of all expressions of a schema."""
_MAX_EXPENSIVE: Final = 4
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)
_CONTRIBUTED: Final = (
    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
)
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_RULE_FORM: Final = {
    "Rule": ("rule", ""),
    "Message": ("message", ""),
    "MessageExpression": ("messageExpression", ""),
    "Reason": ("reason", None),
    "FieldPath": ("fieldPath", ""),
    "OptionalOldSelf": ("optionalOldSelf", None),
}


@dataclass
class _Total:
    """What all rules of a schema may cost together, and the most expensive of them."""

    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.cost = saturated_sum(self.cost, cost)
        if cost >= STATIC_TOTAL_COST_LIMIT // 100:
            self.expensive = sorted([*self.expensive, (cost, path)], key=lambda found: -found[0])
            del self.expensive[_MAX_EXPENSIVE:]


def excess_of_rules(versions: list[JsonObject]) -> FieldError | None:
    """Rules of a definition that are too many, or too long, to be compiled in one request."""
    count = length = 0
    pending: list[JsonObject] = []
    for version in versions:
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema and schema not in pending[:1]:
            pending.append(schema)
    while pending:
        schema = pending.pop()
        pending += (below for _, below in schemas_below(schema))
        for rule in schema.get(RULES) or ():
            count += 1
            length += len(rule.get("rule") or "") + len(rule.get("messageExpression") or "")
    if count <= MAX_RULES and length <= MAX_RULE_CHARACTERS:
        return None
    told = (
        f"must not have more than {MAX_RULES} validation rules, nor rules of more than"
        f" {MAX_RULE_CHARACTERS} characters in all"
    )
    return forbidden("spec.versions", told)


def rule_form_errors(schema: JsonObject, path: str) -> Iterator[FieldError]:
    """What is wrong with the parts of the rules of one schema, before any is compiled."""
    for number, rule in enumerate(schema.get(RULES) or ()):
        at = f"{path}.{RULES}[{number}]"
        source, message = rule.get("rule") or "", rule.get("message") or ""
        expression, reason = rule.get("messageExpression") or "", rule.get("reason")
        if not source.strip():
            yield required(f"{at}.rule", "rule is not specified")
        elif message and not message.strip():
            yield invalid(f"{at}.message", message, "must be non-empty if specified")
        elif _has_line_breaks(message.strip()):
            yield invalid(f"{at}.message", message, "must not contain line breaks")
        elif _has_line_breaks(source.strip()) and not message.strip():
            told = "message must be specified if rule contains line breaks"
            yield required(f"{at}.message", told)
        if expression and not expression.strip():
            told = "messageExpression must be non-empty if specified"
            yield required(f"{at}.messageExpression", told)
        if reason is not None and reason not in _REASONS:
            yield not_supported(f"{at}.reason", reason, _REASONS)


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def rule_cost_errors(
    schema: JsonObject, path: str, *, is_unchanged: bool = False
) -> list[FieldError]:
    """Rules that do not compile, and such as may cost too much.

    upstream: of a schema that an update leaves `is_unchanged`, only the total is looked at.
    """
    tree = build_rule_tree(schema)
    if tree is None:
        return []
    total = _Total()
    errors = list(_Costs(total, is_unchanged).check(tree, path, 1, ""))
    if total.cost > STATIC_TOTAL_COST_LIMIT:
        errors += [forbidden(expensive, _CONTRIBUTED) for _, expensive in total.expensive]
        name = f"{RULES} estimated rule cost total for entire OpenAPIv3 schema"
        errors.append(forbidden(path, _exceeds(name, total.cost, STATIC_TOTAL_COST_LIMIT)))
    return errors


@dataclass(frozen=True)
class _Costs:
    total: _Total
    is_unchanged: bool

    def check(
        self, node: RuleNode, path: str, cardinality: int | None, uncorrelatable: str
    ) -> Iterator[FieldError]:
        """`cardinality` is None where nothing bounds it; below `uncorrelatable` one does not know
        what a value was before."""
        factor = _max_elements(node.schema)
        below = None
        if cardinality is not None and factor is not None:
            below = saturated_product(cardinality, factor)
        if node.additional is not None:
            yield from self.check(
                node.additional, f"{path}.additionalProperties", below, uncorrelatable
            )
        for name, child in node.properties.items():
            yield from self.check(child, f"{path}.properties[{name}]", below, uncorrelatable)
        if node.items is not None:
            is_map = node.schema.get("x-kubernetes-list-type") == "map"
            within = uncorrelatable or ("" if is_map else path)
            yield from self.check(node.items, f"{path}.items", below, within)
        times = node.max_cardinality if cardinality is None else cardinality
        for number, rule in enumerate(node.rules):
            yield from self._check_rule(rule, f"{path}.{RULES}[{number}]", times, uncorrelatable)

    def _check_rule(
        self, rule: Rule, at: str, times: int, uncorrelatable: str
    ) -> Iterator[FieldError]:
        shown = {name: rule.written.get(key, empty) for name, (key, empty) in _RULE_FORM.items()}
        try:
            program = rule.program
        except CompileError as problem:
            yield invalid(f"{at}.rule", shown, str(problem))
            if rule.written.get("optionalOldSelf") is not None:
                yield _needless(rule, at)
            return
        yield from self._observe(
            f"{at}.rule", "estimated rule cost", saturated_product(program.max_cost, times)
        )
        try:
            message = rule.message
        except CompileError as problem:
            yield invalid(f"{at}.messageExpression", shown, str(problem))
        else:
            if message is not None:
                name = "estimated messageExpression cost"
                yield from self._observe(f"{at}.messageExpression", name, message.max_cost)
        if OLD not in program.names:
            if rule.written.get("optionalOldSelf") is not None:
                yield _needless(rule, at)
        elif uncorrelatable:
            told = (
                f"{OLD} cannot be used on the uncorrelatable portion of the schema within"
                f" {uncorrelatable}"
            )
            yield invalid(f"{at}.rule", rule.source, told)

    def _observe(self, path: str, name: str, cost: int) -> Iterator[FieldError]:
        if cost > STATIC_COST_LIMIT and not self.is_unchanged:
            yield forbidden(path, _exceeds(name, cost, STATIC_COST_LIMIT))
        self.total.add(path, cost)


def _needless(rule: Rule, at: str) -> FieldError:
    told = f"may not be set if {OLD} is not used in rule"
    return invalid(f"{at}.optionalOldSelf", rule.written["optionalOldSelf"], told)


def _max_elements(schema: JsonObject) -> int | None:
    """How many values a value has below it for each of its schemas; None if unbounded."""
    match schema.get("type"):
        case "object" if schema.get("additionalProperties") is not None:
            most = schema.get("maxProperties")
        case "array":
            most = schema.get("maxItems")
        case _:
            return 1
    return None if most is None else max(most, 0)


def _exceeds(name: str, cost: int, limit: int) -> str:
    factor = min(cost, MAX_UINT64) / limit
    if factor > 100:
        shown = "more than 100x"
    elif factor < 1.5:
        shown = f"{factor:f}x"
    else:
        shown = f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {shown} {_ADVICE}"


MAX_CHECKS: Final = 150_000
"""In one validation; an object of the most values there may be needs two thirds of them."""

_checks_left: ContextVar[list[int] | None] = ContextVar("checks", default=None)


class TooManyChecks(Exception):
    def __init__(self) -> None:
        super().__init__(f"exceeded max number of checks ({MAX_CHECKS})")


@contextmanager
def bounded_checks() -> Iterator[None]:
    token = _checks_left.set([MAX_CHECKS])
    try:
        yield
    finally:
        _checks_left.reset(token)


def spend_checks(count: int) -> None:
    """Raises TooManyChecks; outside of `bounded_checks` nothing is counted."""
    left = _checks_left.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise TooManyChecks


BadPattern = PatternError

MAX_INSTRUCTIONS: Final = 200_000
"""In the expressions of one definition."""
MAX_WORK: Final = 20_000_000
"""Characters times instructions in the validation of one object."""

_REFUSED: Final = 20_000
"""Instructions that compiling an expression takes until it is found to be too large."""

_matching_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def bounded_matching(limit: int) -> Iterator[None]:
    """Everything within shares an allowance: of work, or of instructions."""
    token = _matching_left.set([limit])
    try:
        yield
    finally:
        _matching_left.reset(token)


def matches(pattern: str, text: str) -> bool:
    """Whether the text has a part that the expression describes; raises BadPattern.

    A text that is too long for what is left counts as one that does not match.
    """
    compiled = compile_pattern(pattern)
    return _take(len(text) * compiled.instructions) and compiled.matches(text)


def check_pattern(pattern: str) -> None:
    """Raises BadPattern; once the allowance is used up, without compiling anything."""
    try:
        instructions = compile_pattern(pattern).instructions if _take(0) else 0
    except TooLarge:
        _take(_REFUSED)
        raise
    if not _take(instructions):
        told = f"more than {MAX_INSTRUCTIONS} instructions in the expressions of a definition"
        raise BadPattern(f"error parsing regexp: expression too large: {told}")


def _take(amount: int) -> bool:
    left = _matching_left.get()
    if left is None:
        return amount <= MAX_WORK
    left[0] -= amount
    return left[0] >= 0
