"""The API server as a process: TLS, signals, crashes, many clients at once."""

import json
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
