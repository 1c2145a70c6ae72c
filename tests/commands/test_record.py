"""`podium record` on a cluster that runs, over TLS, and `podium replay` of what it wrote."""

import gzip
import json
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.apiserver.recorded_server import RecordedServer, recorded_server
from support.commands.command_line import ROOT, node, pod, podium
from support.offline.traces.cut_connections import Relay
from support.waiting import PATIENCE_S, wait_until

from podium.golang.errors import InputError
from podium.offline.traces.object_recording import RECORDED_STRUCTS
from podium.offline.traces.recorder import cluster_role
from podium.offline.traces.trace_files import TraceLine, open_trace

PODS = "/api/v1/namespaces/default/pods"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLE = ROOT / "deploy" / "recorder" / "cluster-role.yaml"
SECRET = "hunter2-canary"


def hostile_pod(name: str) -> dict[str, Any]:
    made = pod(name)
    made["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"password": SECRET})
    }
    container = made["spec"]["containers"][0]
    container |= {"command": [SECRET], "args": [SECRET]}
    container["env"] = [{"name": "PASSWORD", "value": SECRET}]
    return made


def allow(server: RecordedServer, user: str, verbs: list[str], *resources: str) -> None:
    rules = [{"apiGroups": ["*"], "resources": list(resources), "verbs": verbs}]
    grant(server, user, {"metadata": {"name": user}, "rules": rules})


def grant(server: RecordedServer, user: str, role: dict[str, Any]) -> None:
    server.create(f"{RBAC}/clusterroles", role)
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": user},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"kind": "User", "name": user, "apiGroup": group}],
    }
    server.create(f"{RBAC}/clusterrolebindings", binding)


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    with recorded_server() as running:
        for name in ("n1", "n2"):
            running.create("/api/v1/nodes", node(name))
        running.create(
            "/api/v1/namespaces/default/secrets",
            {"metadata": {"name": "login"}, "stringData": {"password": SECRET}},
        )
        running.create(
            "/api/v1/namespaces/default/configmaps",
            {"metadata": {"name": "settings"}, "data": {"password": SECRET}},
        )
        running.create(PODS, pod("old", nodeName="n1"))
        allow(running, "lister", ["list"], "nodes", "pods")
        allow(running, "watcher", ["list", "watch"], "nodes", "pods")
        grant(running, "recorder", yaml.safe_load(ROLE.read_text()))
        yield running


def lines_of(path: Path) -> list[TraceLine]:
    """What is there so far."""
    try:
        return list(open_trace(str(path)).lines)
    except InputError:
        return []


def has(path: Path, event: str, name: str = "") -> bool:
    return any(
        type(line).__name__ == event
        and (not name or name in (getattr(line, "name", ""), name_of(line)))
        for line in lines_of(path)
    )


def name_of(line: TraceLine) -> str:
    return str(getattr(line, "object", {}).get("metadata", {}).get("name", ""))


def bind(server: RecordedServer, name: str, target: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": target},
    }
    server.create(f"{PODS}/{name}/binding", body)


def test_a_cluster_is_recorded_through_cut_connections_and_replayed(
    server: RecordedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.podium"
    with Relay(server.url).running() as relay:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", server=relay.url)
        server.asked.clear()
        command = [sys.executable, "-m", "podium", "record", "--to", str(path)]
        process = subprocess.Popen(
            [*command, "--kubeconfig", kubeconfig], stderr=subprocess.PIPE, text=True
        )
        try:
            wait_until(lambda: has(path, "SnapshotEnd"), lambda: "no snapshot")
            asked = set(server.asked)
            server.create(PODS, hostile_pod("new"))
            bind(server, "new", "n2")
            wait_until(lambda: has(path, "Patch", "new"), lambda: str(lines_of(path)))
            relay.cut()
            server.create(PODS, hostile_pod("second"))
            wait_until(lambda: has(path, "Put", "second"), lambda: str(lines_of(path)))
            bind(server, "second", "n1")
            server.delete(f"{PODS}/new", {"gracePeriodSeconds": 0})
            wait_until(lambda: has(path, "Delete", "new"), lambda: str(lines_of(path)))
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=PATIENCE_S)[1]
        finally:
            process.kill()
            process.wait()

    assert process.returncode == 0, said
    assert f"into {path}" in said
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {method for method, _ in asked} == {"GET"}
    assert not [url for _, url in asked if "secrets" in url or "configmaps" in url]
    written = gzip.decompress(path.read_bytes()).decode()
    assert SECRET not in written
    assert '"reason":"signal"' in written.splitlines()[-1]

    checked = podium(capsys, "replay", str(path), "-o", "json")
    assert checked.code == 0, checked.err
    document = checked.decoded()
    assert [(each["pod"], each["verdict"]) for each in document["decisions"]] == [
        ("default/new", "same"),
        ("default/second", "same"),
    ]
    replayed = podium(capsys, "replay", str(path), "--config", "default", "-o", "json").decoded()
    assert replayed["outcomes"]["same"] + replayed["outcomes"]["moved"] == 2


def test_missing_rights_are_named_with_the_role_that_grants_them(
    server: RecordedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.podium"
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", user="lister")
    done = podium(capsys, "record", "--kubeconfig", kubeconfig, "--to", str(path))
    assert done.code == 2
    assert "cannot record: forbidden: nodes, pods, persistentvolumes" in done.err
    assert "kind: ClusterRole" in done.err
    assert "- apiGroups: [storage.k8s.io]\n  resources: [csidrivers, csinodes," in done.err
    assert "verbs: [list, watch]" in done.err
    assert f"\nkubectl --kubeconfig={kubeconfig} apply -f - <<'EOF'\n" in done.err
    assert (
        f"\nkubectl --kubeconfig={kubeconfig} create clusterrolebinding podium-recorder "
        "--clusterrole=podium-recorder --user=...\n"
    ) in done.err
    assert not path.exists()


def test_kinds_that_may_not_be_read_are_left_out_with_a_warning(
    server: RecordedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.podium"
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", user="watcher")
    words = ("record", "--kubeconfig", kubeconfig, "--to", str(path), "--for", "100ms")
    done = podium(capsys, *words)
    assert done.code == 0, done.err
    assert "not recorded, since forbidden: persistentvolumes" in done.err
    assert "recorded" in done.err
    assert open_trace(str(path)).header.unread["services"] == "forbidden"

    again = podium(capsys, *words)
    assert again.code == 2
    assert "is there already" in again.err
    few = podium(capsys, *words, "--force", "--kinds", "services")
    assert few.code == 0, few.err
    assert open_trace(str(path)).header.resources == ("nodes", "pods")


def test_the_shipped_role_grants_what_is_read_and_nothing_else(
    server: RecordedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.podium"
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", user="recorder")
    words = ("record", "--kubeconfig", kubeconfig, "--to", str(path), "--for", "100ms")
    done = podium(capsys, *words)
    assert done.code == 0, done.err
    assert "forbidden" not in done.err
    role = yaml.safe_load(ROLE.read_text())
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list", "watch"}
    assert role == yaml.safe_load(cluster_role(RECORDED_STRUCTS))


def test_a_recording_that_may_not_become_larger_says_so_and_what_that_means(
    server: RecordedServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "t.podium"
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
    monkeypatch.setattr("podium.offline.traces.trace_files.MIN_SIZE_BYTES", 1)
    words = ("record", "--kubeconfig", kubeconfig, "--to", str(path), "--max-size", "1000")
    done = podium(capsys, *words)
    assert done.code == 0, done.err
    assert "the recording ended, as the file may not become larger" in done.err
    assert "cannot be replayed" in done.err
    assert path.stat().st_size <= 1000
    assert '"reason":"size"' in gzip.decompress(path.read_bytes()).decode()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--for", "soon"), "--for: "),
        (("--for=-1h",), "must be more than nothing"),
        (("--max-size", "big"), "--max-size: "),
        (("--max-size", "1"), "less than 4096 bytes"),
        (("--kinds", "secrets"), "--kinds: secrets is not recorded"),
        (("--kinds", "servces"), "services"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    server: RecordedServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    problem: str,
) -> None:
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
    path = tmp_path / "t.podium"
    done = podium(capsys, "record", "--kubeconfig", kubeconfig, "--to", str(path), *words)
    assert done.code == 2
    assert problem in done.err
    assert not path.exists()


def test_a_server_that_does_not_answer_is_told_at_once(
    server: RecordedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = server.kubeconfig(tmp_path / "kubeconfig", server="https://127.0.0.1:1")
    path = tmp_path / "t.podium"
    done = podium(capsys, "record", "--kubeconfig", kubeconfig, "--to", str(path))
    assert done.code == 2
    assert "does not answer: connection refused" in done.err
    assert not path.exists()
