"""How long lists in a report for browsers may be."""

from collections.abc import Mapping
from typing import Final, TypeVar

from msgspec.structs import fields, replace

from podium.golang.document_structs import Document

MAX_ROWS: Final = 20_000
"""In one list of a report."""

_Document = TypeVar("_Document", bound=Document)


def bound_lists(document: _Document, limits: Mapping[str, int]) -> tuple[_Document, dict[str, int]]:
    """A document with lists that are no longer than these limits, and by their names in JSON how
    long they are in truth."""
    written = {each.name: each.encode_name for each in fields(document)}
    lists = {name: getattr(document, name) for name in limits}
    bounded = {name: lists[name][:most] for name, most in limits.items()}
    totals = {written[name]: len(found) for name, found in lists.items()}
    return replace(document, **bounded), totals
