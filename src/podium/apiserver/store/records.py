"""What a write-ahead log takes and gives back, as values."""

from typing import NamedTuple


class Record(NamedTuple):
    """One write: the body of an object's new version, or None where it was deleted."""

    collection: str
    key: str
    revision: int
    body: bytes | None


class Loaded(NamedTuple):
    """What a write-ahead log held when it was opened."""

    revision: int
    objects: dict[str, list[Record]]
    """By collection."""
