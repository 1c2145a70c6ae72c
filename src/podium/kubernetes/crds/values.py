"""Whether the values of a custom object fit its schema, in upstream's words.

Conditions are checked in upstream's order: the type, combinations of schemas, texts, numbers,
lists, the listed values, objects. A part of an object that an update leaves as it was is not
checked again, so that a schema may become stricter than what is stored.

The formats of texts that schemas of custom resources may ask for. A format that is not listed
is no condition, as upstream has it.

Lists that are sets or maps may not have the same item, or the same keys, twice.
"""

import base64
import binascii
import ipaddress
import math
import re
from collections.abc import Callable, Hashable, Sequence
from datetime import date
from typing import Final

import msgspec

from podium.golang.json_values import JsonObject, JsonValue, ReadOnlyJson
from podium.golang.quoting import go_quote, go_value
from podium.kubernetes.crds.rule_costs import matches, spend_checks
from podium.kubernetes.crds.structural import SchemaNode, read_schema
from podium.kubernetes.rules.field_errors import (
    FieldError,
    duplicate,
    go_json,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from podium.kubernetes.schema.decoding import ScalarTypeError, canonical_time
from podium.kubernetes.validation.names import label_problems, subdomain_problems

_UUID: Final = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s[0-9a-f]{3}-?%s[0-9a-f]{3}-?[0-9a-f]{12}"
_DURATION: Final = re.compile(r"[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)\s*)+")
_LONGEST_DURATION: Final = 1000
"""The expression tries again at every digit."""
_HOSTNAME: Final = re.compile(
    r"(?=.{1,255}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*",
    re.IGNORECASE,
)


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _parses(parse: Callable[[str], object], *errors: type[Exception]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except errors:
            return False
        return True

    return check


def _is_network(text: str) -> bool:
    return "/" in text and _parses(lambda each: ipaddress.ip_network(each, False), ValueError)(text)


_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "datetime": _parses(canonical_time, ScalarTypeError),
    "date": _parses(date.fromisoformat, ValueError),
    "duration": lambda text: (
        len(text) <= _LONGEST_DURATION and _DURATION.fullmatch(text) is not None
    ),
    "ipv4": _parses(ipaddress.IPv4Address, ValueError),
    "ipv6": _parses(ipaddress.IPv6Address, ValueError),
    "cidr": _is_network,
    "mac": _matches(r"([0-9a-f]{2}[:-]){5}([0-9a-f]{2}[:-][0-9a-f]{2}[:-])?[0-9a-f]{2}"),
    "uuid": _matches(_UUID % ("[0-9a-f]", "[0-9a-f]")),
    "uuid3": _matches(_UUID % ("3", "[0-9a-f]")),
    "uuid4": _matches(_UUID % ("4", "[89ab]")),
    "uuid5": _matches(_UUID % ("5", "[89ab]")),
    "hexcolor": _matches("#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "hostname": lambda text: _HOSTNAME.fullmatch(text) is not None,
    "email": _matches(r"[^@\s]+@[^@\s]+"),
    "uri": _matches(r"(/|[a-z][-+.a-z0-9]*:)\S*"),
    "byte": _parses(lambda text: base64.b64decode(text, validate=True), binascii.Error, ValueError),
    "password": lambda _text: True,
    "k8sshortname": lambda text: not label_problems(text),
    "k8slongname": lambda text: not subdomain_problems(text),
}


def is_known(format_name: str) -> bool:
    return format_name.replace("-", "") in _CHECKS


def fits(format_name: str, text: str) -> bool:
    return _CHECKS[format_name.replace("-", "")](text)


def repeated_items(value: JsonValue, node: SchemaNode | None, path: str = "") -> list[FieldError]:
    """One error for each value that occurs twice, at its second place."""
    if node is None:
        return []
    found: list[FieldError] = []
    if isinstance(value, dict):
        for key, item in value.items():
            if key in node.properties:
                below = f"{path}.{key}" if path else key
                found += repeated_items(item, node.properties[key], below)
            elif node.additional is not None:
                found += repeated_items(item, node.additional, f"{path}[{key}]")
    elif isinstance(value, list):
        if node.list_type == "set":
            found += _find_repeated(value, value, path)
        elif node.list_type == "map":
            found += _repeated_keys(value, node, path)
        for index, item in enumerate(value):
            found += repeated_items(item, node.items, f"{path}[{index}]")
    return found


def key_of_item(item: JsonValue, keys: Sequence[str]) -> Hashable:
    """What tells an item of a list that is a map from all others."""
    if not isinstance(item, dict):
        return ""
    values = [item.get(key) for key in keys]
    if any(isinstance(value, (dict, list)) for value in values):
        return go_json(values)
    return tuple((value.__class__, value) for value in values)


def _repeated_keys(value: list[JsonValue], node: SchemaNode, path: str) -> list[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            told = "must be an object for an array of list-type map"
            return [invalid(f"{path}[{index}]", item, told)]
    objects = [item if isinstance(item, dict) else {} for item in value]
    keys = [{key: item[key] for key in node.list_keys if key in item} for item in objects]
    return _find_repeated(keys, keys, path)


def _find_repeated(
    identities: Sequence[ReadOnlyJson], shown: Sequence[ReadOnlyJson], path: str
) -> list[FieldError]:
    times: dict[bytes, int] = {}
    found = []
    for index, identity in enumerate(identities):
        written = msgspec.json.encode(identity)
        times[written] = times.get(written, 0) + 1
        if times[written] == 2:
            found.append(duplicate(f"{path}[{index}]", shown[index]))
    return found


_NOWHERE: Final = "<nil>"
"""The path of errors that upstream reports without one."""
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}
_INT_RANGES: Final = {"int32": 2**31, "int64": 2**63}
_MISSING: Final = object()


def problems(
    value: JsonValue, node: SchemaNode, path: str, old: object = _MISSING
) -> list[FieldError]:
    """Everything about a value that its schema does not allow."""
    if old is not _MISSING and old == value:
        return []
    spend_checks(1)
    conditions = node.conditions
    found = _type_problems(value, node, path)
    if value is None:
        return found + _listed_problems(value, node, path)
    found += _combination_problems(value, conditions, path)
    if isinstance(value, str):
        found += _text_problems(value, conditions, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found += _number_problems(value, node, path)
    elif isinstance(value, list):
        found += _list_problems(value, node, path, old)
    found += _listed_problems(value, node, path)
    if isinstance(value, dict):
        found += _object_problems(value, node, path, old)
    return found


def _type_problems(value: JsonValue, node: SchemaNode, path: str) -> list[FieldError]:
    wanted = ("integer", "string") if node.is_int_or_string else (node.type,)
    if not node.type and not node.is_int_or_string:
        return []
    if value is None:
        return [] if node.is_nullable else [_wrong_type(path, ",".join(wanted), "null")]
    found = _type_of(value)
    if found in wanted or (found == "integer" and "number" in wanted):
        return []
    if isinstance(value, float) and value.is_integer() and "integer" in wanted:
        return []
    format_name = node.conditions.get("format") or ""
    if node.type == "string" and is_known(format_name) and not isinstance(value, list):
        kind = {"integer": "int64", "number": "float64"}.get(found, "")
        return [_wrong_type(path, format_name, kind)]
    return [_wrong_type(path, ",".join(wanted), found)]


def _type_of(value: JsonValue) -> str:
    return _TYPES.get(value.__class__, "number")


def _wrong_type(path: str, wanted: str, found: str) -> FieldError:
    return type_invalid(path, found, f"{path} in body must be of type {wanted}: {go_quote(found)}")


def _combination_problems(value: JsonValue, conditions: JsonObject, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    for name, least in (("anyOf", "at least one schema (anyOf)"), ("oneOf", "")):
        alternatives = conditions.get(name) or ()
        spend_checks(3 * len(alternatives))
        results = [problems(value, read_schema(each), path) for each in alternatives]
        fitting = sum(1 for result in results if not result)
        if not results or fitting == 1 or (fitting and least):
            continue
        told = least or f"one and only one schema (oneOf). {_told_count(fitting)}"
        found.append(invalid(_NOWHERE, "", f"{go_quote(path)} must validate {told}"))
        if not fitting:
            found += sorted(results, key=len)[0]
    spend_checks(3 * len(conditions.get("allOf") or ()))
    everything = [
        problems(value, read_schema(each), path) for each in conditions.get("allOf") or ()
    ]
    for result in everything:
        found += result
    if any(everything):
        none = "" if not all(everything) else ". None validated"
        told = f"{go_quote(path)} must validate all the schemas (allOf){none}"
        found.append(invalid(_NOWHERE, "", told))
    unwanted = conditions.get("not")
    if isinstance(unwanted, dict) and not problems(value, read_schema(unwanted), path):
        found.append(invalid(_NOWHERE, "", f"{go_quote(path)} must not validate the schema (not)"))
    return found


def _told_count(fitting: int) -> str:
    return f"Found {fitting} valid alternatives" if fitting else "Found none valid"


def _text_problems(value: str, conditions: JsonObject, path: str) -> list[FieldError]:
    longest, shortest = conditions.get("maxLength"), conditions.get("minLength")
    pattern, format_name = conditions.get("pattern"), conditions.get("format") or ""
    found: list[FieldError] = []
    if longest is not None and len(value) > longest:
        found.append(too_long(path, longest))
    elif shortest is not None and len(value) < shortest:
        told = f"{path} in body should be at least {shortest} chars long"
        found.append(invalid(path, value, told))
    elif pattern and not matches(pattern, value):
        found.append(invalid(path, value, f"{path} in body should match '{pattern}'"))
    if is_known(format_name) and not fits(format_name, value):
        told = f"{path} in body must be of type {format_name}: {go_quote(value)}"
        found.append(type_invalid(path, value, told))
    return found


def _number_problems(value: int | float, node: SchemaNode, path: str) -> list[FieldError]:
    conditions = node.conditions
    found: list[FieldError] = []
    limit = _INT_RANGES.get(conditions.get("format") or "") if node.type == "integer" else None
    if limit is not None and not -limit <= value < limit:
        told = f"Checked value must be of type integer with format {conditions['format']} in {path}"
        found.append(invalid(_NOWHERE, "", told))
    factor = conditions.get("multipleOf")
    if factor and not math.isclose(value / factor, round(value / factor), abs_tol=1e-9):
        found.append(
            invalid(path, value, f"{path} in body should be a multiple of {go_value(factor)}")
        )
    least, most = conditions.get("minimum"), conditions.get("maximum")
    if least is not None:
        excludes = bool(conditions.get("exclusiveMinimum"))
        if value < least or (excludes and value == least):
            words = "greater than" if excludes else "greater than or equal to"
            found.append(_out_of_range(value, least, words, path))
    if most is not None:
        excludes = bool(conditions.get("exclusiveMaximum"))
        if value > most or (excludes and value == most):
            words = "less than" if excludes else "less than or equal to"
            found.append(_out_of_range(value, most, words, path))
    return found


def _out_of_range(value: int | float, bound: int | float, words: str, path: str) -> FieldError:
    shown = int(bound) if isinstance(value, int) else bound
    return invalid(path, value, f"{path} in body should be {words} {go_value(shown)}")


def _listed_problems(value: JsonValue, node: SchemaNode, path: str) -> list[FieldError]:
    allowed = node.conditions.get("enum")
    if not allowed or (isinstance(value, str) and value in node.listed_texts):
        return []
    spend_checks(len(allowed) // 5)
    if any(each == value and _same_kind(each, value) for each in allowed):
        return []
    shown = [each if isinstance(each, str) else go_json(each) for each in allowed]
    return [not_supported(path, value, shown)]


def _same_kind(one: JsonValue, other: JsonValue) -> bool:
    return isinstance(one, bool) is isinstance(other, bool)


def _list_problems(
    value: list[JsonValue], node: SchemaNode, path: str, old: object
) -> list[FieldError]:
    found: list[FieldError] = []
    if node.items is not None:
        before = _by_keys(old, node)
        for index, item in enumerate(value):
            earlier: object = _MISSING
            if before:
                earlier = before.get(key_of_item(item, node.list_keys), _MISSING)
            found += problems(item, node.items, f"{path}[{index}]", earlier)
    least, most = node.conditions.get("minItems"), node.conditions.get("maxItems")
    if least is not None and len(value) < least:
        told = f"{path} in body should have at least {least} items"
        found.append(invalid(path, len(value), told))
    if most is not None and len(value) > most:
        found.append(too_many(path, len(value), most))
    return found


def _by_keys(old: object, node: SchemaNode) -> dict[Hashable, JsonValue]:
    """Items of the stored list by their keys; only lists that are maps have them."""
    if node.list_type != "map" or not isinstance(old, list):
        return {}
    return {key_of_item(item, node.list_keys): item for item in old}


def _object_problems(
    value: JsonObject, node: SchemaNode, path: str, old: object
) -> list[FieldError]:
    found: list[FieldError] = []
    conditions = node.conditions
    least, most = conditions.get("minProperties"), conditions.get("maxProperties")
    if least is not None and len(value) < least:
        told = f"{path} in body should have at least {least} properties"
        found.append(invalid(path, len(value), told))
    if most is not None and len(value) > most:
        found.append(too_many(path, len(value), most))
    before = old if isinstance(old, dict) else {}
    if node.additional is not None:
        for key, item in value.items():
            if key not in node.properties:
                earlier = before.get(key, _MISSING)
                found += problems(item, node.additional, f"{path}.{key}", earlier)
    for key, below in node.properties.items():
        if key in value:
            place = f"{path}.{key}" if path else key
            found += problems(value[key], below, place, before.get(key, _MISSING))
    spend_checks((len(node.properties) + len(conditions.get("required") or ())) // 10)
    for key in conditions.get("required") or ():
        if key not in value:
            spend_checks(1)
            found.append(required(f"{path}.{key}" if path else key))
    return found
