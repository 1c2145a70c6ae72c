"""What a write changed, as each version of a kind shows it.

Owners own fields of the version in which they wrote. Where versions of a kind differ in their
fields, an owner loses what changed in its own version; everywhere else one comparison serves all.
"""

from podium.apiserver.managed_fields.comparing import Comparison, compare
from podium.apiserver.managed_fields.field_sets import FieldSet, union
from podium.apiserver.managed_fields.reset_fields import without_reset_fields
from podium.golang.json_values import JsonObject
from podium.kubernetes import conversion
from podium.kubernetes.schema.catalogue import Schema, schema_of


class Changes:
    """The changes of one write to an object or one of its subresources."""

    __slots__ = ("_in_others", "_new", "_old", "_schema", "_subresource", "removed", "taken")

    def __init__(
        self,
        comparison: Comparison,
        schema: Schema,
        subresource: str,
        old: JsonObject,
        new: JsonObject,
    ) -> None:
        """`comparison` is that of the old and the new object in the version of `schema`."""
        self._schema = schema
        self._subresource = subresource
        self._old = old
        self._new = new
        self._in_others: dict[str, tuple[FieldSet, FieldSet]] = {}
        self.taken, self.removed = self._lost(comparison, schema)

    def lost_in(self, api_version: str) -> tuple[FieldSet, FieldSet]:
        """The fields that others lose in a version: those that were written, and those gone."""
        if api_version == self._schema.api_version or self._schema.is_custom:
            return self.taken, self.removed
        found = self._in_others.get(api_version)
        if found is None:
            found = self._in_others[api_version] = self._compare_in(api_version)
        return found

    def _compare_in(self, api_version: str) -> tuple[FieldSet, FieldSet]:
        schema, version = self._schema, api_version.rpartition("/")[2]
        old = conversion.in_version(self._old, schema.group, schema.kind, version)
        new = conversion.in_version(self._new, schema.group, schema.kind, version)
        if old is None or new is None:
            return self.taken, self.removed
        other = schema_of(schema.group, version, schema.kind)
        return self._lost(compare(old, new, other.root), other)

    def _lost(self, comparison: Comparison, schema: Schema) -> tuple[FieldSet, FieldSet]:
        removed, modified, added = (
            without_reset_fields(fields, schema, self._subresource)
            for fields in (comparison.removed, comparison.modified, comparison.added)
        )
        return union(modified, added), removed
