"""Patches that a real API server was sent, and what it made of them."""

import json
import re
from typing import Any

from support.apiserver.apiserver_cases import parts_missing, recorded_steps

from podium.kubernetes.patching import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    json_patch,
    merge_patch,
    not_decodable,
    strategic_merge,
)
from podium.kubernetes.schema import DecodeError, Schema, decode, decode_patched, schema_of
from podium.kubernetes.status_errors import StatusError

SCHEMAS = {
    "deployments": schema_of("apps", "v1", "Deployment"),
    "nodes": schema_of("", "v1", "Node"),
}
ELSEWHERE = {"17", "25", "30"}  # refused when the text is read, or by validation


def answer(live: Any, step: dict[str, Any], schema: Schema) -> Any:
    """The object after the patch, or the Status that refuses it."""
    patch = json.loads(step["rawBody"]) if "rawBody" in step else step["body"]
    media_type = step["headers"]["Content-Type"]
    try:
        document = patched(live, patch, media_type, schema)
        reader = decode_patched if media_type == STRATEGIC_MERGE_PATCH else decode
        return reader(document, schema).value
    except DecodeError as error:
        return not_decodable(media_type, patch, document, error.message).as_object()
    except StatusError as error:
        return error.as_object()


def patched(live: Any, patch: Any, media_type: str, schema: Schema) -> Any:
    if media_type == JSON_PATCH:
        return json_patch.apply(live, patch)
    if media_type == MERGE_PATCH:
        return merge_patch.apply(live, patch)
    return strategic_merge.apply(live, patch, schema)


def without_shown_object(status: Any) -> str:
    return re.sub(r'Invalid value: "\{.*\}"', 'Invalid value: "<OBJECT>"', status["message"])


def test_recorded_patches_give_the_recorded_objects_and_errors() -> None:
    live: dict[str, Any] = {}
    compared = 0
    for step in recorded_steps("patch-types"):
        plural = next((name for name in SCHEMAS if f"/{name}/" in step.get("path", "")), None)
        if step.get("method") != "PATCH" or plural is None:
            continue
        wanted = step["expect"]["body"]
        if plural in live and step["id"] not in ELSEWHERE:
            found = answer(live[plural], step, SCHEMAS[plural])
            if wanted["kind"] == "Status":
                assert without_shown_object(found) == wanted["message"], step["id"]
                assert found["code"] == wanted["code"]
            else:
                found["metadata"].pop("generation", None)
                assert parts_missing(found, wanted) == [], step["id"]
            compared += 1
        if wanted["kind"] != "Status":
            live[plural] = wanted
    assert compared > 20
