"""Admission by policies and webhooks, which others write: they change a write, or refuse it.

upstream's order: the server's own admission, mutating policies, mutating webhooks, validation,
validating policies, validating webhooks, quotas.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.mutating import PolicyMutation, mutating_policies
from podium.apiserver.policies.validating import review, validating_policies
from podium.apiserver.requests.attempted_writes import attempted_write
from podium.apiserver.requests.body_decoding import internal_type, with_metadata
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.registry import Registry
from podium.apiserver.webhooks.dispatch import ObjectRules, mutate, validate
from podium.apiserver.webhooks.reviews import WebhookOutcome
from podium.apiserver.webhooks.stored_hooks import Webhook, mutating_hooks, validating_hooks
from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Decoded, DecodeError, Schema, decode


def mutate_write(
    registry: Registry,
    resource: ApiResource,
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
    """Let policies and webhooks change a new object, in place; says whether they did.

    Raises StatusError if one refuses.

    `schema`: of an object that is not of the resource's own kind, such as a Binding. `admit` is the
    server's own admission, which has been here already.
    """
    hooks = mutating_hooks(registry.lookup) if call.webhooks is not None else ()
    policies = mutating_policies(registry.lookup)
    if not hooks and not policies:
        return False
    attempted = attempted_write(
        resource, namespace, name, obj, old, call,
        subresource=subresource, dry_run=dry_run, options=options,
    )  # fmt: skip
    rules = _ObjectRules(registry, attempted, schema, admit)
    if policies:
        attempted = replace(attempted, obj=rules.mutation.run(obj))
    outcome = None
    if hooks:
        outcome = _mutate(registry, hooks, attempted, rules, call)
    if outcome is not None:
        attempted = replace(attempted, obj=outcome.obj or attempted.obj)
    elif rules.mutation.has_mutated and attempted.obj is not None:
        admitted = copy_json(attempted.obj)
        rules.admit(admitted)
        attempted = replace(attempted, obj=admitted)
    if attempted.obj is None or attempted.obj is obj:
        return False
    assert obj is not None, "nothing else can be changed"
    _overwrite(obj, attempted.obj)
    return True


class _ObjectRules:
    """How a changed object is read, and what the server itself and policies do to it."""

    def __init__(
        self,
        registry: Registry,
        attempted: AttemptedWrite,
        schema: Schema | None,
        admit: Callable[[JsonObject], None],
    ) -> None:
        self._registry = registry
        self._schema = schema
        self._admit = admit
        self.mutation = PolicyMutation(attempted, registry.forms, self._schema_of, self.decode)

    def decode(self, changed: JsonObject, seen_as: ApiResource) -> Decoded:
        """A changed object, read like one that a client sends; DecodeError or StatusError."""
        return _decode(self._registry, changed, seen_as, self._schema)

    def read(self, patched: JsonObject, seen_as: ApiResource) -> JsonObject:
        try:
            return self.decode(patched, seen_as).value
        except DecodeError as problem:
            raise status_errors.internal_error(problem.message) from None

    def admit(self, obj: JsonObject) -> None:
        """What comes before webhooks, once more."""
        self._admit(obj)
        found = self.mutation.run(obj, again=True)
        if found is not None and found is not obj:
            _overwrite(obj, found)

    def _schema_of(self, seen_as: ApiResource) -> Schema:
        return self._schema or self._registry.rules(seen_as).schema


def _mutate(
    registry: Registry,
    hooks: Sequence[Webhook],
    attempted: AttemptedWrite,
    rules: _ObjectRules,
    call: Call,
) -> WebhookOutcome | None:
    assert call.webhooks is not None, "there are hooks to ask"
    object_rules = ObjectRules(rules.read, rules.admit, is_changed=rules.mutation.has_mutated)
    new_uid = registry.new_uid
    outcome = mutate(hooks, attempted, registry.forms, object_rules, call.webhooks, new_uid)
    _heed_outcome(outcome, call)
    return outcome


def review_write(
    registry: Registry,
    resource: ApiResource,
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
    policies = validating_policies(registry.lookup)
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
    _heed_outcome(validate(hooks, attempted, registry.forms, call.webhooks, registry.new_uid), call)


def _heed_outcome(outcome: WebhookOutcome | None, call: Call) -> None:
    if outcome is None:
        return
    call.warn_all(outcome.warnings)
    if outcome.refused is not None:
        raise outcome.refused


def _decode(
    registry: Registry, changed: JsonObject, seen_as: ApiResource, schema: Schema | None
) -> Decoded:
    rules = registry.rules(seen_as)
    wanted = (schema.api_version, schema.kind) if schema else (seen_as.api_version, seen_as.kind)
    if (changed.get("apiVersion"), changed.get("kind")) != wanted:
        found = f"{str(changed.get('apiVersion')).rpartition('/')[2]}.{changed.get('kind')}"
        into = internal_type(seen_as, wanted[1])
        raise status_errors.internal(f"converting ({found}) to ({into}): unknown conversion")
    taken = decode(changed, schema) if schema else rules.decode(changed)
    if schema is None:
        rules.set_defaults(taken.value)
    return Decoded(with_metadata(taken.value), taken.problems)


def _overwrite(obj: JsonObject, new: JsonObject) -> None:
    """Callers hold on to the object and to its metadata."""
    metadata = obj["metadata"]
    found = cast(JsonObject, new["metadata"])
    metadata.clear()
    metadata.update(found)
    obj.clear()
    obj.update(new, metadata=metadata)
