"""The annotation of `kubectl apply` on the client's side, which server-side apply takes over.

Only the manager named `kubectl` does so: what the annotation says was applied by the same person
before, so taking those fields from other owners is no conflict; and an annotation that is there is
kept true, so that one can go back.
"""

import json
from typing import Final

from podium.apiserver.managed_fields.comparing import compare
from podium.apiserver.managed_fields.field_sets import FieldSet, difference, union
from podium.apiserver.managed_fields.steps import NotOfItsType
from podium.apiserver.managed_fields.typed_values import field_set, problems
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.schema.catalogue import Schema

KUBECTL: Final = "kubectl"
_ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"


def forgivable_fields(live: JsonObject, schema: Schema) -> FieldSet:
    """Fields that the annotation has with the values that they still have."""
    written = _annotations(live).get(_ANNOTATION)
    try:
        config = json.loads(written) if isinstance(written, str) else None
    except ValueError:
        return {}
    if not isinstance(config, dict) or config.get("apiVersion") != schema.api_version:
        return {}
    if problems(config, schema.root):
        return {}
    try:
        comparison = compare(config, live, schema.root)
    except NotOfItsType:
        return {}
    fields = field_set(config, schema.root)
    different = union(union(comparison.modified, comparison.added), comparison.removed)
    return difference(fields, different)


def with_last_applied(obj: JsonObject, config: JsonObject) -> JsonObject:
    """The object with its annotation brought up to date; without one there is nothing to do."""
    annotations = _annotations(obj)
    if not annotations.get(_ANNOTATION):
        return obj
    metadata = dict(obj["metadata"])
    metadata["annotations"] = {**annotations, _ANNOTATION: _written(config)}
    return {**obj, "metadata": metadata}


def _annotations(obj: JsonObject) -> JsonObject:
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def _written(config: JsonObject) -> str:
    metadata = dict(config.get("metadata") or {})
    annotations = {k: v for k, v in _annotations(config).items() if k != _ANNOTATION}
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    return go_json(_sorted({**config, "metadata": metadata})) + "\n"


def _sorted(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
