"""`podium explain`, `story` and `simulate` on a cluster that runs, over TLS."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.recorded_server import RecordedServer, other_authority, recorded_server
from support.commands.command_line import Done, node, pod, podium, writer

from podium.offline.what_if import InputError, read_live_cluster

OWNER = {"apiVersion": "apps/v1", "uid": "1", "controller": True}
READABLE = ["nodes", "pods", "namespaces", "persistentvolumes", "persistentvolumeclaims"]


def owned(raw: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    raw["metadata"]["ownerReferences"] = [{**OWNER, "kind": kind, "name": name}]
    return raw


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    with recorded_server() as running:
        for name in ("n1", "n2"):
            running.create("/api/v1/nodes", node(name))
        running.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
        replicas = {
            "metadata": {
                "name": "web-abc",
                "ownerReferences": [{**OWNER, "kind": "Deployment", "name": "web"}],
            },
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": pod("x")["spec"],
                },
            },
        }
        running.create("/apis/apps/v1/namespaces/default/replicasets", replicas)
        pods = "/api/v1/namespaces/default/pods"
        running.create(pods, owned(pod("web-abc-1", nodeName="n1"), "ReplicaSet", "web-abc"))
        running.create(pods, owned(pod("web-abc-2"), "ReplicaSet", "web-abc"))
        running.create(pods, owned(pod("db-0", nodeName="n2"), "StatefulSet", "db"))
        running.create(pods, pod("giant", cpu="64"))
        running.create("/api/v1/namespaces/shop/pods", pod("giant", cpu="65"))
        amount = {"requests": {"storage": "1Gi"}}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "ssd", "resources": amount}
        claim = {"metadata": {"name": "data"}, "spec": spec}
        running.create("/api/v1/namespaces/default/persistentvolumeclaims", claim)
        claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        running.create(pods, pod("stateful", volumes=claims))
        _allow_reading(running)
        yield running


def _allow_reading(server: RecordedServer) -> None:
    """Alice may read some kinds, Bob none."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": ["*"], "resources": READABLE, "verbs": ["list"]}]
    server.create(f"{rbac}/clusterroles", {"metadata": {"name": "reader"}, "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    subjects = [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}]
    binding = {"metadata": {"name": "reader"}, "roleRef": reference, "subjects": subjects}
    server.create(f"{rbac}/clusterrolebindings", binding)


@pytest.fixture
def kubeconfig(server: RecordedServer, tmp_path: Path) -> str:
    return server.kubeconfig(tmp_path / "kubeconfig")


def explained(capsys: pytest.CaptureFixture[str], kubeconfig: str, *words: str) -> Done:
    return podium(capsys, "explain", *words, "--kubeconfig", kubeconfig)


def test_a_pending_pod_of_a_cluster_is_explained(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, server: RecordedServer
) -> None:
    done = explained(capsys, kubeconfig, "default/giant")
    assert done.code == 1
    assert "2   NodeResourcesFit   Insufficient cpu" in done.out
    assert f"read from {server.url} at revision" in done.out
    assert done.err == ""


def test_nothing_but_lists_is_ever_asked_for(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, server: RecordedServer, tmp_path: Path
) -> None:
    files = writer(tmp_path)(pod("new"))
    server.asked.clear()
    assert explained(capsys, kubeconfig, "new", "-f", files).code == 0
    podium(capsys, "story", "web-abc-2", "--kubeconfig", kubeconfig)
    podium(capsys, "simulate", "--kubeconfig", kubeconfig)
    assert {method for method, _ in server.asked} == {"GET"}
    assert not [path for _, path in server.asked if "watch" in path]
    collections = {path.rpartition("/")[2] for _, path in server.asked}
    assert {"nodes", "pods", "csinodes", "volumeattachments", "resourceslices"} <= collections


def test_questions_about_a_cluster_only_read_it(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, server: RecordedServer, tmp_path: Path
) -> None:
    cluster = ("--kubeconfig", kubeconfig)
    server.asked.clear()
    counted = podium(capsys, "capacity", *cluster, "--of", "deployment/web", "-o", "json")
    failed = podium(capsys, "what-if", *cluster, "--fail", "n1", "-o", "json")
    extra_pod = writer(tmp_path)(pod("extra"))
    compare = ("compare", *cluster, "--config", "default", "-f", extra_pod, "-o", "json")
    compared = podium(capsys, *compare)
    model = read_live_cluster(extra_pod, kubeconfig=kubeconfig)

    assert compared.decoded()["runs"][0]["metrics"]["placed"] >= 1
    (room,) = counted.decoded()["pods"]
    assert (room["workload"], room["fits"]) == ("replicaset/web-abc", 5)
    moved = [(each["pod"], each["after"]) for each in failed.decoded()["moved"]]
    assert ("default/web-abc-1", "n2") in moved
    (extra,) = model.capacity().pods
    assert (extra["name"], extra["fits"]) == ("extra", 5)
    assert {method for method, _ in server.asked} == {"GET"}
    assert not [path for _, path in server.asked if "watch" in path]


def test_a_cluster_that_does_not_answer_is_an_error_of_the_input(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server = f"https://127.0.0.1:{taken.getsockname()[1]}"
        named = {"name": "x", "cluster": {"server": server}}
        context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
        written = {"clusters": [named], "contexts": [context], "current-context": "x"}
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps({**written, "users": [{"name": "x", "user": {}}]}))
        with pytest.raises(InputError, match="does not answer"):
            read_live_cluster(kubeconfig=str(path))


def test_kubeconfig_variable_leads_to_the_cluster_without_files(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    done = podium(capsys, "simulate", "-o", "json")
    assert done.code == 1
    assert sorted(entry["name"] for entry in done.decoded()["pods"]) == [
        "giant",
        "giant",
        "stateful",
        "web-abc-2",
    ]


def test_files_alone_read_no_cluster(
    capsys: pytest.CaptureFixture[str],
    kubeconfig: str,
    monkeypatch: pytest.MonkeyPatch,
    server: RecordedServer,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    server.asked.clear()
    files = writer(tmp_path)(node("mine"), pod("a"))
    assert podium(capsys, "simulate", "-f", files).code == 0
    assert server.asked == []


def test_pods_from_files_go_to_a_live_cluster_and_replace_what_is_there(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, tmp_path: Path
) -> None:
    files = writer(tmp_path)(pod("giant", cpu="2"), pod("extra"))
    arguments = ("simulate", "-f", files, "--kubeconfig", kubeconfig, "-n", "shop", "-o", "json")
    document = podium(capsys, *arguments).decoded()
    placed = {f"{p['namespace']}/{p['name']}": p["node"] for p in document["pods"]}
    assert placed["shop/giant"] in ("n1", "n2")
    assert placed["shop/extra"] in ("n1", "n2")
    assert placed["default/giant"] is None
    assert "taken from the files instead of the cluster: 1 object" in document["notes"]


@pytest.mark.parametrize(
    ("reference", "found", "said"),
    [
        ("deployment/web", "default/web-abc-2", "default/web-abc-2 of deployment/web"),
        ("deploy/web", "default/web-abc-2", "default/web-abc-2 of deployment/web"),
        ("rs/web-abc", "default/web-abc-2", "default/web-abc-2 of replicaset/web-abc"),
        ("sts/db", "default/db-0", "no pod of statefulset/db is pending; default/db-0 runs"),
        ("pod/db-0", "default/db-0", ""),
        ("db", "default/db-0", ""),
        ("shop/gi", "shop/giant", ""),
    ],
)
def test_a_pod_is_meant_by_workload_or_beginning(
    capsys: pytest.CaptureFixture[str], kubeconfig: str, reference: str, found: str, said: str
) -> None:
    done = explained(capsys, kubeconfig, reference, "-o", "json")
    document = done.decoded()
    assert f"{document['namespace']}/{document['name']}" == found
    assert done.err == (f"podium: {said}\n" if said else "")


def test_a_beginning_of_several_names_means_the_workload_that_all_are_of(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    done = explained(capsys, kubeconfig, "web")
    assert done.code == 0
    assert done.err == "podium: default/web-abc-2 of deployment/web\n"


def test_the_namespace_of_the_context_is_looked_in_first(
    capsys: pytest.CaptureFixture[str], kubeconfig: str
) -> None:
    document = explained(capsys, kubeconfig, "giant", "-o", "json").decoded()
    assert document["namespace"] == "default"
    document = explained(capsys, kubeconfig, "giant", "-n", "shop", "-o", "json").decoded()
    assert document["namespace"] == "shop"


def test_kinds_that_may_not_be_read_are_told_and_first_if_they_matter(
    capsys: pytest.CaptureFixture[str], server: RecordedServer, tmp_path: Path
) -> None:
    path = server.kubeconfig(tmp_path / "alice", user="alice")
    done = explained(capsys, path, "stateful", "--alone")
    assert done.out.lstrip().startswith("Incomplete input")
    assert "cannot read storageclasses: forbidden, but it matters to 1 claim" in done.out
    assert "podium dump-command" not in done.out
    assert "· cannot read csinodes: forbidden" in done.out
    done = explained(capsys, path, "default/giant", "--alone")
    assert done.out.startswith("The pod asks for 64 cpu")
    assert "· cannot read csinodes: forbidden" in done.out
    document = explained(capsys, path, "stateful", "--alone", "-o", "json").decoded()
    assert list(document)[:3] == ["apiVersion", "kind", "incomplete"]
    assert [each["kind"] for each in document["incomplete"]] == ["StorageClass"]


def test_without_nodes_there_is_no_answer(
    capsys: pytest.CaptureFixture[str], server: RecordedServer, tmp_path: Path
) -> None:
    done = explained(capsys, server.kubeconfig(tmp_path / "bob", user="bob"), "giant")
    assert done.code == 2
    assert "cannot read nodes: forbidden" in done.err


def test_a_server_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], server: RecordedServer, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{free.getsockname()[1]}"
        done = explained(capsys, server.kubeconfig(tmp_path / "k", server=url), "giant")
    assert (done.code, done.err) == (2, f"podium: {url}: does not answer: connection refused\n")


def test_a_certificate_of_somebody_else_is_told(
    capsys: pytest.CaptureFixture[str], server: RecordedServer, tmp_path: Path
) -> None:
    changed = {"certificate-authority-data": other_authority()}
    done = explained(capsys, server.kubeconfig(tmp_path / "k", **changed), "giant")
    assert done.code == 2
    assert "its certificate is not trusted" in done.err
    assert "certificate-authority names who has signed it" in done.err


def test_credentials_that_are_not_good_are_told(
    capsys: pytest.CaptureFixture[str], server: RecordedServer, tmp_path: Path
) -> None:
    path = Path(server.kubeconfig(tmp_path / "k"))
    path.write_text(path.read_text().replace(server.token, "not-a-token-of-this-server"))
    done = explained(capsys, str(path), "giant")
    assert done.code == 2
    assert "does not accept the credentials: Unauthorized" in done.err
    assert "not-a-token" not in done.err


def test_neither_files_nor_a_kubeconfig_is_no_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    done = podium(capsys, "explain", "web-0")
    assert done.code == 2
    assert "no input; give files, directories or - with -f, or a cluster with" in done.err
