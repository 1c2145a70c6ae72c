"""Following a cluster into a trace, whatever its API server does; in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.live.scripted_server import (
    Answer,
    ScriptedServer,
    line,
    make_list,
    refusal,
    status_object,
)
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.offline.traces.written_traces import node, pod

from podium.client import KubeClient, Unreachable
from podium.client.resources import NODES, PODS
from podium.client.transport import Reply, Request, Stream
from podium.offline.traces.recorder import ClusterRecorder, RecordingProgress
from podium.offline.traces.trace_files import (
    TraceFull,
    TraceLine,
    TraceWriter,
    make_header,
    open_trace,
)


class Server(ScriptedServer):
    """Knows no streaming lists; lists of one collection may have answers of their own."""

    def __init__(self, *answers: Answer, **by_collection: list[Answer]) -> None:
        super().__init__(*answers)
        self._by_collection = by_collection

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        own = self._by_collection.get(request.path.rpartition("/")[2])
        if own:
            self.answers.insert(0, own.pop(0))
        return await super().send(request, timeout_s=timeout_s)

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        if "sendInitialEvents" in dict(request.query):
            self.watch_refusals.insert(0, refusal(422, "Invalid"))
        async with super().stream(request, timeout_s=timeout_s) as opened:
            yield opened


Script = Callable[[ScriptedServer], Awaitable[None]]


def versioned(obj: dict[str, Any], version: int, **status: Any) -> dict[str, Any]:
    metadata = {**obj["metadata"], "resourceVersion": str(version)}
    return {**obj, "metadata": metadata, **({"status": status} if status else {})}


def on_node(obj: dict[str, Any], name: str) -> dict[str, Any]:
    return {**obj, "spec": {**obj["spec"], "nodeName": name}}


def record(
    path: Path,
    server: ScriptedServer,
    script: Script,
    *,
    max_bytes: int = 1 << 20,
    progress: list[RecordingProgress] | None = None,
) -> list[TraceLine]:
    """What the trace has after the script."""

    async def run() -> None:
        writer = TraceWriter(path, max_bytes)
        writer.write(make_header("2026-03-01T22:00:00Z", "test", ("pods",), {}))
        seen: list[RecordingProgress] = [] if progress is None else progress
        recorder = ClusterRecorder(
            KubeClient(server), writer, [PODS], randomness=Random(1), on_progress=seen.append
        )
        running = asyncio.ensure_future(recorder.run())
        try:
            await script(server)
            await sleep_virtually(2)
            if running.done():
                await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            writer.close()

    run_virtually(run())
    return list(open_trace(str(path)).lines)


def told(lines: list[TraceLine]) -> Iterator[str]:
    for each in lines:
        kind = type(each).__name__
        name = getattr(each, "name", "") or getattr(each, "object", {}).get("metadata", {}).get(
            "name", ""
        )
        yield f"{kind} {name}".strip()


def test_pods_are_recorded_from_their_arrival_to_their_end(tmp_path: Path) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(10)
        (watch,) = server.watches
        new = pod("new")
        watch.send(line("ADDED", versioned(new, 11)))
        await sleep_virtually(5)
        watch.send(line("MODIFIED", versioned(on_node(new, "n1"), 12, phase="Pending")))
        watch.send(line("MODIFIED", versioned(on_node(new, "n1"), 13, phase="Pending", hostIP="1")))
        await sleep_virtually(60)
        watch.send(line("DELETED", versioned(on_node(new, "n1"), 14)))

    server = Server(make_list(10, versioned(pod("old"), 9)))
    lines = record(tmp_path / "t.podium", server, script)
    assert list(told(lines)) == ["Put old", "SnapshotEnd", "Put new", "Patch new", "Delete new"]
    assert [each.at for each in lines[2:]] == [10.0, 15.0, 75.0]
    assert lines[3].patch == {"spec": {"nodeName": "n1"}, "status": {"phase": "Pending"}}  # type: ignore[union-attr]


def test_a_watch_that_is_cut_goes_on_where_it_was_and_is_no_gap(tmp_path: Path) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(10)
        server.watches[0].send(line("ADDED", versioned(pod("a"), 11)))
        await sleep_virtually(1)
        server.watches[0].break_off()
        await sleep_virtually(1)
        assert server.watches[1].parameters["resourceVersion"] == "11"
        server.watches[1].send(line("ADDED", versioned(pod("b"), 12)))

    lines = record(tmp_path / "t.podium", Server(make_list(10)), script)
    assert list(told(lines)) == ["SnapshotEnd", "Put a", "Put b"]


def test_a_server_that_has_forgotten_is_listed_anew_and_differences_are_written(
    tmp_path: Path,
) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(10)
        server.answers.append(
            make_list(50, versioned(on_node(pod("a"), "n1"), 40), versioned(pod("c"), 45))
        )
        server.watches[0].send(line("ERROR", status_object(410, "Expired")))

    first = make_list(10, versioned(pod("a"), 8), versioned(pod("b"), 9))
    lines = record(tmp_path / "t.podium", Server(first), script)
    assert list(told(lines))[2:] == [
        *("SnapshotEnd", "Gap", "Relisted"),
        *("Delete b", "Patch a", "Put c"),
        "Resumed",
    ]
    (deleted,) = [each for each in lines if type(each).__name__ == "Delete"]
    assert deleted.unseen  # type: ignore[union-attr]


def test_a_server_that_is_away_is_a_gap_and_the_recording_goes_on(tmp_path: Path) -> None:
    progress: list[RecordingProgress] = []

    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(10)
        server.watch_refusals += [Unreachable("nobody listens", refused=True)] * 3
        server.watches[0].break_off()
        await sleep_virtually(60)
        server.watches[-1].send(line("ADDED", versioned(pod("late"), 12)))

    server = Server(make_list(10))
    lines = record(tmp_path / "t.podium", server, script, progress=progress)
    assert list(told(lines)) == ["SnapshotEnd", "Gap", "Resumed", "Put late"]
    assert 10 <= lines[1].at < lines[2].at <= 30
    assert any(each.away == {"pods": "nobody listens"} for each in progress)
    assert progress[-1].away == {}
    assert progress[-1].is_following
    assert progress[-1].objects == 1


def test_another_object_of_the_same_name_is_another_life(tmp_path: Path) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(1)
        watch = server.watches[0]
        watch.send(line("MODIFIED", versioned(pod("a", uid="second"), 12)))

    first = make_list(10, versioned(pod("a", uid="first"), 9))
    lines = record(tmp_path / "t.podium", Server(first), script)
    assert list(told(lines)) == ["Put a", "SnapshotEnd", "Delete a", "Put a"]


def test_an_object_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(1)
        bad = versioned(pod("bad", cpu="lots"), 11)
        server.watches[0].send(line("ADDED", bad), line("ADDED", versioned(pod("good"), 12)))

    lines = record(tmp_path / "t.podium", Server(make_list(10)), script)
    assert list(told(lines)) == ["SnapshotEnd", "Put good"]


def test_a_recording_ends_when_its_file_is_full(tmp_path: Path) -> None:
    async def script(server: ScriptedServer) -> None:
        await sleep_virtually(1)
        noise = Random(2)
        for number in range(200):
            labels = {"noise": f"{noise.getrandbits(240):x}"}
            obj = versioned(pod(f"p{number}"), 11 + number)
            obj["metadata"]["labels"] = labels
            server.watches[0].send(line("ADDED", obj))
            await sleep_virtually(1)

    path = tmp_path / "t.podium"
    with pytest.raises(TraceFull):
        record(path, Server(make_list(10)), script, max_bytes=4096)
    assert path.stat().st_size <= 4096
    assert len(list(open_trace(str(path)).lines)) > 20


def test_the_snapshot_is_complete_when_every_resource_has_been_listed(tmp_path: Path) -> None:
    async def run() -> None:
        server = Server(
            nodes=[make_list(10, versioned(node("n1"), 3))],
            pods=[Unreachable("away"), make_list(12, versioned(pod("a"), 4))],
        )
        writer = TraceWriter(tmp_path / "t.podium", 1 << 20)
        writer.write(make_header("2026-03-01T22:00:00Z", "test", (), {}))
        recorder = ClusterRecorder(KubeClient(server), writer, [NODES, PODS], randomness=Random(1))
        await recorder.run(for_s=30.0)
        writer.close()

    run_virtually(run())
    lines = list(open_trace(str(tmp_path / "t.podium")).lines)
    assert list(told(lines)) == ["Put n1", "Put a", "SnapshotEnd"]
    assert lines[-1].at >= 0.8
