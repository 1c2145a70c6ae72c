"""What the write-ahead log has committed is there again, and nothing else."""

import os
import re
import shutil
import sqlite3
import stat
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.apiserver.store.store import Store
from podium.apiserver.store.stored import Loaded, Record
from podium.apiserver.store.write_ahead_log import WriteAheadLog
from podium.golang.errors import InputError


def body(name: str) -> bytes:
    return b'"metadata":{"name":"%s","labels":{"a":"b"}}}' % name.encode()


def test_an_empty_log_starts_at_revision_one(tmp_path: Path) -> None:
    log = WriteAheadLog(tmp_path / "new")

    assert log.load() == Loaded(1, {})
    log.close()


def test_committed_writes_are_there_after_reopening(tmp_path: Path) -> None:
    log = WriteAheadLog(tmp_path)
    log.commit(
        [
            Record("pods", "default/a", 2, body("a")),
            Record("pods", "default/b", 3, body("b")),
            Record("nodes", "n", 4, body("n")),
            Record("pods", "default/a", 5, None),
        ]
    )
    log.close()

    with closing(WriteAheadLog(tmp_path)) as again:
        loaded = again.load()

    assert loaded.revision == 5
    assert loaded.objects == {
        "pods": [Record("pods", "default/b", 3, body("b"))],
        "nodes": [Record("nodes", "n", 4, body("n"))],
    }


def test_a_store_continues_where_its_log_ended(tmp_path: Path) -> None:
    log = WriteAheadLog(tmp_path)
    log.commit([Record("pods", "default/a", 7, body("a"))])
    store = Store(log.load())

    pods = store.collection("pods")
    created = store.create(pods, "default", "b", {"metadata": {"name": "b"}})

    found = pods.get("default", "a")
    assert found is not None
    assert dict(found.labels) == {"a": "b"}
    assert created.revision == 8
    assert pods.history.start == 7
    log.close()


def test_two_servers_cannot_share_a_log(tmp_path: Path) -> None:
    log = WriteAheadLog(tmp_path)

    with pytest.raises(InputError, match="in use by another server"):
        WriteAheadLog(tmp_path)
    log.close()


def test_a_file_that_is_no_log_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "objects.sqlite").write_text("this is not a database, not at all" * 50)

    with pytest.raises(InputError, match=r"objects\.sqlite"):
        WriteAheadLog(tmp_path)


def test_a_log_that_is_refused_is_closed_and_not_locked(tmp_path: Path) -> None:
    WriteAheadLog(tmp_path).close()

    def set_format(number: int) -> None:
        with closing(sqlite3.connect(tmp_path / "objects.sqlite", timeout=0)) as database:
            database.execute(f"PRAGMA user_version={number}")

    set_format(9)
    # The refusal, which still knows the log that was opened half-way, is alive.
    with pytest.raises(InputError, match="holds data in format 9") as refusal:
        WriteAheadLog(tmp_path)
    set_format(1)

    WriteAheadLog(tmp_path).close()
    assert refusal.value.source == str(tmp_path / "objects.sqlite")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["a", "b", "c"]), st.booleans()), min_size=1, max_size=6
        ),
        max_size=5,
    )
)
def test_batches_add_up(batches: list[list[tuple[str, bool]]]) -> None:
    expected: dict[str, Record] = {}
    revision = 1
    with tempfile.TemporaryDirectory() as directory:
        log = WriteAheadLog(Path(directory))
        for batch in batches:
            records = []
            for name, exists in batch:
                revision += 1
                record = Record("things", name, revision, body(name) if exists else None)
                records.append(record)
                expected[name] = record
            log.commit(records)
        loaded = log.load()
        log.close()
    assert loaded.revision == revision
    kept = {name: record for name, record in expected.items() if record.body is not None}
    assert {each.key: each for each in loaded.objects.get("things", [])} == kept


def modes(directory: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


def test_objects_can_be_read_by_their_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(0)
    try:
        log = WriteAheadLog(tmp_path)
        log.commit([Record("secrets", "default/a", 2, body("a"))])
        assert modes(tmp_path) == {"objects.sqlite": 0o600, "objects.sqlite-wal": 0o600}
        log.close()
    finally:
        os.umask(before)


def test_files_that_were_there_with_a_wider_mode_are_narrowed(tmp_path: Path) -> None:
    WriteAheadLog(tmp_path).close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        path = tmp_path / f"objects.sqlite{suffix}"
        path.touch()
        path.chmod(0o664)
    log = WriteAheadLog(tmp_path)
    assert set(modes(tmp_path).values()) == {0o600}
    log.close()


def test_a_directory_that_others_can_write_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(InputError, match=r"shared: others can write it .*; chmod go-w"):
        WriteAheadLog(shared)
    assert list(shared.iterdir()) == []


def test_the_store_is_not_looked_for_behind_a_symbolic_link(tmp_path: Path) -> None:
    elsewhere, data = tmp_path / "elsewhere", tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "objects.sqlite").symlink_to(elsewhere)
    with pytest.raises(InputError, match=r"objects\.sqlite: is a symbolic link"):
        WriteAheadLog(data)
    assert not elsewhere.exists()


# --- damage -----------------------------------------------------------------------------------


def long_body(name: str) -> bytes:
    return b'"data":"%s",%s' % (b"x" * 2200, body(name))


def killed_store(directory: Path, writes: int = 60) -> Path:
    """What a server leaves that is killed after so many writes."""
    with closing(WriteAheadLog(directory / "running")) as log:
        for number in range(writes):
            record = Record("pods", f"default/p{number:03d}", number + 2, long_body(f"p{number}"))
            log.commit([record])
        shutil.copytree(directory / "running", directory / "killed")
    (directory / "killed").chmod(0o700)
    return directory / "killed"


def keys(log: WriteAheadLog) -> list[str]:
    return sorted(each.key for each in log.load().objects.get("pods", []))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.9])
def test_a_log_that_is_damaged_is_refused_with_the_place(tmp_path: Path, share: float) -> None:
    killed = killed_store(tmp_path)
    log = killed / "objects.sqlite-wal"
    data = bytearray(log.read_bytes())
    at = int(len(data) * share)
    data[at] ^= 1
    log.write_bytes(data)

    with pytest.raises(InputError, match=r"objects\.sqlite-wal: damaged at byte (\d+)") as refused:
        WriteAheadLog(killed)
    place = int(re.findall(r"byte (\d+)", str(refused.value))[0])
    assert place <= at < place + 4096 + 24
    assert log.read_bytes() == data

    with closing(WriteAheadLog(killed, recovers=True)) as recovered:
        found = keys(recovered)
        assert recovered.load().revision > 1_000_000
        assert str(log) in recovered.recovered
    assert found == [f"default/p{number:03d}" for number in range(len(found))]
    with closing(WriteAheadLog(killed)) as again:
        assert keys(again) == found
        assert again.recovered == ""


@pytest.mark.parametrize("cut", [1, 24, 4000, 4120, 9000])
def test_a_log_that_is_torn_at_its_end_is_taken_up_to_there(tmp_path: Path, cut: int) -> None:
    killed = killed_store(tmp_path)
    log = killed / "objects.sqlite-wal"
    log.write_bytes(log.read_bytes()[:-cut])

    with closing(WriteAheadLog(killed)) as again:
        found = keys(again)
    assert 55 <= len(found) < 60


@pytest.mark.parametrize("share", [0.3, 0.5, 0.81, 0.9])
def test_a_database_that_is_damaged_is_refused_and_read_from_both_ends(
    tmp_path: Path, share: float
) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        for number in range(400):
            log.commit([Record("pods", f"default/p{number:03d}", number + 2, long_body("p"))])
    path = tmp_path / "objects.sqlite"
    data = bytearray(path.read_bytes())
    page = int(len(data) // 4096 * share) * 4096
    data[page : page + 4096] = bytes(4096)
    path.write_bytes(data)

    with pytest.raises(InputError, match=r"objects\.sqlite: damaged: .*--data-recover"):
        WriteAheadLog(tmp_path)
    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        found = keys(recovered)
        assert recovered.load().revision == 401 + 1_000_000
    assert found[0] == "default/p000"
    assert found[-1] == "default/p399"
    assert 350 < len(found) < 400
    assert modes(tmp_path)["objects.sqlite.damaged"] == 0o600


def test_a_database_that_was_cut_off_to_nothing_is_refused(tmp_path: Path) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        log.commit([Record("pods", "default/a", 2, body("a"))])
    path = tmp_path / "objects.sqlite"
    path.write_bytes(b"")

    with pytest.raises(InputError, match=r"objects\.sqlite: damaged: there is nothing in it"):
        WriteAheadLog(tmp_path)
    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        assert recovered.load() == Loaded(1 + 1_000_000, {})
    WriteAheadLog(tmp_path).close()


def sized_body(number: int) -> bytes:
    """Most fit into a page, and some take several."""
    return body(f"p{number}-" + "x" * (12_000 if number % 50 == 0 else 40 + number))


@pytest.mark.parametrize("share", [0.15, 0.5, 0.8, 0.97])
def test_of_a_database_that_was_cut_off_the_pages_that_are_left_are_read(
    tmp_path: Path, share: float
) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        for number in range(400):
            log.commit([Record("pods", f"default/p{number:03d}", number + 2, sized_body(number))])
    path = tmp_path / "objects.sqlite"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(InputError, match=r"objects\.sqlite: damaged: .*--data-recover"):
        WriteAheadLog(tmp_path)
    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        found = recovered.load().objects["pods"]
        told = recovered.recovered
    for each in found:
        number = int(each.key[-3:])
        assert each == Record("pods", each.key, number + 2, sized_body(number))
    # Rows are spread over the file, and a large one is lost with any of its pages.
    assert 400 * share * 0.7 < len(found) < 400
    assert f"{len(found)} of 400 objects are left" in told
    pages = len(data) // 4096
    missing = pages - -(-int(len(data) * share) // 4096)
    assert f"{missing} of {pages} pages cannot be read" in told
    with closing(WriteAheadLog(tmp_path)) as again:
        assert len(keys(again)) == len(found)


def test_what_a_killed_server_left_in_the_log_counts_in_a_database_that_was_cut_off(
    tmp_path: Path,
) -> None:
    with closing(WriteAheadLog(tmp_path / "store")) as log:
        log.commit([Record("pods", f"default/p{n:03d}", n + 2, sized_body(n)) for n in range(200)])
    log = WriteAheadLog(tmp_path / "store")
    log.commit([Record("pods", "default/p003", 300, body("changed"))])
    killed = tmp_path / "killed"
    shutil.copytree(tmp_path / "store", killed)
    log.close()
    path = killed / "objects.sqlite"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with closing(WriteAheadLog(killed, recovers=True)) as recovered:
        found = {each.key: each for each in recovered.load().objects["pods"]}
        assert recovered.load().revision == 300 + 1_000_000
    assert found["default/p003"] == Record("pods", "default/p003", 300, body("changed"))
    assert 70 < len(found) < 200


def test_objects_that_were_deleted_stay_deleted_when_a_database_is_cut_off(
    tmp_path: Path,
) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        for number in range(400):
            log.commit([Record("pods", f"default/p{number:03d}", number + 2, sized_body(number))])
        for number in range(100, 300):
            log.commit([Record("pods", f"default/p{number:03d}", number + 500, None)])
    path = tmp_path / "objects.sqlite"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * 0.97)])

    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        found = keys(recovered)
    assert not {f"default/p{number:03d}" for number in range(100, 300)} & set(found)
    assert len(found) > 100


def test_a_header_that_is_gone_costs_no_object(tmp_path: Path) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        log.commit([Record("pods", f"default/p{n:03d}", n + 2, sized_body(n)) for n in range(200)])
    path = tmp_path / "objects.sqlite"
    path.write_bytes(bytes(4096) + path.read_bytes()[4096:])

    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        assert keys(recovered) == [f"default/p{number:03d}" for number in range(200)]
        assert recovered.load().revision == 201 + 1_000_000


@settings(max_examples=25)
@given(
    cut=st.floats(0.01, 1),
    changes=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)), max_size=30),
)
def test_whatever_is_wrong_with_a_database_only_what_was_written_is_read(
    cut: float, changes: list[tuple[float, bytes]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "store"
        with closing(WriteAheadLog(directory)) as log:
            log.commit(
                [Record("pods", f"default/p{n:03d}", n + 2, sized_body(n)) for n in range(120)]
            )
        path = directory / "objects.sqlite"
        data = bytearray(path.read_bytes())
        for share, change in changes:
            at = int(share * (len(data) - len(change)))
            data[at : at + len(change)] = change
        path.write_bytes(data[: int(len(data) * cut)])
        with suppress(InputError), closing(WriteAheadLog(directory, recovers=True)) as recovered:
            for each in recovered.load().objects.get("pods", []):
                number = int(each.key[-3:])
                assert each == Record("pods", each.key, number + 2, sized_body(number))


@pytest.mark.parametrize("what", ["x" * 100, "p200", '"data"'])
def test_a_byte_that_has_changed_in_an_object_is_found(tmp_path: Path, what: str) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        for number in range(400):
            log.commit(
                [Record("pods", f"default/p{number:03d}", number + 2, long_body(f"p{number}"))]
            )
    path = tmp_path / "objects.sqlite"
    data = bytearray(path.read_bytes())
    at = data.index(what.encode(), len(data) // 3)
    data[at + 1] ^= 1  # JSON as before, and not what was written
    path.write_bytes(data)

    refusal = r"objects\.sqlite: damaged: default/p\d+ of pods is not what was written"
    with pytest.raises(InputError, match=refusal) as refused:
        WriteAheadLog(tmp_path)
    key = re.findall(r"default/p\d+", str(refused.value))[0]
    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        assert keys(recovered) == sorted(
            {f"default/p{number:03d}" for number in range(400)} - {key}
        )
        assert f"399 of 400 objects are left, 1 is lost ({key} of pods)" in recovered.recovered
    with closing(WriteAheadLog(tmp_path)) as again:
        assert key not in keys(again)


def old_store(directory: Path, *bodies: bytes) -> Path:
    """What an earlier Podium left, whose rows have no checksums."""
    directory.mkdir(mode=0o700, exist_ok=True)
    path = directory / "objects.sqlite"
    path.touch(mode=0o600)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """
            CREATE TABLE objects (collection TEXT NOT NULL, key TEXT NOT NULL,
                revision INTEGER NOT NULL, body BLOB NOT NULL,
                PRIMARY KEY (collection, key)) WITHOUT ROWID;
            CREATE TABLE counter (id INTEGER PRIMARY KEY CHECK (id = 1),
                revision INTEGER NOT NULL);
            INSERT INTO counter VALUES (1, 77);
            PRAGMA user_version=1;
            """
        )
        rows = [("pods", f"default/p{n}", n + 2, each) for n, each in enumerate(bodies)]
        database.executemany("INSERT INTO objects VALUES (?, ?, ?, ?)", rows)
        database.commit()
    return path


def test_a_store_without_checksums_gets_them(tmp_path: Path) -> None:
    path = old_store(tmp_path, long_body("a"), long_body("b"))
    with closing(WriteAheadLog(tmp_path)) as log:
        assert log.load().revision == 77
        assert keys(log) == ["default/p0", "default/p1"]
        log.commit([Record("pods", "default/p2", 78, long_body("c"))])
    data = bytearray(path.read_bytes())
    data[data.index(b"xxxx")] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not what was written"):
        WriteAheadLog(tmp_path)


def test_a_store_that_does_not_count_its_objects_counts_from_then_on(tmp_path: Path) -> None:
    with closing(WriteAheadLog(tmp_path)) as log:
        log.commit([Record("pods", f"default/p{n}", n + 2, body("a")) for n in range(3)])
    path = tmp_path / "objects.sqlite"
    with closing(sqlite3.connect(path)) as database:  # as format 2 was
        database.execute("ALTER TABLE counter DROP COLUMN objects")
        database.execute("PRAGMA user_version=2")
        database.commit()
    with closing(WriteAheadLog(tmp_path)) as log:
        log.commit([Record("pods", "default/p1", 9, None), Record("pods", "default/p7", 10, None)])
        log.commit([Record("pods", "default/p2", 11, body("b"))])
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT revision, objects FROM counter").fetchone() == (11, 2)
        assert database.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_damaged_store_without_checksums_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = old_store(tmp_path, long_body("a"), b"no JSON")
    with pytest.raises(InputError, match="default/p1 of pods is not JSON"):
        WriteAheadLog(tmp_path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
        assert len(database.execute("PRAGMA table_info(objects)").fetchall()) == 4
    with closing(WriteAheadLog(tmp_path, recovers=True)) as recovered:
        assert keys(recovered) == ["default/p0"]
        assert recovered.load().revision == 77 + 1_000_000
