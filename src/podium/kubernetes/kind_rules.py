"""What is special about the objects of a resource, behind one interface for all resources.

Built-in kinds take their rules from the record of the kind and its schema; custom resources from
the schema in their definition. A built-in kind in an older version follows the rules of the newer
one. The verbs know only this interface, so they read the same for all.
"""

from collections.abc import Callable
from typing import Protocol

from podium.golang.json_values import JsonObject
from podium.kubernetes import conversion, defaulting, strategy, validation
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError
from podium.kubernetes.schema import Decoded, Schema, decode, decode_patched, schema_of


class Rules(Protocol):
    """The rules of one resource. Everything but decoding works in place."""

    @property
    def schema(self) -> Schema: ...
    def decode(self, obj: JsonObject, *, after_strategic_patch: bool = False) -> Decoded:
        """Read an object as a value of this kind; DecodeError if it is none."""

    def set_defaults(self, obj: JsonObject) -> None: ...
    def prepare_create(self, obj: JsonObject, now: str) -> None: ...
    def prepare_update(self, subresource: str, new: JsonObject, old: JsonObject, now: str) -> None:
        """What the server keeps of the old object when the new one is written to a path."""

    def validate_create(self, obj: JsonObject) -> list[FieldError]: ...
    def validate_update(
        self, subresource: str, new: JsonObject, old: JsonObject
    ) -> list[FieldError]: ...


class BuiltinRules:
    """The rules of a built-in kind."""

    def __init__(self, resource: ApiResource) -> None:
        self._resource = resource
        self.schema = schema_of(resource.group, resource.version, resource.kind)

    def decode(self, obj: JsonObject, *, after_strategic_patch: bool = False) -> Decoded:
        read = decode_patched if after_strategic_patch else decode
        return read(obj, self.schema)

    def set_defaults(self, obj: JsonObject) -> None:
        defaulting.set_defaults(self._resource, obj)

    def prepare_create(self, obj: JsonObject, now: str) -> None:
        strategy.prepare_create(self._resource, obj, now)

    def prepare_update(self, subresource: str, new: JsonObject, old: JsonObject, now: str) -> None:
        if not subresource:
            strategy.prepare_update(self._resource, new, old, now)
        elif subresource == "status":
            strategy.prepare_status_update(self._resource, new, old, now)
        else:
            strategy.prepare_subresource_update(self._resource, subresource, new, old, now)

    def validate_create(self, obj: JsonObject) -> list[FieldError]:
        return validation.validate_create(self._resource, obj)

    def validate_update(
        self, subresource: str, new: JsonObject, old: JsonObject
    ) -> list[FieldError]:
        if not subresource:
            return validation.validate_update(self._resource, new, old)
        if subresource == "status":
            return validation.validate_status_update(self._resource, new, old)
        return validation.validate_subresource_update(self._resource, subresource, new, old)


class ConvertedRules(BuiltinRules):
    """The rules of a built-in kind in a version whose objects are converted to be looked at."""

    def __init__(self, resource: ApiResource, ruling: ApiResource) -> None:
        """`ruling` is the same resource in the version whose rules hold."""
        super().__init__(resource)
        self._rules = BuiltinRules(ruling)

    def set_defaults(self, obj: JsonObject) -> None:
        """Those that the version has itself; the rest come when the object is stored."""
        defaulting.set_defaults(self._resource, obj)
        self._change(obj, lambda _: None)

    def prepare_create(self, obj: JsonObject, now: str) -> None:
        self._change(obj, lambda value: self._rules.prepare_create(value, now))

    def prepare_update(self, subresource: str, new: JsonObject, old: JsonObject, now: str) -> None:
        before = self._convert(old)
        self._change(new, lambda value: self._rules.prepare_update(subresource, value, before, now))

    def validate_create(self, obj: JsonObject) -> list[FieldError]:
        return self._rules.validate_create(self._convert(obj))

    def validate_update(
        self, subresource: str, new: JsonObject, old: JsonObject
    ) -> list[FieldError]:
        return self._rules.validate_update(subresource, self._convert(new), self._convert(old))

    def _convert(self, obj: JsonObject) -> JsonObject:
        schema = self._rules.schema
        found = conversion.in_version(obj, schema.group, schema.kind, schema.version)
        assert found is not None
        return found

    def _change(self, obj: JsonObject, act: Callable[[JsonObject], None]) -> None:
        value = self._convert(obj)
        act(value)
        changed = conversion.to_served(self._resource, value)
        metadata = obj["metadata"]  # which callers hold on to
        found = changed["metadata"]
        metadata.clear()
        metadata.update(found)
        obj.clear()
        obj.update(changed, metadata=metadata)


def rules_of(
    resource: ApiResource, find: Callable[[str, str, str], ApiResource | None]
) -> BuiltinRules:
    """The rules of a built-in resource; `find` looks others up by group, version and plural."""
    ruling = conversion.ruling_version(resource)
    if ruling == resource.version:
        return BuiltinRules(resource)
    found = find(resource.group, ruling, resource.plural)
    assert found is not None
    return ConvertedRules(resource, found)
