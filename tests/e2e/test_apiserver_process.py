"""The API server as a process: TLS, signals, crashes, many clients at once."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, config_map, pod
from support.apiserver.apiserver_process import RunningServer, serving
from support.waiting import PATIENCE_S


def names(server: RunningServer, path: str) -> set[str]:
    status, listed = server.ask("GET", path)
    assert status == 200
    return {item["metadata"]["name"] for item in listed["items"]}


def test_a_client_that_trusts_the_kubeconfig_gets_in(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        status, created = server.ask("POST", PODS, pod("p"))
        code, err = server.stop()

    assert status == 201
    assert created["spec"]["schedulerName"] == "default-scheduler"
    assert code == 0
    assert err == "podium: stopped\n"
    assert (tmp_path / "kubeconfig").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_plain_server_needs_no_token(tmp_path: Path) -> None:
    with serving(tmp_path, "--plain") as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.ask("GET", PODS)[0] == 200


@pytest.mark.slow
def test_a_watch_is_streamed_and_ends_when_the_server_does(tmp_path: Path) -> None:
    with serving(tmp_path, "--plain") as server:
        connection = server.connect()
        connection.request("GET", f"{PODS}?watch=true")
        response = connection.getresponse()
        server.ask("POST", PODS, pod("p"))
        event = json.loads(response.readline())
        code, _ = server.stop()
        rest = response.read()
        connection.close()

    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "p")
    assert code == 0
    assert rest == b""


@pytest.mark.slow
def test_no_acknowledged_write_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """Writers write as fast as they can; the server is killed in the middle, three times."""
    acknowledged: set[str] = set()
    deleted: set[str] = set()
    for life in range(3):
        with serving(tmp_path, "--data", str(tmp_path / "data")) as server:
            assert acknowledged <= names(server, CONFIG_MAPS)
            assert not deleted & names(server, CONFIG_MAPS)
            enough = threading.Event()
            writers = [
                threading.Thread(
                    target=_write, args=(server, f"{life}-{number}", acknowledged, deleted, enough)
                )
                for number in range(4)
            ]
            for writer in writers:
                writer.start()
            assert enough.wait(PATIENCE_S)
            server.kill()
            for writer in writers:
                writer.join(PATIENCE_S)
    with serving(tmp_path, "--data", str(tmp_path / "data")) as server:
        found = names(server, CONFIG_MAPS)
        status, again = server.ask("POST", CONFIG_MAPS, config_map("after"))

    assert len(acknowledged) >= 150
    assert acknowledged <= found
    assert not deleted & found
    assert status == 201
    assert int(again["metadata"]["resourceVersion"]) > len(acknowledged) + len(deleted)


def test_a_store_that_is_damaged_in_the_middle_is_refused_and_can_be_recovered(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, "--data", str(data)) as server:
        for number in range(40):
            server.ask("POST", CONFIG_MAPS, config_map(f"c{number:02d}"))
        _, last = server.ask("GET", f"{CONFIG_MAPS}/c39")
        server.kill()
    log = data / "objects.sqlite-wal"
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    log.write_bytes(damaged)

    command = [sys.executable, "-m", "podium", "apiserver", "--port", "0", "--data", str(data)]
    for _ in range(2):  # a refusal changes nothing
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 2
        assert "objects.sqlite-wal: damaged at byte " in done.stderr
        assert "start with --data-recover" in done.stderr
        assert log.read_bytes() == damaged

    with serving(tmp_path, "--data", str(data), "--data-recover") as server:
        found = names(server, CONFIG_MAPS)
        _, after = server.ask("POST", CONFIG_MAPS, config_map("after"))
        _, told = server.stop()
    kept = {name for name in found if name.startswith("c")} - {"c39"}
    assert kept == {f"c{number:02d}" for number in range(len(kept))}
    assert 0 < len(kept) < 39
    versions = [int(each["metadata"]["resourceVersion"]) for each in (last, after)]
    assert versions[0] < versions[1]
    assert "objects are left, the damaged files end in .damaged" in told
    assert (data / "objects.sqlite-wal.damaged").read_bytes() == damaged
    with serving(tmp_path, "--data", str(data)) as server:
        assert names(server, CONFIG_MAPS) == {*found, "after"}


def _write(
    server: RunningServer,
    prefix: str,
    acknowledged: set[str],
    deleted: set[str],
    enough: threading.Event,
) -> None:
    """Create and now and then delete, noting what the server has confirmed."""
    connection = server.connect()
    begun = len(acknowledged)
    try:
        for number in range(100_000):
            name = f"c-{prefix}-{number}"
            status, _ = server.ask("POST", CONFIG_MAPS, config_map(name), connection)
            if status == 201:
                acknowledged.add(name)
            if number % 5 == 4:
                acknowledged.discard(name)  # what becomes of it is open until it is confirmed
                status, _ = server.ask("DELETE", f"{CONFIG_MAPS}/{name}", None, connection)
                if status == 200:
                    deleted.add(name)
            if len(acknowledged) >= begun + 60:
                enough.set()
    except (OSError, ValueError, json.JSONDecodeError):
        pass  # the server is gone
    except Exception as problem:
        if "http.client" not in type(problem).__module__:
            raise
    finally:
        connection.close()


@pytest.mark.slow
def test_a_second_server_on_the_same_data_says_what_is_wrong(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    second = tmp_path / "second"
    second.mkdir()
    with (
        serving(tmp_path, "--data", data),
        pytest.raises(AssertionError, match="in use by another server"),
        serving(second, "--data", data),
    ):
        pass
