"""Changing an object by a patch: JSON patch, merge patch, strategic merge, server-side apply.

The patch is applied to the object as its resource shows it; what comes out is read like any object
that a client sends, and written like an update.
"""

from dataclasses import dataclass
from typing import Final, cast

from podium.apiserver.bodies import (
    REPEATED_IN_YAML,
    Read,
    Unreadable,
    read_json,
    read_yaml_body,
    sort_fields,
)
from podium.apiserver.managed_fields import Writer, apply
from podium.apiserver.requests.body_decoding import (
    tell_old_claims,
    tell_problems,
    why_not_of_kind,
    with_metadata,
)
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import create
from podium.apiserver.requests.query import IGNORE, STRICT
from podium.apiserver.requests.registry import Registry, check_path_name
from podium.apiserver.requests.updating import (
    Written,
    check_name,
    check_version,
    track,
    write,
)
from podium.golang.json_reader import json_type
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes import status_errors
from podium.kubernetes.kind_rules import Rules
from podium.kubernetes.patching import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    json_patch,
    merge_patch,
    not_decodable,
    strategic_merge,
    unreadable,
)
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Decoded, DecodeError, Schema, decode, decode_patched

APPLY_PATCH: Final = "application/apply-patch+yaml"
PATCH_TYPES: Final = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH)


@dataclass(frozen=True, slots=True)
class PatchBody:
    """A patch as it came: its media type and its value."""

    media_type: str
    read: Read[JsonValue]

    def applied_to(self, document: JsonObject, schema: Schema) -> JsonObject:
        value = self.read.value
        if self.media_type == JSON_PATCH:
            return _an_object(json_patch.apply(document, value))
        if self.media_type == MERGE_PATCH:
            return merge_patch.apply(document, value)
        return strategic_merge.apply(document, value, schema)


def read_patch(body: bytes, media_type: str, call: Call) -> PatchBody:
    """The value of a patch; an apply patch may be YAML."""
    duplicates = call.options.field_validation != IGNORE
    try:
        if media_type == APPLY_PATCH:
            read = (
                read_json(body, find_duplicates=duplicates)
                if body.lstrip()[:1] == b"{"
                else read_yaml_body(body)
            )
        else:
            read = read_json(body, find_duplicates=duplicates)
    except Unreadable as problem:
        if media_type == APPLY_PATCH:
            raise status_errors.bad_request(f"error decoding YAML: {problem}") from None
        raise unreadable(media_type, str(problem)) from None
    return PatchBody(media_type, read)


def patch(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    namespace: str,
    name: str,
    given: PatchBody,
    call: Call,
) -> Written:
    if given.media_type == APPLY_PATCH:
        return _apply(registry, resource, subresource, namespace, name, given, call)
    before = registry.get(resource, namespace, name)
    old = registry.read(resource, before)
    rules = registry.rules(resource)
    document = given.applied_to(old, rules.schema)
    new = _take_document(registry, resource, rules, given, document, call)
    check_name(resource, namespace, name, new["metadata"])
    check_version(
        resource,
        name,
        new["metadata"].get("resourceVersion", ""),
        old["metadata"]["resourceVersion"],
    )
    track(registry, resource, subresource, old, new, call)
    return Written(write(registry, resource, subresource, before, old, new, call))


def _take_document(
    registry: Registry,
    resource: ApiResource,
    rules: Rules,
    given: PatchBody,
    document: JsonObject,
    call: Call,
) -> JsonObject:
    """What the patched document is as an object of its kind."""
    _check_kind(given, document)
    strategic = given.media_type == STRATEGIC_MERGE_PATCH
    if strategic:  # upstream: patches of this type work on fields, and a kind is none
        document = {**document, "kind": resource.kind, "apiVersion": resource.api_version}
    kind = document.get("kind") or resource.kind
    api_version = document.get("apiVersion") or resource.api_version
    document = {**document, "kind": kind, "apiVersion": api_version}
    why = why_not_of_kind(registry, resource, kind, api_version)
    if why:
        raise not_decodable(given.media_type, given.read.value, document, why)
    try:
        taken = rules.decode(document, after_strategic_patch=strategic)
        if taken.problems and not strategic:  # upstream: patches are applied to sorted fields
            taken = rules.decode(cast(JsonObject, sort_fields(document)))
    except DecodeError as problem:
        why = problem.converted if strategic else problem.message
        raise not_decodable(given.media_type, given.read.value, document, why) from None
    _tell(given, document, taken, call)
    rules.set_defaults(taken.value)
    return with_metadata(taken.value)


def _check_kind(given: PatchBody, document: JsonObject) -> None:
    """A patch may have made the kind something else than a text."""
    for name in ("kind", "apiVersion"):
        found = document.get(name, "")
        if found is not None and not isinstance(found, str):
            why = f"cannot unmarshal {json_type(found)} into Go struct field .{name} of type string"
            raise not_decodable(
                given.media_type,
                given.read.value,
                document,
                f"couldn't get version/kind; json parse error: json: {why}",
            )


def taken_as(given: PatchBody, document: JsonObject, schema: Schema, call: Call) -> JsonObject:
    """What a patched document is as an object of a schema's kind, such as a Scale."""
    strategic = given.media_type == STRATEGIC_MERGE_PATCH
    _check_kind(given, document)
    try:
        taken = (decode_patched if strategic else decode)(document, schema)
    except DecodeError as problem:
        why = problem.converted if strategic else problem.message
        raise not_decodable(given.media_type, given.read.value, document, why) from None
    _tell(given, document, taken, call)
    return with_metadata(taken.value)


def _tell(given: PatchBody, document: JsonObject, taken: Decoded, call: Call) -> None:
    problems = [*given.read.duplicates, *taken.problems]
    if given.media_type == JSON_PATCH:
        problems = [*json_patch.problems(given.read.value), *problems]
    if not problems or call.options.field_validation == IGNORE:
        return
    if call.options.field_validation == STRICT:
        why = f"strict decoding error: {', '.join(problems)}"
        raise not_decodable(given.media_type, given.read.value, document, why)
    for problem in problems:
        call.warn(problem)


def _is_of_yaml(problem: str) -> bool:
    return problem.startswith(REPEATED_IN_YAML)


def _an_object(value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise status_errors.StatusError(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
            {},
        )
    return value


def _apply(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    namespace: str,
    name: str,
    given: PatchBody,
    call: Call,
) -> Written:
    """Server-side apply: the object becomes what the manager says it should be."""
    written = {} if given.read.value is None else given.read.value
    if not isinstance(written, dict):
        raise status_errors.bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot"
            f" unmarshal {json_type(written)} into Go value of type map[string]interface {{}}"
        )
    # upstream: a kind or version that is no text counts as none.
    config: JsonObject = {
        key: value
        for key, value in written.items()
        if key not in ("kind", "apiVersion") or isinstance(value, str)
    }
    if not resource.is_custom:
        tell_old_claims(config, call)
    before = registry.find(resource, namespace, name)
    if before is None:
        check_path_name(name)
    if before is None and subresource:
        raise status_errors.not_found(resource, name)
    old = registry.read(resource, before) if before else None
    rules = registry.rules(resource)
    writer = Writer(call.options.field_manager, call.now, subresource)
    merged = apply(old, config, rules.schema, writer, bool(call.options.force))
    problems = list(given.read.duplicates)
    try:
        taken = rules.decode(merged)
    except DecodeError as problem:
        raise status_errors.internal(problem.message) from None
    if call.options.field_validation == STRICT and problems[:1] and _is_of_yaml(problems[0]):
        why = f"error strict decoding YAML: error converting YAML to JSON: {problems[0]}"
        raise status_errors.bad_request(why)
    tell_problems(call, resource.kind, resource.version, [*problems, *taken.problems])
    new = with_metadata(taken.value)
    rules.set_defaults(new)
    metadata = new["metadata"]
    metadata.setdefault("name", name)
    check_name(resource, namespace, name, metadata)
    if before is None or old is None:
        if metadata.get("uid"):
            why = f"uid mismatch: the provided object specified uid {metadata['uid']}, and no"
            raise status_errors.conflict(resource, name, f"{why} existing object was found")
        created = create(registry, resource, namespace, new, call, tracked=True, instead=True)
        return Written(created, created=True)
    given_version = (config.get("metadata") or {}).get("resourceVersion") or ""
    check_version(resource, name, given_version, old["metadata"]["resourceVersion"])
    return Written(write(registry, resource, subresource, before, old, new, call, applied=True))
