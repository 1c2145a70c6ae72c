"""Rules in a schema (`x-kubernetes-validations`): expressions that a value has to make true.

A rule that speaks of `oldSelf` is about changes: it is asked only where there was a value before.
An object that already breaks its schema is not asked; the answer says so. Estimating in advance
what rules may cost is left out: each run is metered instead.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from podium.apiserver.crds.rule_types import Fields, rooted, type_of, value_of
from podium.apiserver.field_errors import (
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
    invalid,
    required,
)
from podium.apiserver.json_values import JsonObject, JsonValue
from podium.cel import CelError, CompileError
from podium.cel.environment import Environment, Program
from podium.cel.types import BOOL, STRING, is_wild

_NOWHERE: Final = "<nil>"
"""The path of a whole object, as Go prints one."""
RULES: Final = "x-kubernetes-validations"
_BLOCKING: Final = frozenset({NOT_SUPPORTED, REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
_NOT_ASKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing"
    " errors to complete validation"
)
_REASONS: Final = {
    "FieldValueDuplicate": DUPLICATE,
    "FieldValueForbidden": FORBIDDEN,
    "FieldValueRequired": REQUIRED,
}
_RULE_FORM: Final = {
    "Rule": ("rule", ""),
    "Message": ("message", ""),
    "MessageExpression": ("messageExpression", ""),
    "Reason": ("reason", None),
    "FieldPath": ("fieldPath", ""),
    "OptionalOldSelf": ("optionalOldSelf", None),
}


def has_rules(schema: JsonValue) -> bool:
    """Whether there is a rule anywhere in a schema."""
    if isinstance(schema, dict):
        return bool(schema.get(RULES)) or any(map(has_rules, schema.values()))
    return isinstance(schema, list) and any(map(has_rules, schema))


def rule_errors(
    schema: JsonObject, new: JsonObject, old: JsonObject | None, found: list[FieldError]
) -> list[FieldError]:
    """The rules that an object breaks; `found` is what else is wrong with it."""
    if any(error.cause in _BLOCKING for error in found):
        return [invalid(_NOWHERE, None, _NOT_ASKED)]
    return list(_broken(rooted(schema), new, old, ""))


def _broken(
    schema: JsonObject, value: JsonValue, old: JsonValue, path: str
) -> Iterator[FieldError]:
    if value is None:
        return
    for rule in schema.get(RULES) or ():
        error = _asked(rule, schema, value, old, path)
        if error is not None:
            yield error
    if isinstance(value, list):
        items = schema.get("items") or {}
        for number, item in enumerate(value):
            yield from _broken(items, item, _earlier(schema, item, old), f"{path}[{number}]")
    elif isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        properties = schema.get("properties") or {}
        additional = schema.get("additionalProperties")
        for key in sorted(value):
            if key in properties:
                below = f"{path}.{key}" if path else key
                yield from _broken(properties[key], value[key], before.get(key), below)
            elif isinstance(additional, dict):
                yield from _broken(additional, value[key], before.get(key), f"{path}[{key}]")


def _earlier(schema: JsonObject, item: JsonValue, old: JsonValue) -> JsonValue:
    """The item of an earlier list that an item continues; only maps know theirs."""
    keys = schema.get("x-kubernetes-list-map-keys")
    if schema.get("x-kubernetes-list-type") != "map" or not keys or not isinstance(old, list):
        return None
    wanted = [item.get(key) for key in keys]
    return next((each for each in old if [each.get(key) for key in keys] == wanted), None)


def _asked(
    rule: JsonObject, schema: JsonObject, value: JsonValue, old: JsonValue, path: str
) -> FieldError | None:
    source = rule.get("rule") or ""
    about_changes = "oldSelf" in source
    if about_changes and old is None and not rule.get("optionalOldSelf"):
        return None
    told = (rule.get("message") or "").strip() or f"failed rule: {source.strip()}"
    place = f"{path}{rule.get('fieldPath') or ''}".lstrip(".") or _NOWHERE
    try:
        new_value = value_of(value, schema)
        before = value_of(old, schema) if about_changes else None
        if _program(_encoded(schema), source).run(new_value, before) is True:
            return None
        expression = rule.get("messageExpression")
        if expression:
            told = _message(schema, expression, new_value, before) or told
    except CompileError as problem:
        return invalid(path or _NOWHERE, schema.get("type") or "", f"rule compile error: {problem}")
    except CelError as problem:
        named = (rule.get("message") or "").strip() or source.strip()
        told = f"{problem} evaluating rule: {named}"
        return invalid(path or _NOWHERE, schema.get("type") or "", told)
    cause = _REASONS.get(rule.get("reason") or "", INVALID)
    return FieldError(cause, place, OMITTED if isinstance(value, (dict, list)) else value, told)


def _message(schema: JsonObject, expression: str, value: Any, old: Any) -> str:
    try:
        told = _program(_encoded(schema), expression).run(value, old)
    except (CelError, CompileError):
        return ""
    return told.strip() if isinstance(told, str) and "\n" not in told else ""


def _encoded(schema: JsonObject) -> bytes:
    return msgspec.json.encode(schema)


@lru_cache(maxsize=512)
def _environment(schema: bytes) -> Environment:
    fields: Fields = {}
    found = type_of(msgspec.json.decode(schema), "self", fields)
    return Environment({"self": found, "oldSelf": found}, fields)


@lru_cache(maxsize=2048)
def _program(schema: bytes, source: str) -> Program:
    return _environment(schema).compile(source)


def compile_errors(schema: JsonObject, path: str) -> Iterator[FieldError]:
    """Rules of a definition that are none."""
    yield from _compile_errors(rooted(schema), path)


def _compile_errors(schema: JsonObject, path: str) -> Iterator[FieldError]:
    for number, rule in enumerate(schema.get(RULES) or ()):
        at = f"{path}.{RULES}[{number}]"
        if not (rule.get("rule") or "").strip():
            yield required(f"{at}.rule", "rule is not specified")
            continue
        for field, wanted in (("rule", BOOL), ("messageExpression", STRING)):
            problem = _problem(schema, rule.get(field) or "", wanted)
            if problem:
                shown = {name: rule.get(key, empty) for name, (key, empty) in _RULE_FORM.items()}
                yield invalid(f"{at}.{field}", shown, problem)
    for name, below in (schema.get("properties") or {}).items():
        yield from _compile_errors(below, f"{path}.properties[{name}]")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from _compile_errors(schema[name], f"{path}.{name}")


def _problem(schema: JsonObject, source: str, wanted: Any) -> str:
    if not source:
        return ""
    try:
        found = _program(_encoded(schema), source).result
    except CompileError as problem:
        return f"compilation failed: {problem}"
    if found == wanted or is_wild(found):
        return ""
    return f"cel expression must evaluate to a {wanted}"
