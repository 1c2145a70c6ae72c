"""Rows of a database that SQLite does not open, or reads in part, taken from its pages one by one.

A file that was cut off lacks pages that lead to others, and SQLite reads a table only by following
such pages from its root. Here every page is looked at by itself: the table of objects is kept in
key order (`WITHOUT ROWID`), so that each of its pages holds whole rows, in the format of an index
(https://www.sqlite.org/fileformat2.html#b_tree_pages). Whether a row is what was written
is for its checksum to say.

Pages that SQLite has set free keep what was in them. They are passed over as far as the list of
free pages can be read; where it cannot, objects that were deleted may come back.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from podium.apiserver.store.stored import Record

_USUAL_PAGE_BYTES: Final = 4096
_HEADER_BYTES: Final = 100
_TRUNK_AT: Final = 32
_LEAF: Final = 0x0A
_INTERIOR: Final = 0x02
_LARGEST_ROW_BYTES: Final = 16 << 20
_INTEGER_BYTES: Final = (0, 1, 2, 3, 4, 6, 8)
"""By serial type, 0 being NULL."""
_FLOAT, _ZERO, _ONE, _RESERVED, _BLOB, _TEXT = 7, 8, 9, (10, 11), 12, 13
_CHECKED_COLUMNS: Final = 5
_MAX_VARINT_BYTES: Final = 9

Column = int | str | bytes | None


class _Unreadable(Exception):
    """A cell is not a row, or leads to a page that is not there."""


class FoundRow(NamedTuple):
    record: Record
    checksum: int | None
    """None in files of format 1."""


class PageFile:
    """The pages of a database, as far as they are there."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        written = int.from_bytes(self._data[16:18], "big")
        size = 65536 if written == 1 else written
        sound = size >= 512 and size & (size - 1) == 0
        self.page_bytes = size if sound else _USUAL_PAGE_BYTES
        self._usable = self.page_bytes - (self._data[20] if sound and len(self._data) > 20 else 0)
        self.pages = len(self._data) // self.page_bytes
        """Whole ones."""
        told = int.from_bytes(self._data[28:32], "big") if sound else 0
        self.missing_bytes = max(told * self.page_bytes - len(self._data), 0)
        """What the file lacks of the pages that its header counts."""
        self._free, self.knows_free = self._read_free()
        blank = bytes(self.page_bytes)
        self.blank = sum(
            self._page(number) == blank
            for number in range(1, self.pages + 1)
            if number not in self._free
        )
        """Pages of nothing but zeros, which no database has."""

    def __iter__(self) -> Iterator[FoundRow]:
        """The rows of the table of objects, from whichever pages hold any."""
        for number in range(2, self.pages + 1):
            if number not in self._free:
                yield from self._rows(number)

    def _rows(self, number: int) -> Iterator[FoundRow]:
        page = self._page(number)
        if page[0] not in (_LEAF, _INTERIOR):
            return
        (cells,) = struct.unpack_from(">H", page, 3)
        first = 8 if page[0] == _LEAF else 12
        for at in range(first, min(first + 2 * cells, len(page) - 1), 2):
            (start,) = struct.unpack_from(">H", page, at)
            try:
                yield _as_row(self._payload(page, start + (0 if page[0] == _LEAF else 4)))
            except (_Unreadable, IndexError, UnicodeDecodeError):
                continue

    def _payload(self, page: bytes, at: int) -> bytes:
        """A row's bytes, those on overflow pages included."""
        size, at = _varint(page, at)
        if size > _LARGEST_ROW_BYTES:
            raise _Unreadable
        usable = self._usable
        most = (usable - 12) * 64 // 255 - 23
        least = (usable - 12) * 32 // 255 - 23
        if size <= most:
            return page[at : at + size]
        kept = least + (size - least) % (usable - 4)
        kept = kept if kept <= most else least
        parts = [page[at : at + kept]]
        number = int.from_bytes(page[at + kept : at + kept + 4], "big")
        left = size - kept
        while left > 0:
            if not 1 < number <= self.pages:
                raise _Unreadable
            overflow = self._page(number)
            parts.append(overflow[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            number = int.from_bytes(overflow[:4], "big")
        return b"".join(parts)

    def _read_free(self) -> tuple[set[int], bool]:
        """The pages that are free, and whether all of their list could be read."""
        free: set[int] = set()
        if len(self._data) < _HEADER_BYTES:
            return free, False
        number = int.from_bytes(self._data[_TRUNK_AT : _TRUNK_AT + 4], "big")
        while number:
            if number in free or not 1 < number <= self.pages:
                return free, False
            free.add(number)
            page = self._page(number)
            following, count = struct.unpack_from(">II", page)
            if count > self._usable // 4 - 2:
                return free, False
            free.update(struct.unpack_from(f">{count}I", page, 8))
            number = following
        return free, True

    def _page(self, number: int) -> bytes:
        start = (number - 1) * self.page_bytes
        return self._data[start : start + self.page_bytes]


def _as_row(payload: bytes) -> FoundRow:
    columns = _columns(payload)
    match columns:
        case [str(collection), str(key), int(revision), bytes(body), *rest] if len(rest) <= 1:
            checksum = rest[0] if len(columns) == _CHECKED_COLUMNS else None
            if checksum is None or isinstance(checksum, int):
                return FoundRow(Record(collection, key, revision, body), checksum)
    raise _Unreadable


def _columns(payload: bytes) -> list[Column]:
    end, at = _varint(payload, 0)
    types: list[int] = []
    while at < end and len(types) <= _CHECKED_COLUMNS:
        serial, at = _varint(payload, at)
        types.append(serial)
    at, found = end, list[Column]()
    for serial in types:
        size = _size_of(serial)
        written = payload[at : at + size]
        if len(written) < size:
            raise _Unreadable
        at += size
        found.append(_value(serial, written))
    return found


def _size_of(serial: int) -> int:
    if serial >= _BLOB:
        return (serial - _BLOB) // 2
    if serial in (_FLOAT, *_RESERVED):
        raise _Unreadable  # no column is of these
    return _INTEGER_BYTES[serial] if serial < _FLOAT else 0


def _value(serial: int, written: bytes) -> Column:
    if serial >= _BLOB:
        return written.decode() if serial % 2 else written
    if serial in (_ZERO, _ONE):
        return serial - _ZERO
    return int.from_bytes(written, "big", signed=True) if serial else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """SQLite's integer of one to nine bytes, and where it ends."""
    value = 0
    for number in range(at, at + _MAX_VARINT_BYTES - 1):
        byte = data[number]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, number + 1
    last = at + _MAX_VARINT_BYTES - 1
    return value << 8 | data[last], last + 1
