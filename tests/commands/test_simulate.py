"""`podium simulate` from the outside."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.waiting import PATIENCE_S

from podium.commands import main
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.scheduler import Engine

EXAMPLES = Path(__file__).parents[2] / "examples"
CLUSTER, PODS, SCHEDULER = (
    str(EXAMPLES / name) for name in ("cluster.yaml", "pods.yaml", "scheduler.yaml")
)

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110}},
}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_list(*objects: dict[str, Any], name: str = "input.json") -> str:
        path = tmp_path / name
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return str(path)

    return write_list


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["simulate", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def decoded(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    _, out, _ = run(capsys, *arguments, "-o", "json")
    return json.loads(out)


def test_the_example_tells_its_stories(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "-f", CLUSTER, "-f", PODS)
    assert code == 1
    assert err == ""
    assert "default/web-0" in out
    assert "takes the place of default/sweep-2" in out
    assert "6 node(s) didn't match Pod's node affinity/selector" in out
    assert "waiting for scheduling gates: [example.com/quota-approved]" in out
    assert "11 placed, 1 without a node, 1 gated; 1 pod evicted" in out


def test_web_is_spread_over_the_zones(capsys: pytest.CaptureFixture[str]) -> None:
    document = decoded(capsys, "-f", CLUSTER, "-f", PODS)
    nodes = [p["node"] for p in document["pods"] if p["name"].startswith("web-")]
    zones = sorted(node.rstrip("12")[-1] for node in nodes)
    assert sorted({zones.count(zone) for zone in "abc"}) == [1, 2]


def test_a_configuration_changes_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    spread = decoded(capsys, "-f", CLUSTER, "-f", PODS)
    packed = decoded(capsys, "-f", CLUSTER, "-f", PODS, "--config", SCHEDULER)
    (web,) = [p for p in packed["pods"] if p["name"] == "web-0"]
    assert web["node"] == "general-a1"
    assert "ImageLocality" not in web["scores"]
    assert spread["pods"] != packed["pods"]


def test_files_may_be_given_without_f(capsys: pytest.CaptureFixture[str]) -> None:
    _, with_f, _ = run(capsys, "-f", CLUSTER, "-f", PODS)
    _, without, _ = run(capsys, CLUSTER, PODS)
    assert with_f == without


def test_exit_code_0_says_that_all_pods_fit(capsys: pytest.CaptureFixture[str], write: Any) -> None:
    code, out, _ = run(capsys, "-f", write(NODE, pod("a")))
    assert code == 0
    assert "1 pending pod on 1 node: 1 placed" in out


def test_nothing_to_do_is_fine(capsys: pytest.CaptureFixture[str], write: Any) -> None:
    code, out, _ = run(capsys, "-f", write(NODE))
    assert code == 0
    assert "0 pending pods on 1 node: nothing to do" in out


def test_same_seed_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = {
        run(capsys, "-f", CLUSTER, "-f", PODS, "--seed", "7", "-o", "json") for _ in range(3)
    }
    assert len(outputs) == 1


def test_json_and_yaml_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    document = decoded(capsys, "-f", CLUSTER, "-f", PODS)
    _, out, _ = run(capsys, "-f", CLUSTER, "-f", PODS, "-o", "yaml")
    assert yaml.safe_load(out) == document


def test_json_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    document = decoded(capsys, "-f", CLUSTER, "-f", PODS)
    assert document["summary"]["placed"] == 11
    assert document["summary"]["allFit"] is False
    (stuck,) = [p for p in document["pods"] if p["name"] == "gpu-trainer"]
    assert stuck["node"] is None
    assert stuck["reasons"][0] == {
        "reason": "node(s) didn't match Pod's node affinity/selector",
        "nodes": 6,
    }
    (eviction,) = document["evictions"]
    assert eviction == {
        "pod": "default/sweep-2",
        "node": "gpu-b1",
        "priority": -10,
        "by": "default/render",
    }
    gpu = {node["name"]: node["requested"]["nvidia.com/gpu"] for node in document["nodes"]}
    assert gpu["gpu-a1"] == {"unit": "count", "allocatable": 4, "before": 2, "after": 4}


def test_wide_adds_columns(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "-f", CLUSTER, "-f", PODS, "-o", "wide")
    assert "PRIORITY" in out
    assert "2000001000" in out


def deployment(name: str, replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("x")["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template,
        },
    }


def many_nodes(count: int) -> list[dict[str, Any]]:
    return [{**NODE, "metadata": {"name": f"n{n:03}"}} for n in range(count)]


def test_many_pods_and_nodes_take_a_screenful(
    capsys: pytest.CaptureFixture[str], write: Any
) -> None:
    path = write(*many_nodes(100), *(deployment(f"app-{n}", 20) for n in range(25)))
    code, out, _ = run(capsys, "-f", path)
    assert code == 1
    assert len(out.splitlines()) < 60
    assert "default/app-0 (Deployment)" in out
    assert "and 10 more workloads with 200 pods" in out
    assert "the 12 fullest of 100" in out


def test_all_lists_everything(capsys: pytest.CaptureFixture[str], write: Any) -> None:
    path = write(*many_nodes(40), deployment("app", 40))
    _, out, _ = run(capsys, "-f", path, "--all")
    assert out.count("default/app-") == 40
    assert "n039" in out


def test_failures_are_grouped_by_their_message(
    capsys: pytest.CaptureFixture[str], write: Any
) -> None:
    _, out, _ = run(capsys, "-f", write(NODE, deployment("app", 10)))
    assert "default/app-4, default/app-5, default/app-6 and 3 more" in out


def test_a_pipe_gets_no_colours_and_no_trailing_spaces(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "-f", CLUSTER, "-f", PODS)
    assert "\x1b" not in out
    assert not [line for line in out.splitlines() if line != line.rstrip()]


def test_a_narrow_screen_drops_bars_before_names(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    _, out, _ = run(capsys, "-f", CLUSTER, "-f", PODS)
    assert "█" not in out
    assert "general-a1" in out
    assert max(map(len, out.splitlines())) <= 72


# --- wrong input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind: Podd\napiVersion: v1\nmetadata: {name: a}\n", "did you mean Pod?"),
        ("", "no objects in the input"),
        ("[1, 2", "line 1"),
        ("a: &a [*a]", "anchor &a contains itself"),
    ],
)
def test_wrong_input_is_told_on_standard_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    code, out, err = run(capsys, "-f", str(path))
    assert (code, out) == (2, "")
    assert err.startswith("podium: ")
    assert told in err
    assert "Traceback" not in err


def test_a_wrong_option_has_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "--sed", "1")
    assert code == 2
    assert "--seed" in err


def test_no_input_has_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys)
    assert code == 2
    assert "give files, directories or - with -f" in err


def test_warnings_are_notes(capsys: pytest.CaptureFixture[str], write: Any) -> None:
    path = write(NODE, pod("a", nodeSelecter={}))
    code, out, _ = run(capsys, "-f", path, "--validation", "warn")
    assert code == 0
    assert 'unknown field "spec.nodeSelecter"; did you mean nodeSelector?' in " ".join(out.split())


def test_limit_ranges_and_runtime_classes_decide_where_pods_go(
    capsys: pytest.CaptureFixture[str], write: Any
) -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "3"}}]},
    }
    kata = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "2"}},
    }
    bare = [pod(name) for name in ("a", "b")]
    for each in bare:
        del each["spec"]["containers"][0]["resources"]
    heavy = pod("c", runtimeClassName="kata")

    code, out, _ = run(capsys, "-f", write(NODE, limits, kata, *bare, heavy), "-o", "json")

    assert code == 1
    found = json.loads(out)
    placed = {each["name"]: each["node"] for each in found["pods"]}
    assert placed == {"a": "n1", "b": None, "c": None}
    assert not any("LimitRange" in note or "RuntimeClass" in note for note in found["notes"])
    code, _, err = run(capsys, "-f", write(NODE, heavy))
    assert code == 2
    assert 'RuntimeClass "kata" not found; add the RuntimeClass to the input' in err
    stored = {**NODE, "metadata": {**NODE["metadata"], "resourceVersion": "1"}}
    code, out, _ = run(capsys, "-f", write(stored, heavy))
    assert code == 0
    assert "RuntimeClass kata is not in the input" in out
    refusing = {**limits, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "500m"}}]}}
    code, _, err = run(capsys, "-f", write(NODE, refusing, pod("d")))
    assert code == 2
    assert "maximum cpu usage per Pod is 500m" in err


def test_kinds_that_are_passed_over_are_noted(
    capsys: pytest.CaptureFixture[str], write: Any
) -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    _, out, _ = run(capsys, "-f", write(NODE, config_map))
    assert "not read, since scheduling does not depend on them: ConfigMap (1)" in out


@pytest.mark.parametrize(
    ("configuration", "told"),
    [
        ("nonsense: true\n", "Object 'Kind' is missing"),
        (None, "cannot be read"),
        ("kind: KubeSchedulerConfiguration\n", "Object 'apiVersion' is missing"),
    ],
)
def test_a_wrong_configuration_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, configuration: str | None, told: str
) -> None:
    path = tmp_path / "scheduler.yaml"
    if configuration is not None:
        path.write_text(configuration)
    code, _, err = run(capsys, "-f", CLUSTER, "--config", str(path))
    assert code == 2
    assert told in err


def test_a_bug_is_loud_and_the_other_pods_are_placed(
    capsys: pytest.CaptureFixture[str], write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile_of = Engine.profile_of

    def crash(self: Engine, tried: Pod) -> Any:
        if tried.metadata.name == "bad":
            raise RuntimeError("oh no")
        return profile_of(self, tried)

    monkeypatch.setattr(Engine, "profile_of", crash)
    code, out, err = run(capsys, "-f", write(NODE, pod("bad"), pod("good")))
    assert code == 70
    assert "1 placed, 1 failed" in out
    assert "a bug met pod default/bad" in err
    assert "RuntimeError: oh no" in err


def test_the_command_runs_as_a_process_and_reads_standard_input() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "podium", "simulate", "-f", CLUSTER, "-f", "-", "-o", "json"],
        input=Path(PODS).read_bytes(),
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 1, done.stderr.decode()
    assert json.loads(done.stdout)["summary"]["placed"] == 11
