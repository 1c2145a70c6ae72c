"""`podium up` and its scheduler's own records, asked for by `podium` and by kubectl's plugin."""

import json
import os
import ssl
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.apiserver.kubectl_process import Kubectl, releases, required
from support.commands.command_line import EXAMPLES, Done, podium
from support.commands.document_schemas import require_valid
from support.e2e.up_process import UpProcess, up

from podium.commands.recorded_options import SCHEDULER_EXTENSION

PODS = "/api/v1/namespaces/default/pods"
FIRST_STEPS = str(EXAMPLES / "first-steps.yaml")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpProcess]:
    with up(tmp_path_factory.mktemp("up"), "--apply", FIRST_STEPS) as running:
        running.until(PODS, _is_settled)
        yield running
        code, err = running.end()
    assert (code, "Traceback" in err) == (0, False)


def _is_settled(pods: list[Any]) -> bool:
    by_name = {pod["metadata"]["name"]: pod for pod in pods}
    is_rejected = "giant" in by_name and bool(by_name["giant"]["status"].get("conditions"))
    return is_rejected and "nodeName" in by_name.get("cache-0", {"spec": {}})["spec"]


@pytest.fixture
def asked(
    cluster: UpProcess, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    monkeypatch.setenv("KUBECONFIG", str(cluster.server.kubeconfig))
    monkeypatch.setenv("COLUMNS", "160")

    def ask(*arguments: str) -> Done:
        return podium(capsys, *arguments)

    return ask


def scheduler_url(cluster: UpProcess) -> str:
    config = yaml.safe_load(cluster.server.kubeconfig.read_text())
    extensions = config["clusters"][0]["cluster"]["extensions"]
    told = {each["name"]: each["extension"] for each in extensions}
    return str(told[SCHEDULER_EXTENSION]["server"])


def test_the_kubeconfig_leads_to_what_the_scheduler_decided(asked: Any) -> None:
    placed = asked("explain", "cache-0", "--recorded")
    assert placed.code == 0
    assert "that fit of 3 looked at; attempt 1 at" in placed.out
    assert "NodeResourcesFit" in placed.out
    waiting = asked("explain", "pod/giant", "--recorded")
    assert waiting.code == 1
    assert "waits for an event that may change the mind of NodeResourcesFit" in waiting.out
    assert "3   Insufficient cpu" in waiting.out


@pytest.mark.slow
def test_the_story_is_the_one_that_happened(asked: Any, cluster: UpProcess) -> None:
    told = asked("story", "default/cache-0", "--recorded", "-o", "json").decoded()
    assert [line["what"] for line in told["log"]] == ["queued", "tried", "bound"]
    node = cluster.ask("GET", f"{PODS}/cache-0")["spec"]["nodeName"]
    assert told["decision"]["node"] == told["node"] == node
    assert asked("story", "giant", "--recorded").code == 1


@pytest.mark.slow
def test_a_scheduler_is_asked_at_its_own_address(asked: Any, cluster: UpProcess) -> None:
    url = scheduler_url(cluster)
    assert asked("explain", "cache-0", "--scheduler", url).code == 0
    refused = asked("explain", "cache-0", "--scheduler", url, "--token", "wrong")
    assert refused.code == 2
    assert "does not accept the credentials" in refused.err
    unknown = asked("explain", "nobody", "--scheduler", url)
    assert unknown.code == 2
    assert "pod default/nobody: the scheduler knows no such pod" in unknown.err


@pytest.mark.slow
def test_strangers_are_told_nothing(cluster: UpProcess) -> None:
    for path in ("/debug/podium/queue", "/debug/podium/pods/default/giant", "/metrics"):
        untrusted = ssl._create_unverified_context()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{scheduler_url(cluster)}{path}", context=untrusted)
        assert refused.value.code == 403
        refused.value.close()


@pytest.mark.slow
def test_the_queue_is_served_to_who_may_see_it(cluster: UpProcess) -> None:
    request = urllib.request.Request(
        f"{scheduler_url(cluster)}/debug/podium/queue",
        headers={"Authorization": f"Bearer {cluster.server.token}"},
    )
    with urllib.request.urlopen(request, context=cluster.server.context) as answer:
        queue = json.load(answer)
    require_valid(queue)
    assert queue["sizes"]["unschedulable"] == 1
    assert queue["unschedulable"][0]["pod"] == "default/giant"


@pytest.mark.slow
def test_a_cluster_that_is_up_is_explained_anew_as_well(asked: Any) -> None:
    done = asked("explain", "deployment/web", "-o", "json")
    assert done.decoded()["runsOn"]
    assert "no pod of deployment/web is pending" in done.err


# --- kubectl ------------------------------------------------------------------------------------


@pytest.fixture(params=releases())
def kubectl(request: pytest.FixtureRequest, cluster: UpProcess, tmp_path: Path) -> Kubectl:
    program = required(request.param)
    for name, module in (
        ("kubectl-podium", "podium.commands"),
        ("kubectl_complete-podium", "podium.commands.kubectl_completion"),
    ):
        script = tmp_path / name
        code = f"import sys; from {module} import main; sys.exit(main())"
        script.write_text(f"#!{sys.executable}\n{code}\n")
        script.chmod(0o755)
    return Kubectl(program, request.param, cluster.server.kubeconfig, tmp_path)


def test_kubectl_finds_the_plugin_and_gives_it_its_words(kubectl: Kubectl, tmp_path: Path) -> None:
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    told = kubectl("podium", "explain", "giant", "-n", "default", code=1, PATH=path)
    assert "Insufficient cpu" in told
    told = kubectl("podium", "story", "cache-0", "--recorded", "-o", "json", PATH=path)
    assert json.loads(told)["name"] == "cache-0"
    named = ("--context", "podium", "-n", "default")
    told = kubectl("podium", "why", "giant", *named, PATH=path)
    assert "1. lower the cpu request from 64" in told
    told = kubectl("podium", "simulate", *named, code=1, PATH=path)
    assert "1 pending pod on 3 nodes" in told
    told = kubectl("podium", "story", "giant", *named, code=1, PATH=path)
    assert "no node fits" in told
    completed = kubectl("__complete", "podium", "explain", "--rec", PATH=path)
    assert "--recorded" in completed


def test_the_console_scripts_are_declared() -> None:
    written = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text())
    scripts = written["project"]["scripts"]
    assert scripts["kubectl-podium"] == "podium.__main__:main"
    assert scripts["kubectl_complete-podium"] == "podium.commands.kubectl_completion:main"
