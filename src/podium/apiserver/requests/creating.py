"""Creating an object: names, system fields, admission, validation, storing.

Where etcd would keep an object. The path shows in a few errors, and nowhere else.

No object is stored that etcd would not take, however many writes it was put together by.
upstream: etcd refuses requests of more than 1.5 MiB, and the server answers 500 with its words.
Before that it tries without `managedFields`, which can be larger than the object, unless the
write is an apply, which needs them. Built-in kinds are measured as the protobuf that etcd would
get; their JSON, which is larger, is looked at first because it is quick to make.
"""

from typing import Final

from podium.apiserver import protobuf
from podium.apiserver.access.guards import (
    guard_policy,
    note_requester,
    parameter_errors_of,
    require_create,
)
from podium.apiserver.managed_fields import Writer, manager_of, track_create
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.registry import Registry
from podium.apiserver.store.stored import Stored, body_of
from podium.golang.json_values import JsonObject, encode
from podium.kubernetes import admission, status_errors, warnings
from podium.kubernetes.admission.new_objects import ServerSteps, admit_new
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Schema

_FOLDERS: Final = {
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "replicationcontrollers"): "controllers",
    ("", "services"): "services/specs",
    ("apiextensions.k8s.io", "customresourcedefinitions"): (
        "apiextensions.k8s.io/customresourcedefinitions"
    ),
    ("events.k8s.io", "events"): "events",
}


def path_of(resource: ApiResource, version: Stored) -> str:
    folder = _FOLDERS.get((resource.group, resource.plural))
    if folder is None:
        folder = f"{resource.group}/{resource.plural}" if resource.is_custom else resource.plural
    return f"/registry/{folder}/{version.key}"


_MAX_STORED_BYTES: Final = 1536 * 1024
_KEPT_AS_JSON: Final = frozenset({"apiextensions.k8s.io"})


def fit_storage(
    resource: ApiResource, schema: Schema, obj: JsonObject, *, keep_managed_fields: bool
) -> None:
    """Refuse an object that is too large; one that is so by its managedFields loses them."""
    size = len(body_of(obj))
    if size <= _MAX_STORED_BYTES:
        return
    metadata: JsonObject = obj["metadata"]
    entries = metadata.get("managedFields")
    entries_size = len(encode(entries)) if entries else 0  # JSON inside of protobuf, too
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    if resource.is_custom or resource.group in _KEPT_AS_JSON:
        rest_size = size - entries_size
    else:
        rest_size = len(protobuf.encode(schema, {**obj, "metadata": rest}))
    if rest_size + entries_size <= _MAX_STORED_BYTES:
        return
    if keep_managed_fields or rest_size > _MAX_STORED_BYTES:
        raise status_errors.internal("etcdserver: request is too large")
    obj["metadata"] = rest


_NAME_ATTEMPTS: Final = 8


def create(
    registry: Registry,
    resource: ApiResource,
    namespace: str,
    obj: JsonObject,
    call: Call,
    *,
    tracked: bool = False,
    instead: bool = False,
) -> Stored:
    """Store a new object.

    `tracked` says that its managedFields are set already, `instead` that the request was another
    one, an update or an apply, that found nothing.
    """
    metadata = obj["metadata"]
    place_in_namespace(resource, namespace, metadata)
    rules = registry.rules(resource)
    if not tracked:
        manager = manager_of(call.options.field_manager, call.user_agent)
        track_create(obj, rules.schema, Writer(manager, call.now))
    # upstream: a namespace whose name is generated is not in itself yet.
    is_namespace = (resource.group, resource.kind) == ("", "Namespace")
    seen_in = metadata.get("name", "") if is_namespace else namespace

    def mutate() -> None:
        _mutate(registry, resource, namespace, seen_in, obj, call)
        guard_policy(call, resource, obj)

    def identify() -> None:
        metadata["uid"] = call.remember("uid", registry.new_uid)
        metadata["creationTimestamp"] = call.now
        _name(registry, resource, namespace, metadata, call)

    def accept() -> None:
        call.warn_all(warnings.on_create(resource, obj))
        if instead:
            require_create(call)

    steps = ServerSteps(
        mutate=mutate,
        identify=identify,
        prepare=lambda: note_requester(resource, obj, call),
        find_problems=lambda: parameter_errors_of(registry, call, resource, obj),
        accept=accept,
        review=lambda: review_write(
            registry, resource, seen_in, metadata.get("name", ""), obj, None, call
        ),
    )
    admit_new(
        resource,
        namespace,
        obj,
        rules=rules,
        lookup=registry.lookup,
        now=call.now,
        settings=registry.settings,
        steps=steps,
    )
    name = metadata.get("name", "")
    if metadata.get("resourceVersion") and not call.options.dry_run:
        raise status_errors.internal("resourceVersion should not be set on objects to be created")
    if registry.find(resource, namespace, name) is not None:
        raise status_errors.already_exists(resource, name)
    metadata.pop("resourceVersion", None)
    if not call.options.dry_run:
        fit_storage(resource, rules.schema, obj, keep_managed_fields=tracked)
    settle(registry, resource, obj, call)
    created = registry.create(resource, namespace, name, obj, dry_run=call.options.dry_run)
    if resource.kind == "CustomResourceDefinition" and not call.options.dry_run:
        registry.definitions.establish(created, call.now)
    return created


def settle(registry: Registry, resource: ApiResource, obj: JsonObject, call: Call) -> None:
    """Let the hooks of the resource have the last word before storing."""
    hooks = registry.storage_hooks.get(resource)
    if hooks is None:
        return
    problems = hooks.settle(obj, call.now, dry_run=call.options.dry_run)
    if problems:
        name = obj["metadata"]["name"]
        raise status_errors.invalid(resource.group, resource.kind, name, problems)


def place_in_namespace(resource: ApiResource, namespace: str, metadata: JsonObject) -> None:
    """An object belongs to the namespace of its path; it may say so or say nothing."""
    if not resource.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace", namespace) != namespace:
        raise status_errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = namespace


def _mutate(
    registry: Registry,
    resource: ApiResource,
    namespace: str,
    seen_in: str,
    obj: JsonObject,
    call: Call,
) -> None:
    """Let policies and webhooks change a new object, which stays in its namespace."""

    def admit(changed: JsonObject) -> None:
        admission.admit_create(resource, namespace, changed, registry.lookup, registry.settings)

    name = obj["metadata"].get("name", "")
    if mutate_write(registry, resource, seen_in, name, obj, None, call, admit=admit):
        place_in_namespace(resource, namespace, obj["metadata"])


def _name(
    registry: Registry, resource: ApiResource, namespace: str, metadata: JsonObject, call: Call
) -> None:
    """Make a name from `generateName` where none was given."""
    prefix = metadata.get("generateName")
    if not prefix or metadata.get("name"):
        return

    if (resource.group, resource.kind) == ("networking.k8s.io", "IPAddress"):
        metadata["name"] = prefix  # upstream: an address is not made longer
        return

    def generate() -> str:
        name = ""
        for _ in range(_NAME_ATTEMPTS):
            name = registry.name_from(prefix)
            if registry.find(resource, namespace, name) is None:
                break
        return name

    metadata["name"] = call.remember("name", generate)
