"""The store on disk: one SQLite file in write-ahead mode.

Only the latest version of each object is kept; the history that watches need begins anew with each
start. Writes come in batches: one transaction, one wait for the disk (`synchronous=FULL`), however
many writes. When `commit` returns, the batch survives a kill and a power cut; before that, none or
all of it is there. The file is locked for as long as it is open, so that two servers cannot share
it. Nobody but its owner can read it.

A file that is damaged is refused rather than read in part, unless whoever starts the server asks
for what is left of it (`log_recovery.py` does both). SQLite tells of damage to its own
structure; each row has a checksum besides, which tells of a byte that has changed in the text of an
object. The counter beside them says how many there are, for whoever has to say how many are lost.
Files of format 1, which have no checksums, and of format 2, which do not count, get them when they
are opened.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from podium.apiserver.store.log_recovery import (
    SKIPPED_REVISIONS,
    SUFFIX,
    find_damage,
    is_json,
    keep_damaged,
    read_rows,
)
from podium.apiserver.store.stored import Loaded, Record, checksum_of, checksum_of_revision
from podium.golang.errors import InputError
from podium.net.files.private_files import (
    create_private_directory,
    create_private_file,
    narrow_mode,
    refuse_shared_directory,
)

FILE_NAME = "objects.sqlite"
_FORMAT = 3
_BESIDE = ("-wal", "-shm", "-journal")
_RECOVER = (
    "restore a copy, or start with --data-recover: what can be read is kept, and the damaged files"
    " beside it"
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (collection, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    objects INTEGER NOT NULL
);
"""


_PUT = "INSERT INTO objects VALUES (?, ?, ?, ?, ?)"


class _Malformed(Exception):
    """The database is damaged; the text is SQLite's."""


class WriteAheadLog:
    """An open write-ahead log; used by one thread at a time."""

    def __init__(self, directory: Path, *, recovers: bool = False) -> None:
        """With `recovers`, a damaged store is opened with what can be read of it. Raises
        InputError."""
        self._path = directory / FILE_NAME
        self.recovered = self._lost = ""
        """What was done to open a damaged store, and what is known to be lost of its database."""
        self._counted = self._objects = 0
        """Objects that the damaged database had, 0 if nobody knows, and those that there are."""
        try:
            # What is written first to a new file is its tables: one without them was cut off.
            was_emptied = self._path.is_file() and not self._path.stat().st_size
            self._keep_private()
            # Before SQLite sees the log: it would take the damage for the end, and forget the rest.
            damage = find_damage(self._path.with_name(f"{FILE_NAME}-wal"))
            if damage is not None and not recovers:
                raise InputError(str(damage), source=str(damage.path), remedy=_RECOVER)
            if damage is not None:
                keep_damaged(self._path, _BESIDE[:1])
                self.recovered = f"{damage.path} was {damage}"
            try:
                if was_emptied:
                    raise _Malformed("there is nothing in it")
                self._open()
            except _Malformed as problem:
                if not recovers:
                    raise InputError(
                        f"damaged: {problem}", source=str(self._path), remedy=_RECOVER
                    ) from None
                self._rebuild(problem)
        except (OSError, sqlite3.Error) as problem:
            raise _unusable(self._path, problem) from problem
        if self.recovered:
            self._skip_revisions()

    def _open(self) -> None:
        self._connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, timeout=0
        )
        self._prepare_or_close()

    def _rebuild(self, problem: "_Malformed") -> None:
        """A new file with the rows that can be read of the old one."""
        if not self.recovered:
            keep_damaged(self._path, _BESIDE[:1])
        found = read_rows(self._path)
        self._counted, self._lost = found.counted, found.lost
        for suffix in ("", *_BESIDE):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        create_private_file(self._path)
        self._open()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(_PUT, (_row(row) for row in found.rows))
        self._objects = len(found.rows)
        self._set_revision(found.revision)
        self._connection.execute("COMMIT")
        self.recovered = f"{self._path} was damaged: {problem}"

    def _skip_revisions(self) -> None:
        self._set_revision(self._revision() + SKIPPED_REVISIONS)
        of = f" of {self._counted:,}" if self._counted > self._objects else ""
        self.recovered += (
            f"; {self._objects:,}{of} objects are left{self._lost}, the damaged files end in"
            f" {SUFFIX}, versions go on far behind the last"
        )

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
        try:
            run("PRAGMA journal_mode=WAL")
            (found,) = run("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as problem:
            raise _Malformed(str(problem)) from None
        if found != "ok":
            raise _Malformed(" ".join(found.split()))
        run("PRAGMA synchronous=FULL")
        run("PRAGMA wal_autocheckpoint=4000")
        (found,) = run("PRAGMA user_version").fetchone()
        if found > _FORMAT:
            raise InputError(
                f"holds data in format {found}; this version reads format {_FORMAT}",
                source=str(self._path),
            )
        columns = [column[1] for column in run("PRAGMA table_info(objects)")]
        if columns and "checksum" not in columns:
            self._add_checksums()
        self._connection.executescript(_SCHEMA)
        columns = [column[1] for column in run("PRAGMA table_info(counter)")]
        if "objects" not in columns:
            run("ALTER TABLE counter ADD COLUMN objects INTEGER NOT NULL DEFAULT 0")
        run(f"PRAGMA user_version={_FORMAT}")
        run("INSERT OR IGNORE INTO counter VALUES (1, 1, ?, 0)", (checksum_of_revision(1),))
        self._objects = self._verify()

    def _add_checksums(self) -> None:
        """Make a file of format 1 one of format 2; nothing is done to it if that is interrupted."""
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        for collection, key, body in run("SELECT collection, key, body FROM objects"):
            if not is_json(body):
                raise _Malformed(f"{key} of {collection} is not JSON")
        for table in ("objects", "counter"):
            run(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
        define = self._connection.create_function
        define("checksum_of", 4, lambda *row: checksum_of(Record(*row)), deterministic=True)
        define("checksum_of_revision", 1, checksum_of_revision, deterministic=True)
        run("UPDATE objects SET checksum = checksum_of(collection, key, revision, body)")
        run("UPDATE counter SET checksum = checksum_of_revision(revision)")
        run("COMMIT")

    def _verify(self) -> int:
        """How many objects there are. Raises _Malformed: something that is stored is not what was
        written."""
        run = self._connection.execute
        number = 0
        for row in run("SELECT collection, key, revision, body, checksum FROM objects"):
            if checksum_of(Record(*row[:4])) != row[4]:
                raise _Malformed(f"{row[1]} of {row[0]} is not what was written")
            number += 1
        for revision, checksum in run("SELECT revision, checksum FROM counter"):
            if checksum_of_revision(revision) != checksum:
                raise _Malformed("the latest version is not what was written")
        return number

    def _revision(self) -> int:
        (revision,) = self._connection.execute("SELECT revision FROM counter").fetchone()
        return int(revision)

    def _set_revision(self, revision: int) -> None:
        self._connection.execute(
            "UPDATE counter SET revision = ?, checksum = ?, objects = ?",
            (revision, checksum_of_revision(revision), self._objects),
        )

    def load(self) -> Loaded:
        """Everything that was committed."""
        objects: dict[str, list[Record]] = {}
        rows = self._connection.execute("SELECT collection, key, revision, body FROM objects")
        for row in rows:
            objects.setdefault(row[0], []).append(Record(*row))
        return Loaded(self._revision(), objects)

    def commit(self, records: Sequence[Record]) -> None:
        """Make a batch of writes durable; they are in the order of their revisions."""
        latest = {(record.collection, record.key): record for record in records}
        puts = [_row(record) for record in latest.values() if record.body is not None]
        run = self._connection
        before = self._objects
        run.execute("BEGIN IMMEDIATE")
        try:
            gone = run.executemany("DELETE FROM objects WHERE collection = ? AND key = ?", latest)
            run.executemany(_PUT, puts)
            self._objects += len(puts) - gone.rowcount
            self._set_revision(records[-1].revision)
            run.execute("COMMIT")
        except sqlite3.Error:
            self._objects = before
            with contextlib.suppress(sqlite3.Error):
                run.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._connection.close()


def _row(record: Record) -> tuple[str, str, int, bytes | None, int]:
    return (*record, checksum_of(record))


def _unusable(path: Path, problem: Exception) -> InputError:
    if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
        return InputError("is in use by another server", source=str(path))
    return InputError(f"cannot be used as a store: {problem}", source=str(path))
