"""Takes in the object of a request: is it of the right kind, and what of it is known?

Upstream answers in three ways to fields that it does not know or that occur twice, as the client
asks (`fieldValidation`): it refuses, it warns, or it drops them silently.
"""

from typing import Final

from podium.apiserver import protobuf
from podium.apiserver.bodies import (
    JSON,
    REPEATED_IN_YAML,
    Read,
    Unreadable,
    check_size,
    read_json,
    read_yaml_body,
)
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.query import IGNORE, STRICT
from podium.apiserver.requests.registry import Registry
from podium.golang.json_reader import RepeatedMembers, json_type
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.old_pod_claims import unwrap_claim_sources
from podium.kubernetes.schema import DecodeError, Schema, decode, schema_of
from podium.kubernetes.status_errors import StatusError, not_handled, not_strict

_SHOWN_BYTES: Final = 30
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
_SCHEME: Final = "pkg/api/legacyscheme/scheme.go:30"
_META_SCHEME: Final = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
_NO_KIND: Final = "couldn't get version/kind; json parse error: "
_FROM_YAML: Final = "error converting YAML to JSON: "
_DELETE_OPTIONS: Final = "DeleteOptions"
_NO_MESSAGE: Final = (
    "object *unstructured.Unstructured does not implement the protobuf marshalling interface and"
    " cannot be encoded to a protobuf message"
)
"""What upstream says of custom objects, for which there are no messages."""
_INTERNAL_PACKAGES: Final = {"": "core", "events.k8s.io": "core"}
_LIST: Final = "List"
_OF_SEVERAL_VERSIONS: Final = ("CustomResourceDefinition", "Event", "HorizontalPodAutoscaler")
_OLDER: Final = {"Eviction": ("policy/v1beta1",)}


def read_body(
    wanted: ApiResource | Schema, body: bytes, media_type: str, call: Call
) -> Read[JsonObject]:
    """The value of a body that should hold an object of a kind; custom ones have to say it."""
    is_custom = isinstance(wanted, ApiResource) and wanted.is_custom
    try:
        read = _read(body, media_type, call, wanted.kind, wanted.api_version)
        if is_custom and not read.value.get("kind"):
            raise Unreadable(f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'")
        return read
    except Unreadable as problem:
        raise status_errors.bad_request(
            f"the object provided is unrecognized (must be of type {wanted.kind}): {problem}"
            f" ({_summary(body)})"
        ) from None
    except protobuf.UnknownMessageKind as unknown:
        why = _NO_MESSAGE if is_custom else _not_registered(unknown.kind, unknown.api_version)
        version = unknown.api_version.rpartition("/")[2]
        raise not_handled(unknown.kind, version, wanted.kind, why) from None


def _read(
    body: bytes, media_type: str, call: Call, kind: str, api_version: str
) -> Read[JsonObject]:
    if media_type == protobuf.MEDIA_TYPE:
        return _read_protobuf(body, kind, api_version)
    try:
        if media_type == JSON:
            read = read_json(body, find_duplicates=call.options.field_validation != IGNORE)
        else:
            read = read_yaml_body(body)
    except Unreadable as problem:
        if media_type != JSON:
            raise Unreadable(str(problem).removeprefix(_FROM_YAML)) from None
        raise Unreadable(f"{_NO_KIND}{problem}") from None
    value = read.value
    if value is not None and not isinstance(value, dict):
        why = f"cannot unmarshal {json_type(value)} into Go value of type {_TYPE_META}"
        raise Unreadable(f"{_NO_KIND}json: {why}")
    for name in ("kind", "apiVersion"):
        found = value.get(name) if value else None
        if found is not None and not isinstance(found, str):
            why = f"cannot unmarshal {json_type(found)} into Go struct field .{name} of type string"
            raise Unreadable(f"{_NO_KIND}json: {why}")
    written = read.written if isinstance(read.written, dict) else None
    return Read(value or {}, read.duplicates, written)


def _read_protobuf(body: bytes, kind: str, api_version: str) -> Read[JsonObject]:
    try:
        kind, api_version, value = protobuf.decode(body, kind, api_version)
    except protobuf.WireError as problem:
        raise Unreadable(str(problem)) from None
    check_size(value)
    return Read({**value, "kind": kind, "apiVersion": api_version}, ())


def take_delete_options(body: bytes, media_type: str, call: Call) -> JsonObject:
    """The options in the body of a deletion; upstream tells their mistakes without a frame."""
    schema = schema_of("meta.k8s.io", "v1", _DELETE_OPTIONS)
    try:
        value = _read(body, media_type, call, schema.kind, schema.api_version).value
        kind = value.get("kind") or _DELETE_OPTIONS
        if kind != _DELETE_OPTIONS:
            raise protobuf.UnknownMessageKind(kind, value.get("apiVersion") or "v1")
        named = {**value, "kind": schema.kind, "apiVersion": schema.api_version}
        return decode(named, schema).value
    except protobuf.UnknownMessageKind as unknown:
        why = _not_registered(unknown.kind, unknown.api_version, _META_SCHEME)
        raise status_errors.bad_request(why) from None
    except (Unreadable, DecodeError) as problem:
        why = problem.message if isinstance(problem, DecodeError) else str(problem)
        raise status_errors.bad_request(why) from None


def _summary(body: bytes) -> str:
    """The beginning of a body, readable if it looks like an object."""
    if not body:
        return "<empty>"
    more = " ..." if len(body) > _SHOWN_BYTES else ""
    start = body[:_SHOWN_BYTES]
    return (start.decode("utf-8", "replace") if start[:1] == b"{" else start.hex()) + more


def take(
    registry: Registry, resource: ApiResource, read: Read[JsonObject], call: Call
) -> JsonObject:
    """The object of a creation or update, of the resource's kind and with its defaults."""
    written = read.written if read.written is not None and not resource.is_custom else read.value
    obj = of_resource_kind(registry, resource, written)
    if not resource.is_custom:
        tell_old_claims(obj, call)
    rules = registry.rules(resource)
    try:
        taken = rules.decode(obj)
    except DecodeError as problem:
        raise not_handled(resource.kind, resource.version, resource.kind, problem.message) from None
    # upstream: duplicates of custom objects are reported before they are pruned. What is known of
    # duplicates in other forms than JSON is not in the fields.
    is_told = read.written is not None and not resource.is_custom
    problems = taken.problems if is_told else [*read.duplicates, *taken.problems]
    tell_problems(call, resource.kind, resource.version, problems)
    rules.set_defaults(taken.value)
    return with_metadata(taken.value)


def tell_old_claims(obj: JsonObject, call: Call) -> None:
    """Take claims of pods in their old form, in place, with a warning for each."""
    for each in unwrap_claim_sources(obj):
        call.warn(str(each))


def check_kind(registry: Registry, schema: Schema, value: JsonObject) -> None:
    """Refuse an object that says it is of another kind than a subresource takes."""
    kind = value.get("kind") or schema.kind
    api_version = value.get("apiVersion") or schema.api_version
    if kind == schema.kind and api_version in (schema.api_version, *_OLDER.get(kind, ())):
        return
    group, _, version = api_version.rpartition("/")
    if registry.table.find_kind(group, version, kind) is None:
        why = _not_registered(kind, api_version)
    else:
        why = _no_conversion(version, kind, schema.group, schema.kind)
    raise not_handled(kind, version, schema.kind, why)


def take_as(schema: Schema, read: Read[JsonObject], call: Call) -> JsonObject:
    """The object of a subresource, such as a Binding, of the schema's kind."""
    obj = _with_type(read.written or read.value, schema.kind, schema.api_version)
    try:
        decoded = decode(obj, schema)
    except DecodeError as problem:
        raise not_handled(schema.kind, schema.version, schema.kind, problem.message) from None
    told_before = () if read.written is not None else read.duplicates
    tell_problems(call, schema.kind, schema.version, [*told_before, *decoded.problems])
    return with_metadata(decoded.value)


def with_metadata(obj: JsonObject) -> JsonObject:
    """Every object has metadata, even if its sender wrote none."""
    if obj.get("metadata") is None:
        obj["metadata"] = {}
    return obj


def of_resource_kind(registry: Registry, resource: ApiResource, obj: JsonObject) -> JsonObject:
    """The object with its kind and version filled in; refused if it says it is something else."""
    if resource.is_custom and not obj.get("apiVersion"):
        raise _other_version("", resource)
    kind = obj.get("kind") or resource.kind
    api_version = obj.get("apiVersion") or resource.api_version
    why = why_not_of_kind(registry, resource, kind, api_version)
    if why:
        raise not_handled(kind, api_version.rpartition("/")[2], resource.kind, why)
    return _with_type(obj, kind, api_version)


def _with_type(obj: JsonObject, kind: str, api_version: str) -> JsonObject:
    if isinstance(obj, RepeatedMembers):
        return obj.with_members(kind=kind, apiVersion=api_version)
    return {**obj, "kind": kind, "apiVersion": api_version}


def why_not_of_kind(registry: Registry, resource: ApiResource, kind: str, api_version: str) -> str:
    """Why an object of a kind cannot be one of the resource; empty if it can."""
    if kind == resource.kind and api_version == resource.api_version:
        return ""
    group, _, version = api_version.rpartition("/")
    if resource.is_custom or (kind == resource.kind and kind in _OF_SEVERAL_VERSIONS):
        if api_version != resource.api_version:
            raise _other_version(api_version, resource)
        return ""  # a custom object of another kind is found invalid later
    if kind != _LIST and registry.table.find_kind(group, version, kind) is None:
        return _not_registered(kind, api_version)
    return _no_conversion(version, kind, resource.group, resource.kind)


def _other_version(found: str, resource: ApiResource) -> StatusError:
    return status_errors.bad_request(
        f"the API version in the data ({found}) does not match the expected API"
        f" version ({resource.api_version})"
    )


def _not_registered(kind: str, api_version: str, scheme: str = _SCHEME) -> str:
    return (
        f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)}"
        f" in scheme {go_quote(scheme)}"
    )


def _no_conversion(version: str, kind: str, to_group: str, to_kind: str) -> str:
    return f"converting ({version}.{kind}) to ({_package(to_group)}.{to_kind}): unknown conversion"


def internal_type(resource: ApiResource, kind: str) -> str:
    """The Go type of a resource's objects or lists, as errors of the encoder name it."""
    if resource.is_custom:
        return f"unstructured.Unstructured{'List' if kind == resource.list_kind else ''}"
    return f"{_package(resource.group)}.{kind}"


def _package(group: str) -> str:
    return _INTERNAL_PACKAGES.get(group, group.partition(".")[0])


def tell_problems(call: Call, kind: str, version: str, problems: list[str]) -> None:
    """Unknown and repeated fields: refuse, warn or say nothing, as the client wishes."""
    if not problems or call.options.field_validation == IGNORE:
        return
    if call.options.field_validation == STRICT:
        raise not_strict(kind, version, problems)
    for problem in problems:
        # upstream: each key that occurs twice in YAML is a warning of its own.
        lines = problem.split("\n")
        for line in lines[1:] if problem.startswith(REPEATED_IN_YAML) else lines:
            call.warn(line.strip())
