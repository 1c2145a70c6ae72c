"""What can be read of a damaged store, for whoever asks for it; the damaged files stay beside it.

Of a log that is damaged in its middle everything up to there is kept, as SQLite does by itself. Of
a database that is damaged rows are read from either end up to the damage, and those between from
each page that is left (`page_recovery.py`). Versions go on far behind the last one that is known,
so that no client is told one that it has seen for something else.

Damage in SQLite's write-ahead log, found before SQLite reads it. SQLite takes the first frame
whose checksum is wrong for the end of its log: after a crash that is what it is. A byte that
has changed in the middle looks the same to it, and whatever was committed behind that byte is
gone without a word, all of the store if it is an early one. Here the frames behind it are
looked at too. Each commit waited for the disk (`synchronous=FULL`), so a crash can tear the
last transaction only: commits behind a wrong frame that others follow were acknowledged.

The format is that of https://www.sqlite.org/fileformat2.html#walformat.
"""

import contextlib
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from podium.apiserver.store.page_recovery import PageFile
from podium.apiserver.store.stored import Record, checksum_of, checksum_of_revision
from podium.golang.errors import InputError
from podium.net.files.private_files import PRIVATE_MODE

SKIPPED_REVISIONS: Final = 1_000_000
SUFFIX: Final = ".damaged"

_MAX_NAMED: Final = 5
_CHECKED: Final = 3
"""Columns of the counter in files with checksums."""
_JSON: Final = msgspec.json.Decoder(msgspec.Raw)


def is_json(body: bytes) -> bool:
    """Whether the bytes of an object, which lack its first brace, are JSON."""
    try:
        _JSON.decode(b"{" + body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def keep_damaged(path: Path, beside: Sequence[str]) -> list[Path]:
    """Copy a database, and the files beside it that have these suffixes. Raises InputError if
    there are such copies already."""
    found = [path, *(path.with_name(path.name + suffix) for suffix in beside)]
    kept = []
    for each in found:
        if not each.exists() or each.stat().st_size == 0:
            continue
        target = each.with_name(each.name + SUFFIX)
        if target.exists():
            raise InputError(
                "is there already, from an earlier recovery",
                source=str(target),
                remedy="move it somewhere else first",
            )
        shutil.copyfile(each, target)
        target.chmod(PRIVATE_MODE)
        kept.append(target)
    return kept


class Salvaged(NamedTuple):
    """What could be read of a damaged database, and what is known of the rest."""

    revision: int
    counted: int
    """How many objects there were, 0 if nobody knows."""
    rows: list[Record]
    lost: str
    """For people, with a comma in front; "" if nothing is known to be lost."""


def read_rows(path: Path) -> Salvaged:
    """What can be read of a damaged database and is what was written."""
    _restore_length(path)
    scanned = _scan(path)
    rows, lost = scanned.rows, ""
    if scanned.stops:
        pages = PageFile(path)
        between = _between(scanned.stops)
        for record, checksum in pages:
            identity = record.collection, record.key
            known = rows.get(identity)
            newer = known is None or known.revision < record.revision
            if newer and between(identity) and _is_sound(record, checksum):
                rows[identity] = record
        lost = _tell_lost_pages(pages)
    unsound = dict.fromkeys(each for each in scanned.unsound if each not in rows)
    lost = _tell_lost_rows(list(unsound)) + lost
    last = max([scanned.revision, *(row.revision for row in rows.values())])
    return Salvaged(last, scanned.counted, list(rows.values()), lost)


Identity = tuple[str, str]


class _Scanned(NamedTuple):
    """What SQLite itself reads, from either end up to the damage."""

    revision: int
    counted: int
    rows: dict[Identity, Record]
    unsound: list[Identity]
    """Rows that are not what was written."""
    stops: dict[str, Identity | None]
    """By order, the last sound row before the damage. Empty if all rows were read."""


def _scan(path: Path) -> _Scanned:
    found = _Scanned(1, 0, {}, [], {})
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        with contextlib.suppress(sqlite3.Error):
            counted = database.execute("SELECT * FROM counter").fetchone()
            if len(counted) < _CHECKED or checksum_of_revision(counted[1]) == counted[2]:
                told = (*counted[_CHECKED:], 0)[0]
                objects = told if isinstance(told, int) else 0
                found = found._replace(revision=counted[1], counted=objects)
        for order in ("ASC", "DESC"):
            last: Identity | None = None
            try:
                query = f"SELECT * FROM objects ORDER BY collection {order}, key {order}"
                for *row, checksum in _with_checksums(database.execute(query)):
                    record = Record(*row)
                    identity = record.collection, record.key
                    if _is_sound(record, checksum):
                        found.rows[identity] = record
                        last = identity
                    elif all(isinstance(part, str) for part in identity):
                        found.unsound.append(identity)
            except sqlite3.Error:
                found.stops[order] = last
            else:
                break
    return found


def _between(stops: Mapping[str, Identity | None]) -> Callable[[Identity], bool]:
    """Whether a row is none that SQLite would have read if it were there: then it was deleted."""
    first, last = stops.get("ASC"), stops.get("DESC")
    return lambda key: (first is None or key > first) and (last is None or key < last)


def _is_sound(record: Record, checksum: int | None) -> bool:
    """Rows of format 1 have no checksum. What is damaged may be of any type."""
    if not isinstance(record.body, bytes) or not isinstance(record.revision, int):
        return False
    if checksum is None:
        return is_json(record.body)
    return checksum_of(record) == checksum


def _restore_length(path: Path) -> None:
    """Give a file that was cut off its length again, without which SQLite does not open it, and
    put into it what the log has."""
    missing = PageFile(path).missing_bytes
    if missing:
        with path.open("ab") as file:
            file.truncate(path.stat().st_size + missing)
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database,
    ):
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _tell_lost_pages(pages: PageFile) -> str:
    told = f", {pages.blank} of {pages.pages} pages cannot be read" if pages.blank else ""
    if not pages.knows_free:
        told += ", some of those that are left may have been deleted before"
    return told


def _tell_lost_rows(lost: Sequence[Identity]) -> str:
    if not lost:
        return ""
    named = ", ".join(f"{key} of {collection}" for collection, key in lost[:_MAX_NAMED])
    more = ", ..." if len(lost) > _MAX_NAMED else ""
    return f", {len(lost):,} {'is' if len(lost) == 1 else 'are'} lost ({named}{more})"


def _with_checksums(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows of format 1 have none."""
    return (row if len(row) > len(Record._fields) else (*row, None) for row in rows)


_MAGIC: Final = 0x377F0682
"""The last bit says that checksums are over big-endian words."""
_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_MASK: Final = 0xFFFFFFFF

Sums = tuple[int, int]


class Damage(NamedTuple):
    """What is wrong with a log: transactions before and behind the place, which nobody can count
    if its header is wrong."""

    path: Path
    offset: int
    readable: int
    unreadable: int | None

    def __str__(self) -> str:
        if self.unreadable is None:
            return f"damaged at byte {self.offset}, in its header: nothing of it can be read"
        return (
            f"damaged at byte {self.offset}: {_count(self.readable)} before it can be read,"
            f" {_count(self.unreadable)} from there on cannot"
        )


def find_damage(path: Path) -> Damage | None:
    """None for a log that is sound, torn at its end only, or not there. Raises OSError."""
    try:
        with path.open("rb") as file:
            return _read(file, path)
    except FileNotFoundError:
        return None


def _read(file: BinaryIO, path: Path) -> Damage | None:
    head = file.read(_HEADER.size)
    size = path.stat().st_size
    if len(head) < _HEADER.size or size <= _HEADER.size:
        return None  # nothing was ever committed to it
    magic, _, page_bytes, _, *salts, sum_0, sum_1 = _HEADER.unpack(head)
    is_sound = magic & ~1 == _MAGIC and 512 <= page_bytes <= 65536
    words = ">u4" if magic & 1 else "<u4"
    if not is_sound or _add_up((0, 0), head[:24], words) != (sum_0, sum_1):
        return Damage(path, 0, 0, None)
    sums: Sums = (sum_0, sum_1)
    frame_bytes = _FRAME.size + page_bytes
    first_wrong: int | None = None
    readable = 0
    behind: list[int] = []
    last = 0
    for number in range((size - _HEADER.size) // frame_bytes):
        frame = file.read(frame_bytes)
        if len(frame) < frame_bytes:
            break
        _, commits, *own_salts, own_0, own_1 = _FRAME.unpack_from(frame)
        if first_wrong is None:
            sums = _add_up(sums, frame[:8] + frame[_FRAME.size :], words)
            if own_salts == salts and sums == (own_0, own_1):
                readable += commits != 0
                continue
            first_wrong = number
        if own_salts == salts:
            last = number
            if commits:
                behind.append(number)
    # One commit with nothing behind it: torn while it was written.
    if first_wrong is None or not behind or behind == [last]:
        return None
    return Damage(path, _HEADER.size + first_wrong * frame_bytes, readable, len(behind))


def _add_up(sums: Sums, data: bytes, words: str) -> Sums:
    """SQLite's checksum, which is (a += x + b; b += y + a) for each pair of words (x, y).

    Both ends are sums of all words, each times a Fibonacci number, all modulo 2^32.
    """
    values = np.frombuffer(data, words).astype(np.uint64)
    of_a, of_b = _factors(len(values))
    start = np.array(sums, np.uint64)
    everything = np.concatenate((start, values))
    a = int((everything * of_a).sum(dtype=np.uint64)) & _MASK
    b = int((everything * of_b).sum(dtype=np.uint64)) & _MASK
    return a, b


_kept: dict[int, tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]] = {}


def _factors(count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """What the two starts and each of the words count for in either end."""
    found = _kept.get(count)
    if found is None:
        # From the end backwards: what a change of a or b at this point adds to either end.
        a, b = (1, 0), (0, 1)
        by_word: list[tuple[int, int]] = []
        for _ in range(count // 2):
            by_word.append(b)  # y is added to b, the last thing of its step
            a = (a[0] + b[0] & _MASK, a[1] + b[1] & _MASK)  # b += y + a
            by_word.append(a)  # x is added to a
            b = (a[0] + b[0] & _MASK, a[1] + b[1] & _MASK)  # a += x + b
        factors = [a, b, *reversed(by_word)]
        found = _kept[count] = (
            np.array([each[0] for each in factors], np.uint64),
            np.array([each[1] for each in factors], np.uint64),
        )
    return found


def _count(transactions: int) -> str:
    return "1 transaction" if transactions == 1 else f"{transactions:,} transactions"
