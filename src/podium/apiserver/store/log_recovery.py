"""What can be read of a damaged store, for whoever asks for it; the damaged files stay beside it.

Of a log that is damaged in its middle everything up to there is kept, as SQLite does by itself. Of
a database that is damaged rows are read from either end up to the damage. Versions go on far behind
the last one that is known, so that no client is told one that it has seen for something else.
"""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from podium.apiserver.store.records import Record, checksum_of, checksum_of_revision
from podium.golang.errors import InputError
from podium.net.files.private_files import PRIVATE_MODE

SKIPPED_REVISIONS: Final = 1_000_000
SUFFIX: Final = ".damaged"

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


def read_rows(path: Path) -> tuple[int, list[Record]]:
    """The revision and the rows of a damaged database, as far as they can be read and are what was
    written."""
    rows: dict[tuple[str, str], Record] = {}
    revision = 1
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        with contextlib.suppress(sqlite3.Error):
            found = database.execute("SELECT * FROM counter").fetchone()
            if len(found) < _CHECKED or checksum_of_revision(found[1]) == found[2]:
                revision = found[1]
        for order in ("ASC", "DESC"):
            with contextlib.suppress(sqlite3.Error):
                query = f"SELECT * FROM objects ORDER BY collection {order}, key {order}"
                for *row, checksum in _with_checksums(database.execute(query)):
                    record = Record(*row)
                    if checksum is None:
                        is_sound = is_json(record.body or b"")
                    else:
                        is_sound = checksum_of(record) == checksum
                    if is_sound:
                        rows[record.collection, record.key] = record
    return max([revision, *(row.revision for row in rows.values())]), list(rows.values())


def _with_checksums(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows of format 1 have none."""
    return (row if len(row) > len(Record._fields) else (*row, None) for row in rows)
