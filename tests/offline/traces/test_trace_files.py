"""Traces as files: private, bounded, and readable as far as they go."""

import gzip
import os
import stat
from pathlib import Path

import pytest
from support.offline.traces.written_traces import (
    bound,
    gone,
    node,
    pod,
    put,
    snapshot,
    write_trace,
)

from podium.golang.errors import InputError
from podium.offline.traces.recorded_cluster import read_recorded_cluster
from podium.offline.traces.trace_files import (
    End,
    Put,
    TraceFull,
    TraceUnwritable,
    TraceWriter,
    diff_objects,
    make_header,
    open_trace,
)

HEADER = make_header("2026-03-01T22:00:00Z", "test", ("pods",), {})


def many(writer: TraceWriter, count: int) -> None:
    for number in range(count):
        noise = os.urandom(40).hex()
        writer.write(Put(float(number), "pods", {**pod(f"pod-{number}"), "noise": noise}))


def many_and_flush(writer: TraceWriter, times: int) -> None:
    for _ in range(times):
        many(writer, 3)
        writer.flush()


def test_a_trace_belongs_to_its_owner_and_replaces_nothing_unasked(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    write_trace(path, *snapshot(node("n1")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        TraceWriter(path, 1 << 20)
    assert path.read_bytes() == before
    TraceWriter(path, 1 << 20, replace=True).close()
    assert path.read_bytes() != before
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(InputError, match="symbolic link"):
        TraceWriter(tmp_path / "link", 1 << 20, replace=True)


def test_a_trace_that_was_cut_off_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    write_trace(path, *snapshot(node("n1")), *(put(n, pod(f"p{n}")) for n in range(1, 50)))
    whole = path.read_bytes()
    counts = []
    for size in range(200, len(whole), 40):
        path.write_bytes(whole[:size])
        trace = open_trace(str(path))
        counts.append(sum(1 for _ in trace.lines))
        assert trace.end is None
        assert "was cut off" in trace.warnings[0]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] <= 51


def test_lines_are_in_the_file_after_each_flush(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    writer = TraceWriter(path, 1 << 20)
    writer.write(HEADER)
    many(writer, 5)
    writer.flush()
    trace = open_trace(str(path))
    assert [line.at for line in trace.lines] == [0, 1, 2, 3, 4]
    writer.close()


def test_a_trace_ends_before_it_is_too_large_and_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    writer = TraceWriter(path, 8192)
    writer.write(HEADER)
    with pytest.raises(TraceFull):
        many_and_flush(writer, 100)
    writer.close(End(1000.0, "size"))
    assert path.stat().st_size == writer.size <= 8192
    with gzip.open(path) as file:
        assert len(file.read().splitlines()) == writer.lines > 10


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    writer = TraceWriter(path, 1 << 20)
    writer.write(HEADER)
    writer.flush()
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), writer._file.fileno())
    many(writer, 3)
    with pytest.raises(TraceUnwritable, match="no space left"):
        writer.flush()
    writer.close(End(1.0, "signal"))
    assert list(open_trace(str(path)).lines) == []


def test_a_trace_of_the_earlier_spelling_of_its_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.podium"
    header = b'{"apiVersion":"podium/v1","kind":"ClusterTrace","startedAt":"2026-03-01T22:00:00Z"}'
    path.write_bytes(gzip.compress(header + b"\n"))
    assert open_trace(str(path)).header.started_at == "2026-03-01T22:00:00Z"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is not gzip"),
        (b"kind: Pod\n", "it is not gzip"),
        (gzip.compress(b""), "it is empty"),
        (gzip.compress(b"hello\n"), "its first line is no header"),
        (gzip.compress(b'{"apiVersion":"v1","kind":"Pod"}\n'), "its first line is no header"),
        (
            gzip.compress(b'{"apiVersion":"podium.dev/v7","kind":"ClusterTrace"}\n'),
            "of version 'podium.dev/v7', and podium.dev/v1 is read here",
        ),
    ],
    ids=["nothing", "text", "empty", "no header", "another kind", "another version"],
)
def test_a_file_that_is_no_trace_is_refused_in_plain_words(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "t.podium"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_recorded_cluster(str(path))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"event":"teleport","at":1}', "line 2: is no line of a trace"),
        (b'{"event":"put","at":1,"resource":"secrets","object":{}}', "has secrets"),
        (b'{"event":"put","at":1,"resource":"pods","object":{}}', "metadata.name"),
        (b'{"event":"put","at":NaN,"resource":"pods","object":{}}', "line 2"),
        (b'{"event":"delete","at":1,"resource":"pods","name":"x"}', "which is not there"),
        (b'{"event":"gap","at":9,"resource":"a"}\n{"event":"snapshot","at":1}', "back in time"),
        (b'{"event":"snapshot","at":-1}', "back in time"),
        (b'{"event":"gap","at":1,"resource":"pods"}', "ends before all that was there"),
    ],
)
def test_lines_that_make_no_sense_are_refused(tmp_path: Path, line: bytes, problem: str) -> None:
    header = b'{"apiVersion":"podium.dev/v1","kind":"ClusterTrace"}\n'
    path = tmp_path / "t.podium"
    path.write_bytes(gzip.compress(header + line + b"\n"))
    with pytest.raises(InputError, match=problem):
        read_recorded_cluster(str(path))


def test_a_damaged_file_and_one_that_unpacks_for_ever_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.podium"
    write_trace(path, *snapshot(node("n1")), *(put(n, pod(f"p{n}")) for n in range(1, 50)))
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(InputError):
        read_recorded_cluster(str(path))
    header = b'{"apiVersion":"podium.dev/v1","kind":"ClusterTrace"}\n'
    path.write_bytes(gzip.compress(header + b"a" * (3 << 20)))
    monkeypatch.setattr("podium.offline.traces.trace_files.MAX_LINE_BYTES", 1 << 20)
    with pytest.raises(InputError, match="longer than 1 MiB"):
        read_recorded_cluster(str(path))


def test_a_change_is_a_merge_patch_where_that_can_tell_it() -> None:
    old = {"a": 1, "b": {"c": [1], "d": 2}, "e": 3}
    assert diff_objects(old, {"a": 1, "b": {"c": [2]}, "f": 4}) == {
        "b": {"c": [2], "d": None},
        "e": None,
        "f": 4,
    }
    assert diff_objects(old, {**old, "g": {"h": None}}) is None


def test_a_part_of_a_trace_begins_with_what_was_there_then(tmp_path: Path) -> None:
    path = write_trace(
        tmp_path / "t.podium",
        *snapshot(node("n1")),
        put(5.0, pod("early")),
        bound(6.0, "early", "n1"),
        put(7.0, pod("past")),
        put(15.0, node("n2")),
        put(20.0, pod("late")),
        gone(25.0, "past"),
        bound(30.0, "late", "n2"),
    )
    part = read_recorded_cluster(path, from_s=26.0, until_s=40.0)
    assert part.duration_s == 14.0
    assert {obj.name for obj in part.objects} == {"n1", "n2"}
    assert [
        (each.key, each.is_there_first, each.arrived_s, each.bound_s) for each in part.pods
    ] == [
        ("default/early", True, 0.0, 0.0),
        ("default/late", False, 0.0, 4.0),
    ]
    with pytest.raises(InputError, match="before --from"):
        read_recorded_cluster(path, from_s=200.0)
