"""JSON merge patches (RFC 7386): objects are merged, null removes, all else replaces."""

from podium.api.json_values import JsonObject, JsonValue
from podium.apiserver.patching.refusals import bad_patch, wrong_type


def apply(document: JsonObject, patch: JsonValue) -> JsonObject:
    """The merged document; raises PatchError when the patch is no object."""
    if patch is None:
        raise bad_patch("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise wrong_type(patch, "map[string]interface {}")
    return _merged(document, patch)


def _merged(document: JsonObject, patch: JsonObject) -> JsonObject:
    out = dict(document)
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
            continue
        current = out.get(key)
        if not isinstance(current, dict):
            out[key] = without_nulls(value)
        elif isinstance(value, dict):
            out[key] = _merged(current, value)
        else:
            out[key] = value
    return out


def without_nulls(value: JsonValue) -> JsonValue:
    """The value with no null in any object; nulls that are items of lists stay."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
