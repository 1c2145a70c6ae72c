"""Manifests through `podium simulate` and to a real server: the same are refused, in its words.

Kinds that the server does not have are asked about with kubectl, which finds that out by itself.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from support.apiserver.apiserver_process import RunningServer, serving
from support.apiserver.kubectl_process import Kubectl, installed, required
from support.offline.simulate.simulator_and_server import GATES, GIZMOS

from podium.commands import main
from podium.offline.simulate.admission import served_kinds

Json = dict[str, Any]
CORPUS: dict[str, str] = {
    name: text.replace("GIZMOS", json.dumps(GIZMOS))
    for name, text in yaml.safe_load(Path(__file__).with_name("manifests.yaml").read_text()).items()
}
NODE = """\
# a cluster
{apiVersion: v1, kind: Node, metadata: {name: there}, status: {allocatable: {cpu: 9, pods: 9}}}
---
"""


class Refusal(NamedTuple):
    """`causes` are fields with what is wrong with them; without any the message is all there is."""

    causes: tuple[str, ...] = ()
    message: str = ""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


def path_of(obj: Json) -> str:
    """Where objects like this one are created."""
    if obj["kind"] == "Gizmo":
        return "/apis/x.dev/v1/namespaces/default/gizmos"
    found = served_kinds(GATES).find(obj["apiVersion"], obj["kind"])
    assert found is not None
    resource = found[0]
    start = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    place = "namespaces/default/" if resource.namespaced else ""
    return f"{start}/{place}{resource.plural}"


def create(server: RunningServer, text: str, *, dry_run: bool) -> Refusal | None:
    """Send a manifest as it is written; None if it is taken."""
    query = "?fieldValidation=Strict" + ("&dryRun=All" if dry_run else "")
    connection = server.connect()
    headers = {"Content-Type": "application/yaml", "Authorization": f"Bearer {server.token}"}
    connection.request("POST", path_of(yaml.safe_load(text)) + query, text, headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    if response.status == 201:
        return None
    if response.status != 422:
        return Refusal(message=answer["message"])
    causes = (answer.get("details") or {}).get("causes") or ()
    told = (f"{each['field']}: {each['message']}" for each in causes)
    return Refusal(tuple(each.replace("\n", "\\n") for each in told))  # as terminals show it


@contextmanager
def having(server: RunningServer, texts: list[str]) -> Iterator[None]:
    """With these objects in the cluster."""
    for text in texts:
        assert create(server, text, dry_run=False) is None
    try:
        yield
    finally:
        for text in reversed(texts):
            obj = yaml.safe_load(text)
            server.ask("DELETE", f"{path_of(obj)}/{obj['metadata']['name']}")


def told_by_simulate(text: str, file: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is wrong with a manifest beside a node; nothing if it is taken."""
    file.write_text(NODE + text)
    code = main(["simulate", "-f", str(file)])
    err = capsys.readouterr().err
    assert (code == 2) == bool(err), err
    lines = err.removeprefix("podium: ").splitlines()
    return lines[1:] if lines and "problems in the input" in lines[0] else lines


@pytest.mark.parametrize("name", CORPUS)
def test_a_manifest_is_refused_by_simulate_if_the_server_refuses_it_and_in_its_words(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    *beside, asked = CORPUS[name].split("---\n")
    with having(server, beside):
        refusal = create(server, asked, dry_run=True)

    told = told_by_simulate(CORPUS[name], tmp_path / "input.yaml", capsys)

    if refusal is None:
        assert told == []
    elif refusal.causes:
        assert len(told) == len(refusal.causes)
        for line, cause in zip(told, refusal.causes, strict=True):
            assert cause in line
    else:
        assert refusal.message in told[0]


UNKNOWN = {
    "a slip of the pen": ("v1", "Podd"),
    "another group": ("v1", "Deployment"),
    "another version": ("apps/v2", "StatefulSet"),
    "a version that is gone": ("extensions/v1beta1", "Deployment"),
    "a kind that is gone": ("policy/v1beta1", "PodSecurityPolicy"),
    "an autoscaler of a version that is gone": ("autoscaling/v2beta2", "HorizontalPodAutoscaler"),
    "a kind that is a subresource": ("policy/v1", "Eviction"),
    "a closed gate": ("scheduling.k8s.io/v1alpha2", "PodGroup"),
    "a group of nobody": ("sandwich", "Ham"),
    "a custom resource without a definition": ("monitoring.coreos.com/v1", "PodMonitor"),
}
PASSED_OVER = ("a custom resource without a definition",)


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_kind_is_told_as_kubectl_tells_it(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    release = max(installed(), default=None)
    kubectl = Kubectl(required(release), release or (0, 0), server.kubeconfig, tmp_path)
    api_version, kind = UNKNOWN[name]
    file = tmp_path / "input.yaml"
    text = f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: a}}}}"
    file.write_text(text)

    answered = kubectl("apply", "-f", str(file), code=1)

    words = f'no matches for kind "{kind}" in version "{api_version}"'
    assert words in answered
    file.write_text(NODE + text)
    code = main(["simulate", "--strict", "-f", str(file)])
    printed = capsys.readouterr()
    if name in PASSED_OVER:
        assert code == 0
        assert words in " ".join(printed.out.split())
    else:
        assert code == 2
        assert words in printed.err


def test_a_namespace_that_is_in_no_file_is_taken_to_be_there_with_the_words_of_the_server(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    status, answer = server.ask("POST", "/api/v1/namespaces/team-a/pods", body)
    file = tmp_path / "input.yaml"
    file.write_text(NODE + json.dumps({**body, "metadata": {"name": "p", "namespace": "team-a"}}))

    assert status == 404
    assert main(["simulate", "-f", str(file)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"without it a server answers: {answer['message']}" in printed
    namespace = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}\n"
    file.write_text(f"{file.read_text()}\n{namespace}")
    assert main(["simulate", "-f", str(file)]) == 0
    assert "team-a is not in the input" not in capsys.readouterr().out
