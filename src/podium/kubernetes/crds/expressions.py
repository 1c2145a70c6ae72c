"""Asking an object's rules: expressions that its values have to make true.

A rule that speaks of `oldSelf` is about changes: it is asked only where there was a value before.
An object that already breaks its schema is not asked; the answer says so. All rules of an object
share a budget, and each has one of its own; when either is spent no further rule is asked. A rule
that a value breaks as it did before is let pass, so that a schema may become stricter than what is
stored.
"""

from collections.abc import Hashable, Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.kubernetes.cel import CelError, CompileError
from podium.kubernetes.cel.errors import CancelledError
from podium.kubernetes.cel.evaluation import COST_LIMIT, Meter
from podium.kubernetes.cel.values import NONE, some
from podium.kubernetes.crds.rule_tree import Rule, RuleNode, escape_field_name, value_of
from podium.kubernetes.crds.values import key_of_item
from podium.kubernetes.rules.field_errors import (
    DUPLICATE,
    FORBIDDEN,
    INVALID,
    NOT_SUPPORTED,
    OMITTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    go_json,
    invalid,
)

RUNTIME_COST_BUDGET: Final = 2_000_000
"""For all rules of one object. upstream: 10,000,000, of which this interpreter does a fifth in the
same second."""
_RULE_COST: Final = 15
"""For asking a rule at all, which takes longer here than many rules. upstream: nothing."""
_MAX_MESSAGE_BYTES: Final = 5 * 1024
_NOWHERE: Final = "<nil>"
"""The path of a whole object, as Go prints one."""
_BLOCKING: Final = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_NOT_ASKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation"
)
_NO_FURTHER: Final = "no further validation rules will be run"
_OUT_OF_BUDGET: Final = f"validation failed due to running out of cost budget, {_NO_FURTHER}"
_NO_MESSAGE_BUDGET: Final = (
    f"messageExpression evaluation failed due to running out of cost budget, {_NO_FURTHER}"
)
_CANCELLED: Final = "operation cancelled: actual cost limit exceeded"
_REASONS: Final = {
    "FieldValueDuplicate": DUPLICATE,
    "FieldValueForbidden": FORBIDDEN,
    "FieldValueRequired": REQUIRED,
}
_UNCONVERTED: Final = object()


def rule_errors(
    tree: RuleNode, new: JsonObject, old: JsonObject | None, found: list[FieldError]
) -> list[FieldError]:
    """The rules that an object breaks; `found` is what else is wrong with it."""
    if any(error.cause in _BLOCKING for error in found):
        return [invalid(_NOWHERE, None, _NOT_ASKED)]
    asking = _Asking()
    place = _Place("", new, old, (new, old) if old is not None else None)
    with suppress(_Spent):
        asking.ask(tree, place, _UNCONVERTED)
    return asking.errors


class _Spent(Exception):
    """The budget is used up."""


class _Place(NamedTuple):
    """A value, where it is, and what it was before."""

    path: str
    value: DecodedValue
    old: JsonValue
    nearest: tuple[JsonValue, JsonValue] | None
    """The innermost value around it, or itself, of which one knows what it was."""

    @property
    def is_unchanged(self) -> bool:
        return self.nearest is not None and self.nearest[0] == self.nearest[1]

    def below(self, path: str, value: JsonValue, old: JsonValue) -> "_Place":
        nearest = self.nearest if old is None else (value, old)
        return _Place(path, value, old, nearest)


class _Asking:
    """One run over an object."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self._left = RUNTIME_COST_BUDGET

    def ask(self, node: RuleNode, place: _Place, converted: Any) -> None:
        """Ask the rules of a node and of all below; `converted` is the value as rules see it."""
        value = place.value
        if value is None:
            return
        if node.rules:
            converted = self._ask_rules(node, place, converted)
        if isinstance(value, list) and node.items is not None:
            for child, inner in _items(node, place, converted):
                self.ask(node.items, child, inner)
        elif isinstance(value, dict):
            before = place.old if isinstance(place.old, dict) else {}
            for key in sorted(value):
                below = node.properties.get(key) or node.additional
                if below is not None:
                    is_field = key in node.properties
                    path = _join_path(place.path, key) if is_field else f"{place.path}[{key}]"
                    inner = _part(converted, escape_field_name(key) if is_field else key)
                    self.ask(below, place.below(path, value[key], before.get(key)), inner)

    def _ask_rules(self, node: RuleNode, place: _Place, converted: Any) -> Any:
        """Returns the value as rules see it."""
        kind = node.schema.get("type") or ""
        if self._left <= 0:
            self._stop(place.path, kind, _OUT_OF_BUDGET)
        try:
            if converted is _UNCONVERTED:
                converted = value_of(place.value, node.schema)
            before = value_of(place.old, node.schema) if place.old is not None else None
        except CelError as problem:
            for rule in node.rules:
                told = f"{problem} evaluating rule: {rule.name}"
                self.errors.append(invalid(place.path or _NOWHERE, kind, told))
            return _UNCONVERTED
        for rule in node.rules:
            self._ask_rule(rule, kind, place, converted, before)
        return converted

    def _ask_rule(self, rule: Rule, kind: str, place: _Place, value: Any, before: Any) -> None:
        path = place.path or _NOWHERE
        try:
            program = rule.program
        except CompileError as problem:
            self.errors.append(invalid(path, kind, f"rule compile error: {problem}"))
            return
        if rule.is_about_changes and place.old is None and not rule.has_optional_old:
            return
        old = before
        if rule.has_optional_old:
            old = NONE if place.old is None else some(before)
        self._left -= _RULE_COST
        meter = Meter(min(COST_LIMIT, max(self._left, 0)))
        try:
            result = program.run_metered(meter, value, old)
        except CancelledError:
            if self._left < COST_LIMIT:
                self._stop(place.path, kind, _OUT_OF_BUDGET)
            told = f"{_NO_FURTHER} due to call cost exceeds limit for rule: {rule.name}"
            self._stop(place.path, kind, f"'{_CANCELLED}': {told}")
        except CelError as problem:
            self._pay(meter)
            self.errors.append(invalid(path, kind, _failure(str(problem), rule)))
            return
        self._pay(meter)
        if result is not True:
            self._report(rule, kind, place, value, old)

    def _report(self, rule: Rule, kind: str, place: _Place, value: Any, old: Any) -> None:
        told = self._message(rule, kind, place.path, value, old) or _describe_failure(rule)
        if place.is_unchanged and not rule.is_about_changes:
            return
        at = f"{place.path}{rule.written.get('fieldPath') or ''}".lstrip(".") or _NOWHERE
        cause = _REASONS.get(rule.written.get("reason") or "", INVALID)
        shown = OMITTED if isinstance(place.value, (dict, list)) else place.value
        self.errors.append(FieldError(cause, at, shown, told))

    def _message(self, rule: Rule, kind: str, path: str, value: Any, old: Any) -> str:
        try:
            program = rule.message
        except CompileError:
            return ""
        if program is None:
            return ""
        meter = Meter(min(COST_LIMIT, self._left))
        try:
            told = program.run_metered(meter, value, old)
        except CancelledError:
            if self._left < COST_LIMIT:
                self._stop(path, kind, _NO_MESSAGE_BUDGET)
            shown = go_json(rule.written["messageExpression"])
            why = f"{_NO_FURTHER} due to call cost exceeds limit for messageExpression: {shown}"
            self._stop(path, kind, why)
        except CelError:
            told = ""
        self._pay(meter)
        told = told.strip() if isinstance(told, str) else ""
        is_fit = "\n" not in told and len(told.encode()) <= _MAX_MESSAGE_BYTES
        return told if is_fit else ""

    def _pay(self, meter: Meter) -> None:
        self._left -= min(COST_LIMIT, max(self._left, 0)) - meter.left

    def _stop(self, path: str, kind: str, told: str) -> None:
        self.errors.append(invalid(path or _NOWHERE, kind, told))
        raise _Spent


def _failure(problem: str, rule: Rule) -> str:
    if problem.startswith("no such overload"):
        return (
            f"'{problem}': call arguments did not match a supported operator, function or macro"
            f" signature for rule: {rule.name}"
        )
    return f"{problem} evaluating rule: {rule.name}"


def _describe_failure(rule: Rule) -> str:
    message = (rule.written.get("message") or "").strip()
    return message or f"failed rule: {rule.source.strip()}"


def _join_path(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _part(converted: Any, key: str | None) -> Any:
    if key is None or not isinstance(converted, dict):
        return _UNCONVERTED
    return converted.get(key, _UNCONVERTED)


def _items(node: RuleNode, place: _Place, converted: Any) -> Iterator[tuple[_Place, Any]]:
    keys = node.schema.get("x-kubernetes-list-map-keys") or ()
    earlier: dict[Hashable, JsonValue] = {}
    if node.schema.get("x-kubernetes-list-type") == "map" and isinstance(place.old, list):
        for item in place.old:
            earlier.setdefault(key_of_item(item, keys), item)
    for number, item in enumerate(place.value):
        inner = converted[number] if isinstance(converted, list) else _UNCONVERTED
        old = earlier.get(key_of_item(item, keys)) if earlier else None
        yield place.below(f"{place.path}[{number}]", item, old), inner
