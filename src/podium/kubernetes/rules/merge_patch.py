"""Kinds of patches by content type, and JSON merge patches (RFC 7386): objects are merged, null
removes, all else replaces."""

from collections.abc import Mapping
from enum import StrEnum
from typing import overload

from podium.golang.json_values import JsonObject, JsonValue, ReadOnlyJson


class PatchType(StrEnum):
    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


def merge(document: Mapping[str, ReadOnlyJson], patch: Mapping[str, ReadOnlyJson]) -> JsonObject:
    """The merged document; neither argument is changed."""
    out: JsonObject = dict(document)
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
            continue
        current = out.get(key)
        if not isinstance(current, dict):
            out[key] = without_nulls(value)
        elif isinstance(value, dict):
            out[key] = merge(current, value)
        else:
            out[key] = value
    return out


def difference(was: JsonValue, will: JsonValue) -> JsonValue:
    """A merge patch from one value to the other; null removes."""
    if not isinstance(was, dict) or not isinstance(will, dict):
        return will
    return {
        key: difference(was.get(key), will.get(key))
        for key in sorted({*was, *will})
        if was.get(key) != will.get(key)
    }


@overload
def without_nulls(value: JsonValue) -> JsonValue: ...
@overload
def without_nulls(value: ReadOnlyJson) -> ReadOnlyJson: ...
def without_nulls(value: ReadOnlyJson) -> ReadOnlyJson:
    """The value with no null in any object; nulls that are items of lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
