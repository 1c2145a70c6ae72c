"""What a write-ahead log takes and gives back, as values."""

from typing import NamedTuple
from zlib import crc32


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


def checksum_of(record: Record) -> int:
    """What tells a record from one of which a byte has changed."""
    head = f"{record.collection}\0{record.key}\0{record.revision}\0"
    return crc32(record.body or b"", crc32(head.encode()))


def checksum_of_revision(revision: int) -> int:
    return crc32(str(revision).encode())
