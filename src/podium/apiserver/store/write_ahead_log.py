"""The store on disk: one SQLite file in write-ahead mode.

Only the latest version of each object is kept; the history that watches need begins anew with each
start. Writes come in batches: one transaction, one wait for the disk (`synchronous=FULL`), however
many writes. When `commit` returns, the batch survives a kill and a power cut; before that, none or
all of it is there. The file is locked for as long as it is open, so that two servers cannot share
it. Nobody but its owner can read it.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from podium.api.errors import InputError
from podium.apiserver.store.records import Loaded, Record
from podium.files.private_files import (
    create_private_directory,
    create_private_file,
    narrow_mode,
    refuse_shared_directory,
)

FILE_NAME = "objects.sqlite"
_FORMAT = 1
_BESIDE = ("-wal", "-shm", "-journal")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL
);
"""


class WriteAheadLog:
    """An open write-ahead log; used by one thread at a time."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME
        try:
            self._keep_private()
            self._connection = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=0
            )
            self._prepare_or_close()
        except (OSError, sqlite3.Error) as problem:
            raise _unusable(self._path, problem) from problem

    def _keep_private(self) -> None:
        """Secrets are in the file, and in SQLite's files beside it, which get its mode."""
        create_private_directory(self._path.parent)
        refuse_shared_directory(self._path.parent)
        for suffix in _BESIDE:
            narrow_mode(self._path.with_name(self._path.name + suffix))
        create_private_file(self._path)

    def _prepare_or_close(self) -> None:
        """Nobody else can close a database that cannot be used."""
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA locking_mode=EXCLUSIVE")
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=FULL")
        run("PRAGMA wal_autocheckpoint=4000")
        (found,) = run("PRAGMA user_version").fetchone()
        if found not in (0, _FORMAT):
            raise InputError(
                f"holds data in format {found}; this version reads format {_FORMAT}",
                source=str(self._path),
            )
        self._connection.executescript(_SCHEMA)
        run(f"PRAGMA user_version={_FORMAT}")
        run("INSERT OR IGNORE INTO counter VALUES (1, 1)")

    def load(self) -> Loaded:
        """Everything that was committed."""
        (revision,) = self._connection.execute("SELECT revision FROM counter").fetchone()
        objects: dict[str, list[Record]] = {}
        rows = self._connection.execute("SELECT collection, key, revision, body FROM objects")
        for row in rows:
            objects.setdefault(row[0], []).append(Record(*row))
        return Loaded(revision, objects)

    def commit(self, records: Sequence[Record]) -> None:
        """Make a batch of writes durable; they are in the order of their revisions."""
        latest = {(record.collection, record.key): record for record in records}
        puts = [record for record in latest.values() if record.body is not None]
        gone = [key for key, record in latest.items() if record.body is None]
        run = self._connection
        run.execute("BEGIN IMMEDIATE")
        try:
            run.executemany("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)", puts)
            run.executemany("DELETE FROM objects WHERE collection = ? AND key = ?", gone)
            run.execute("UPDATE counter SET revision = ?", (records[-1].revision,))
            run.execute("COMMIT")
        except sqlite3.Error:
            with contextlib.suppress(sqlite3.Error):
                run.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._connection.close()


def _unusable(path: Path, problem: Exception) -> InputError:
    if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
        return InputError("is in use by another server", source=str(path))
    return InputError(f"cannot be used as a store: {problem}", source=str(path))
