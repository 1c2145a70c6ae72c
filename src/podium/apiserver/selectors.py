"""Selectors as they are in a query: `labelSelector` and `fieldSelector`.

The fields by which each resource can be selected, and how they are read from an object. Every
resource can be selected by `metadata.name`, namespaced ones by `metadata.namespace`, which the
store knows by itself. The others are read once per write and kept beside the object, so that
selecting never decodes one.

What a list or a watch wants to see: labels and fields together.
"""

from collections.abc import Mapping
from typing import Final

from podium.apiserver.store.collection import FieldReader, no_fields
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.kinds.record import ReadField, read_texts
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import EVERYTHING, Selector, SelectorError
from podium.kubernetes.rules.selector_text import (
    FieldSelectorError,
    FieldTerm,
    parse_field_selector,
    parse_label_selector,
)

NAME: Final = "metadata.name"
NAMESPACE: Final = "metadata.namespace"

_NOT_SUPPORTED: Final = "field label not supported: {field}"
_ONLY_METADATA: Final = (
    '"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
)


def fields_of(resource: ApiResource) -> Mapping[str, ReadField]:
    """The readers of a resource's selectable fields beyond name and namespace."""
    if resource.is_custom:
        return read_texts(*resource.selectable_fields)
    return resource.record.selectable_fields


def reader_of(resource: ApiResource) -> FieldReader:
    """Reads all selectable fields of an object at once."""
    readers = tuple(fields_of(resource).values())
    if not readers:
        return no_fields

    def read(value: JsonObject) -> tuple[str, ...]:
        return tuple([reader(value) for reader in readers])

    return read


class FieldFilter:
    """The terms of a field selector, made ready for the versions of one resource."""

    __slots__ = ("_name", "_namespace", "_terms", "name")

    def __init__(self, resource: ApiResource, terms: tuple[FieldTerm, ...]) -> None:
        aliases = resource.record.field_aliases
        places = {field: place for place, field in enumerate(fields_of(resource))}
        self._terms: list[tuple[int, bool, str]] = []
        self._name: list[tuple[bool, str]] = []
        self._namespace: list[tuple[bool, str]] = []
        for field, equal, value in terms:
            if field == NAME:
                self._name.append((equal, value))
            elif field == NAMESPACE and resource.namespaced:
                self._namespace.append((equal, value))
            else:
                known = aliases.get(field, "") if aliases else field
                if known not in places:
                    raise FieldSelectorError(_refusal(resource, field))
                self._terms.append((places[known], equal, value))
        self.name = next((value for equal, value in self._name if equal), None)
        """The only name that can match, if there is one."""

    def matches(self, version: Stored) -> bool:
        for equal, value in self._name:
            if (version.name == value) is not equal:
                return False
        for equal, value in self._namespace:
            if (version.namespace == value) is not equal:
                return False
        fields = version.fields
        return all((fields[place] == value) is equal for place, equal, value in self._terms)


def _refusal(resource: ApiResource, field: str) -> str:
    usual = _NOT_SUPPORTED if resource.selectable_fields else _ONLY_METADATA
    return (resource.record.selector_refusal or usual).format(field=field)


class SelectionPredicate:
    """Says of a version of an object whether it was requested."""

    __slots__ = ("_fields", "_labels", "name", "selects_all")

    def __init__(self, labels: Selector, fields: FieldFilter | None) -> None:
        self._labels = None if labels.empty else labels
        self._fields = fields
        self.selects_all = self._labels is None and fields is None
        self.name = fields.name if fields else None
        """The only name that can match, if there is one."""

    def matches(self, version: Stored) -> bool:
        if self._labels is not None and not self._labels.matches(version.labels):
            return False
        return self._fields is None or self._fields.matches(version)


ALL = SelectionPredicate(EVERYTHING, None)


def selection_of(resource: ApiResource, labels: str, fields: str) -> SelectionPredicate:
    """The selection that a query writes; a malformed one is refused as upstream does."""
    if not labels and not fields:
        return ALL
    try:
        terms = parse_field_selector(fields)
        filter_ = FieldFilter(resource, terms) if terms else None
        return SelectionPredicate(parse_label_selector(labels), filter_)
    except (SelectorError, FieldSelectorError) as problem:
        raise status_errors.bad_request(str(problem)) from problem
