"""What a list or a watch wants to see: labels and fields together."""

from podium.apiserver.selectors.selectable import FieldFilter
from podium.apiserver.store.stored import Stored
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.field_selector_text import FieldSelectorError, parse_field_selector
from podium.kubernetes.rules.label_selector_text import parse_label_selector
from podium.kubernetes.rules.labels import EVERYTHING, Selector, SelectorError


class Selection:
    """Says of a version of an object whether it was asked for."""

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


ALL = Selection(EVERYTHING, None)


def selection_of(resource: Resource, labels: str, fields: str) -> Selection:
    """The selection that a query writes; a malformed one is refused as upstream does."""
    if not labels and not fields:
        return ALL
    try:
        terms = parse_field_selector(fields)
        filter_ = FieldFilter(resource, terms) if terms else None
        return Selection(parse_label_selector(labels), filter_)
    except (SelectorError, FieldSelectorError) as problem:
        raise status_errors.bad_request(str(problem)) from problem
