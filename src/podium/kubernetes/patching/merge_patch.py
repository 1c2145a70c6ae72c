"""JSON merge patches as a request brings them: refused unless they are objects."""

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.patching.refusals import bad_patch, wrong_type
from podium.kubernetes.rules.merge_patch import merge


def apply(document: JsonObject, patch: JsonValue) -> JsonObject:
    """The merged document; raises PatchError when the patch is no object."""
    if patch is None:
        raise bad_patch("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise wrong_type(patch, "map[string]interface {}")
    return merge(document, patch)
