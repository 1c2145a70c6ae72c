"""Admission by policies and webhooks, which others write: they change a write, or refuse it.

upstream's order: the server's own admission, mutating webhooks, validation, policies, validating
webhooks, quotas.
"""

from collections.abc import Callable
from typing import cast

from podium.api.json_values import JsonObject
from podium.apiserver import status_errors
from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.reviewing import review, stored_policies
from podium.apiserver.requests.attempted_writes import attempted_write
from podium.apiserver.requests.body_decoding import internal_type, with_metadata
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.apiserver.resources.resource import Resource
from podium.apiserver.schema import DecodeError, Schema, decode
from podium.apiserver.webhooks.answers import Outcome
from podium.apiserver.webhooks.mutating import ObjectRules, mutate
from podium.apiserver.webhooks.stored_hooks import mutating_hooks, validating_hooks
from podium.apiserver.webhooks.validating import validate


def mutate_write(
    registry: Registry,
    resource: Resource,
    namespace: str,
    name: str,
    obj: JsonObject | None,
    old: JsonObject | None,
    call: Call,
    *,
    subresource: str = "",
    dry_run: bool = False,
    options: JsonObject | None = None,
    schema: Schema | None = None,
    admit: Callable[[JsonObject], None] = lambda _: None,
) -> bool:
    """Let webhooks change a new object, in place; says whether they did. StatusError if refused.

    `schema`: of an object that is not of the resource's own kind, such as a Binding. `admit` is the
    server's own admission, which has been here already.
    """
    hooks = mutating_hooks(registry.lookup)
    if not hooks or call.webhooks is None:
        return False
    attempted = attempted_write(
        resource, namespace, name, obj, old, call,
        subresource=subresource, dry_run=dry_run, options=options,
    )  # fmt: skip

    def read(patched: JsonObject, seen_as: Resource) -> JsonObject:
        return _read(registry, patched, seen_as, schema)

    rules = ObjectRules(read, admit)
    outcome = mutate(hooks, attempted, registry.forms, rules, call.webhooks, registry.new_uid)
    _heed(outcome, call)
    if outcome is None or outcome.obj is None:
        return False
    assert obj is not None, "nothing else can be changed"
    _overwrite(obj, outcome.obj)
    return True


def review_write(
    registry: Registry,
    resource: Resource,
    namespace: str,
    name: str,
    obj: JsonObject | None,
    old: JsonObject | None,
    call: Call,
    *,
    subresource: str = "",
    dry_run: bool = False,
    options: JsonObject | None = None,
) -> None:
    """Let policies and validating webhooks see a write; StatusError if one denies it."""
    hooks = validating_hooks(registry.lookup) if call.webhooks is not None else ()
    policies = stored_policies(registry.lookup)
    if not hooks and not policies:
        return
    attempted = attempted_write(
        resource, namespace, name, obj, old, call,
        subresource=subresource, dry_run=dry_run, options=options,
    )  # fmt: skip
    if policies:
        call.warn_all(review(attempted, registry.forms))
    if hooks:
        _validate(registry, attempted, call)


def _validate(registry: Registry, attempted: AttemptedWrite, call: Call) -> None:
    assert call.webhooks is not None
    hooks = validating_hooks(registry.lookup)
    _heed(validate(hooks, attempted, registry.forms, call.webhooks, registry.new_uid), call)


def _heed(outcome: Outcome | None, call: Call) -> None:
    if outcome is None:
        return
    call.warn_all(outcome.warnings)
    if outcome.refused is not None:
        raise outcome.refused


def _read(
    registry: Registry, patched: JsonObject, seen_as: Resource, schema: Schema | None
) -> JsonObject:
    """A patched object, read like one that a client sends."""
    rules = registry.rules(seen_as)
    wanted = (schema.api_version, schema.kind) if schema else (seen_as.api_version, seen_as.kind)
    if (patched.get("apiVersion"), patched.get("kind")) != wanted:
        found = f"{str(patched.get('apiVersion')).rpartition('/')[2]}.{patched.get('kind')}"
        into = internal_type(seen_as, wanted[1])
        raise status_errors.internal(f"converting ({found}) to ({into}): unknown conversion")
    try:
        taken = decode(patched, schema) if schema else rules.decode(patched)
    except DecodeError as problem:
        raise status_errors.internal_error(problem.message) from None
    if schema is None:
        rules.set_defaults(taken.value)
    return with_metadata(taken.value)


def _overwrite(obj: JsonObject, new: JsonObject) -> None:
    """Callers hold on to the object and to its metadata."""
    metadata = obj["metadata"]
    found = cast(JsonObject, new["metadata"])
    metadata.clear()
    metadata.update(found)
    obj.clear()
    obj.update(new, metadata=metadata)
