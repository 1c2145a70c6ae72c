"""All mutating policies, with all their bindings, one after the other, and the object they make.

Each sees what those before it have made. They come before mutating webhooks. When one of them, or a
webhook, has changed the object, the server's own admission is gone through once more, and then
those policies are asked a second time that want to be (`reinvocationPolicy: IfNeeded`).

What one mutation makes of an object: a configuration is merged into it, or a patch applied. A
configuration is merged as server-side apply merges it, but nobody owns its fields afterwards. What
is replaced as a whole cannot be part of it: fields that it does not mention would be lost.

Values that expressions have made, as JSON. What is merged into an object keeps the kinds of its
values; what a JSON patch carries is written as protobuf's JSON has it, where durations, moments
and bytes are texts.
"""

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, Protocol

from podium.apiserver.managed_fields import OtherValue, configuration_problem, merge_configuration
from podium.apiserver.policies.asking import (
    OUT_OF_BUDGET,
    Asking,
    Budget,
    Expression,
    Failed,
    OutOfBudget,
    StoredPolicy,
    UnmetCondition,
)
from podium.apiserver.policies.attempted import AttemptedWrite, Forms
from podium.apiserver.policies.invocations import Invocation, Misconfigured, Policies
from podium.golang.json_reader import json_type
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_quote
from podium.golang.shapes import ListOf, MapOf, Shape, Struct
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.cel.functions.conversions import text_of
from podium.kubernetes.cel.structs import JSON_PATCHES, OBJECT, StructValue
from podium.kubernetes.cel.values import (
    CelDuration,
    Opaque,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    from_key,
    type_name,
)
from podium.kubernetes.patching import FailedTestOperation, PatchError, json_patch
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import Decoded, DecodeError, Schema

_MAX_EXACT: Final = 2**53 - 1


class Unwritable(Exception):
    """A value that JSON cannot have; the text is upstream's."""


def check_type_names(value: Any, path: str = "Object") -> Iterator[str]:
    """What is wrong with the types of objects: each is named after the fields that lead to it."""
    match value:
        case StructValue():
            if value.type.name != path:
                yield (
                    f"unexpected type name {go_quote(value.type.name)}, expected {go_quote(path)},"
                    " which matches field name path from root Object type"
                )
            for name, held in value.fields.items():
                yield from check_type_names(held, f"{path}.{name}")
        case list():
            for item in value:
                yield from check_type_names(item, path)
        case dict():
            for item in value.values():
                yield from check_type_names(item, path)


def configuration_of(value: StructValue) -> JsonObject:
    """An object as it is merged; raises Unwritable. Values that JSON does not have stay in it as
    `OtherValue`s, which have a place nowhere."""
    return {name: _mergeable(held) for name, held in value.fields.items()}


def _mergeable(value: Any) -> Any:
    match value:
        case StructValue():
            return configuration_of(value)
        case Optional():
            return _mergeable(value.value)
        case list():
            return [_mergeable(item) for item in value]
        case dict() if not all(isinstance(key, str) for key in value):
            raise Unwritable("*dynamic.ObjectVal")
        case dict():
            return {key: _mergeable(item) for key, item in value.items()}
        case float() if value.is_integer() and abs(value) <= _MAX_EXACT:
            return int(value)
        case None | Uint() | bytes() | CelDuration() | Timestamp() | TypeValue() | Opaque():
            return _other(value)
        case _:
            return value


def _other(value: Any) -> OtherValue:
    match value:
        case None:
            return OtherValue("structpb.NullValue", "0", "NULL_VALUE")
        case Uint():
            return OtherValue("uint64", f"{value:#x}", str(int(value)))
        case bytes():
            octets = ", ".join(f"{each:#x}" for each in value)
            return OtherValue("[]uint8", f"[]uint8{{{octets}}}", f"[{' '.join(map(str, value))}]")
        case CelDuration():
            return OtherValue("time.Duration", str(value.nanos), text_of(value))
        case _:
            named = f"({type_name(value)})"
            return OtherValue(type_name(value), named, named)


def patch_value_of(value: Any) -> JsonValue:
    """A value of a JSON patch; raises Unwritable."""
    match value:
        case StructValue():
            return {name: patch_value_of(held) for name, held in value.fields.items()}
        case Optional() if not value.present:
            raise Unwritable("optional.none() dereference")
        case Optional():
            return patch_value_of(value.value)
        case list():
            return [patch_value_of(item) for item in value]
        case dict():
            return {_key(key): patch_value_of(item) for key, item in value.items()}
        case float():
            return int(value) if value.is_integer() and abs(value) <= _MAX_EXACT else value
        case int() if not isinstance(value, bool):
            return int(value) if abs(value) <= _MAX_EXACT else str(int(value))
        case bytes():
            return base64.b64encode(value).decode()
        case CelDuration() | Timestamp():
            return text_of(value)
        case TypeValue():
            raise Unwritable("type conversion not supported for 'type'")
        case Opaque():
            found = type_name(value).rpartition(".")[2]
            raise Unwritable(f"type conversion error from '{found}' to '*structpb.Value'")
        case _:
            plain: JsonValue = value
            return plain


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Unwritable(f"unsupported type conversion from '{type_name(from_key(key))}' to string")
    return key


Read = Callable[[JsonObject], Decoded]
"""Reads a changed object; raises DecodeError."""
_FRACTION: Final = re.compile(r"json: cannot unmarshal number \S+ into .* of type (\S+)")


class Mutation(NamedTuple):
    """One entry of a policy's `mutations`."""

    expression: Expression
    is_json_patch: bool

    def change(self, obj: JsonObject, made: Any, schema: Schema, read: Read) -> JsonObject:
        """The object after what the expression has made, read like one that a client sends.

        Raises Failed if it does not fit, and StatusError where upstream does.
        """
        if not self.is_json_patch:
            try:
                return read(_merge_object(obj, made, schema)).value
            except DecodeError as problem:
                raise Failed(_describe_conversion_error(problem.message, schema)) from None
        patched = _patch_object(obj, made)
        try:
            taken = read({"apiVersion": schema.api_version, "kind": schema.kind, **patched})
        except DecodeError as problem:
            raise status_errors.internal_error(problem.message) from None
        if taken.problems and not schema.is_custom:
            told = f"strict decoding error: {', '.join(taken.problems)}"
            raise status_errors.internal_error(told)
        return taken.value


def _describe_conversion_error(why: str, schema: Schema) -> str:
    """Why a merged object is none of its kind."""
    fraction = _FRACTION.fullmatch(why)
    if fraction is not None:
        why = f"cannot convert float64 to {fraction[1]}"
    elif why.startswith("illegal base64"):
        why = f"error decoding from json: {why}"
    kind = f"{schema.group}/{schema.version}, Kind={schema.kind}"
    return f"unable to convert unstructured object to {kind}: {why}"


def _merge_object(obj: JsonObject, made: StructValue, schema: Schema) -> JsonObject:
    _require_type_names(made)
    try:
        config = configuration_of(made)
    except Unwritable as unwritable:
        raise Failed(f"invalid return type: {unwritable}") from None
    config |= {"apiVersion": schema.api_version, "kind": schema.kind}
    problem = configuration_problem(config, schema)
    if problem:
        told = f"failed to convert patch object to typed object: {problem}"
        raise Failed(f"error applying patch: {told}")
    replaced = ", ".join(_atomic_parts(config, schema.root))
    if replaced:
        told = f"may not mutate atomic arrays, maps or structs: {replaced}"
        raise Failed(f"error applying patch: invalid ApplyConfiguration: {told}")
    return merge_configuration(obj, config, schema)


def _atomic_parts(value: JsonValue, shape: Shape, path: str = "") -> Iterator[str]:
    """Where a configuration has something that is replaced as a whole."""
    if isinstance(value, dict) and isinstance(shape, Struct | MapOf):
        if shape.is_atomic:
            yield path
        fields = shape.fields if isinstance(shape, Struct) else {}
        for name, held in value.items():
            if name in fields:
                yield from _atomic_parts(held, fields[name].shape, f"{path}.{name}")
    elif isinstance(value, list) and isinstance(shape, ListOf):
        if not shape.is_associative:
            yield path
        for index, item in enumerate(value):
            yield from _atomic_parts(item, shape.item, f"{path}[{index}]")


def _patch_object(obj: JsonObject, made: Sequence[StructValue]) -> JsonObject:
    patch: JsonValue = [_operation(each) for each in made]
    try:
        patched = json_patch.apply(obj, patch, null_is_missing=False)
    except FailedTestOperation:
        return obj
    except PatchError as problem:
        raise Failed(f"JSON Patch: {problem.why or problem.message}") from None
    if not isinstance(patched, dict):
        raise status_errors.internal_error(f"unexpected {json_type(patched)}")
    return patched


def _operation(made: StructValue) -> JsonObject:
    fields = made.fields
    operation: JsonObject = {"op": fields.get("op", ""), "path": fields.get("path", "")}
    if fields.get("from"):
        operation["from"] = fields["from"]
    if "value" not in fields:
        return operation
    value = fields["value"]
    if isinstance(value, StructValue):
        _require_type_names(value, value.type.name)
    try:
        operation["value"] = patch_value_of(value)
    except Unwritable as problem:
        raise Failed(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON:"
            f" {problem}"
        ) from None
    return operation


def _require_type_names(made: StructValue, root: str = "Object") -> None:
    problems = list(check_type_names(made, root))
    if problems:
        raise Failed("type mismatch: " + "\n".join(problems))


Key = tuple[str, str, str, str]


class ReadAs(Protocol):
    def __call__(self, changed: JsonObject, seen_as: ApiResource) -> Decoded: ...


class MutatingPolicy(StoredPolicy):
    @property
    def is_asked_again(self) -> bool:
        return self.spec.get("reinvocationPolicy") == "IfNeeded"

    @cached_property
    def mutations(self) -> list[Mutation]:
        found = []
        for each in self.spec.get("mutations") or ():
            is_json_patch = each.get("patchType") == "JSONPatch"
            written = each["jsonPatch" if is_json_patch else "applyConfiguration"]
            results = JSON_PATCHES if is_json_patch else OBJECT
            expression = self.compile_expression(
                written["expression"], results, with_patch_types=True
            )
            found.append(Mutation(expression, is_json_patch))
        return found


_POLICIES: Final = Policies(
    "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", MutatingPolicy
)


def mutating_policies(lookup: Lookup) -> Sequence[MutatingPolicy]:
    """In the order of their names."""
    return _POLICIES.list_policies(lookup)


class _Problem(NamedTuple):
    policy: StoredPolicy
    binding: str
    why: str
    reason: str = ""

    def describe(self) -> str:
        if not self.binding:
            return f'policy "{self.policy.name}" denied request: {self.why}'
        return (
            f"policy '{self.policy.name}' with binding '{self.binding}' denied request: {self.why}"
        )


@dataclass
class PolicyMutation:
    """The mutating policies and one write."""

    attempted: AttemptedWrite
    forms: Forms
    schema_of: Callable[[ApiResource], Schema]
    """The fields of the object in the form of a resource."""
    read: ReadAs
    """A changed object, read like one that a client sends; raises DecodeError, StatusError."""
    _asked: set[Key] = field(default_factory=set)
    """Invocations that want to know of later changes."""
    _again: set[Key] = field(default_factory=set)
    """Those for which there has been one."""
    _last: JsonObject | None = None
    """The object as policies have left it."""
    has_mutated: bool = False
    """Whether something was done to the object, even if it is the same afterwards."""

    def run(self, obj: JsonObject | None, *, again: bool = False) -> JsonObject | None:
        """The object that policies make of one; raises StatusError. `again`: the second time."""
        self.attempted = replace(self.attempted, obj=obj)
        if again and self._last != obj:
            self._require_again()
        problems: list[_Problem] = []
        budget = Budget()
        invocations = []
        for found in _POLICIES.find_invocations(self.attempted, self.forms):
            if isinstance(found, Misconfigured):
                problems.append(_Problem(found.policy, found.binding, found.why))
            else:
                invocations.append(found)
        mutated = False
        for invocation in invocations:
            mutated |= self._invoke(invocation, problems, budget, again=again)
        if mutated:
            self._require_again()
            self.has_mutated = True
        refusing = [each for each in problems if not each.policy.ignores_failures]
        if refusing:
            raise _refusal(self.attempted, refusing)
        self._last = self.attempted.obj
        return self.attempted.obj

    def _invoke(
        self,
        invocation: Invocation[MutatingPolicy],
        problems: list[_Problem],
        budget: Budget,
        *,
        again: bool,
    ) -> bool:
        """Let one policy change the object; says whether it has done something to it."""
        policy, before, mutated = invocation.policy, self.attempted.obj, False
        try:
            seen = invocation.bind_seen(self.attempted, self.forms)
            if not policy.meets_conditions(seen, budget):
                return False
        except UnmetCondition as problem:
            problems.append(_Problem(policy, invocation.binding_name, str(problem), "Invalid"))
            return False
        if again and invocation.key not in self._again:
            return False
        for mutation in policy.mutations if before is not None else ():
            try:
                self._mutate(invocation, mutation, budget)
                mutated = True
            except Failed as problem:
                problems.append(_Problem(policy, invocation.binding_name, str(problem), "Invalid"))
        if self.attempted.obj != before:
            self._require_again()
        if policy.is_asked_again:
            self._asked.add(invocation.key)
        return mutated

    def _mutate(
        self, invocation: Invocation[MutatingPolicy], mutation: Mutation, budget: Budget
    ) -> None:
        seen = invocation.bind_seen(self.attempted, self.forms)
        assert seen.obj is not None, "looked at before"
        if isinstance(mutation.expression.program, str):
            raise Failed(mutation.expression.program)
        try:
            made = Asking(invocation.policy, seen, budget).value(mutation.expression)
        except OutOfBudget:
            raise Failed(OUT_OF_BUDGET) from None
        seen_as, own = invocation.seen_as, self.attempted.resource
        read = partial(self.read, seen_as=seen_as)
        new = mutation.change(seen.obj, made, self.schema_of(seen_as), read)
        if seen_as is not own and not self.attempted.subresource:
            new = self.forms.convert_object(new, seen_as, own)
        self.attempted = replace(self.attempted, obj=new)

    def _require_again(self) -> None:
        self._again |= self._asked
        self._asked = set()


def _refusal(attempted: AttemptedWrite, problems: list[_Problem]) -> status_errors.StatusError:
    told = [each.describe() for each in problems]
    refusal = status_errors.forbidden(attempted.resource, attempted.name, "")
    refusal.message = told[0]
    refusal.reason = problems[0].reason or refusal.reason
    refusal.details = {
        **(refusal.details or {}),
        "causes": [{"message": each} for each in told],
    }
    return refusal
