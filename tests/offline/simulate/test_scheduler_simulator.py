"""kube-scheduler-simulator: its exports are read, its annotations written and compared."""

import json
from pathlib import Path
from typing import Any

import pytest

from podium.commands import main
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.input_files import Problems
from podium.offline.simulate.inputs import Inputs, read_inputs

PREFIX = "kube-scheduler-simulator.sigs.k8s.io/"
KEYS = {
    *("prefilter-result-status", "prefilter-result", "filter-result", "postfilter-result"),
    *("prescore-result", "score-result", "finalscore-result", "reserve-result", "permit-result"),
    *("permit-result-timeout", "prebind-result", "bind-result", "selected-node", "result-history"),
}


def node(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": room}}


def pod(name: str, cpu: str = "1", **annotations: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": "app", "resources": resources}]},
    }


TAINTED = node("c", taints=[{"key": "x", "effect": "NoSchedule"}])
EXPORT: dict[str, Any] = {
    "pods": [pod("small"), pod("large", "9")],
    "nodes": [node("a"), node("b", "8"), TAINTED],
    "pvs": None,
    "pvcs": [],
    "storageClasses": [{"metadata": {"name": "fast"}, "provisioner": "x"}],
    "priorityClasses": [{"metadata": {"name": "high"}, "value": 5}],
    "namespaces": [{"metadata": {"name": "default"}}],
    "schedulerConfig": {"parallelism": 16},
}


@pytest.fixture
def export(tmp_path: Path) -> Any:
    def write(**changes: Any) -> str:
        path = tmp_path / "export.json"
        path.write_text(json.dumps({**EXPORT, **changes}))
        return str(path)

    return write


def read(path: str) -> Inputs:
    problems = Problems()
    inputs = read_inputs([path], gates=FeatureGates(), problems=problems)
    problems.raise_if_any()
    return inputs


def annotated(path: str, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Annotations by pod, without the prefix and decoded."""
    target = tmp_path / "annotated.json"
    assert main(["simulate", "-f", path, "--annotate", str(target)]) in (0, 1)
    items = json.loads(target.read_text())["items"]
    return {item["metadata"]["name"]: _decoded(item["metadata"]["annotations"]) for item in items}


def _decoded(annotations: dict[str, str]) -> dict[str, Any]:
    found = {key.removeprefix(PREFIX): value for key, value in annotations.items()}
    return {k: v if k == "selected-node" else json.loads(v) for k, v in found.items()}


def test_all_kinds_of_an_export_are_read(export: Any) -> None:
    inputs = read(export())
    kinds = [(item.value.kind, item.value.name) for item in inputs.items]
    assert kinds == [
        *(("Namespace", "default"), ("PriorityClass", "high"), ("StorageClass", "fast")),
        *(("Node", "a"), ("Node", "b"), ("Node", "c"), ("Pod", "small"), ("Pod", "large")),
    ]
    assert "schedulerConfig is not used" in inputs.warnings[0]


def test_what_is_wrong_in_an_export_is_told_with_its_place(export: Any) -> None:
    wrong = pod("x")
    wrong["spec"]["nodename"] = "a"
    told = (
        r'export\.json: pods\[0\]\.spec\.nodename: Pod in version .* unknown field "spec.nodename"'
    )
    with pytest.raises(InputError, match=told):
        read(export(pods=[wrong]))


def test_annotations_have_the_keys_and_shapes_of_the_simulator(export: Any, tmp_path: Path) -> None:
    found = annotated(export(), tmp_path)
    small = found["small"]
    assert small.keys() == KEYS
    assert small["selected-node"] == "b"
    assert small["filter-result"]["a"]["NodeResourcesFit"] == "passed"
    assert small["filter-result"]["c"] == {
        "NodeName": "passed",
        "NodeUnschedulable": "passed",
        "TaintToleration": "node(s) had untolerated taint(s)",
    }
    assert small["prefilter-result-status"]["NodeResourcesFit"] == "success"
    assert small["prefilter-result-status"]["NodePorts"] == ""
    assert small["score-result"]["a"]["TaintToleration"] == "0"
    assert small["finalscore-result"]["a"]["TaintToleration"] == "300"
    assert small["score-result"].keys() == {"a", "b"}
    assert small["bind-result"] == {"DefaultBinder": "success"}
    assert small["reserve-result"]["VolumeBinding"] == "success"
    large = found["large"]
    assert large["selected-node"] == ""
    assert large["filter-result"]["b"]["NodeResourcesFit"] == "Insufficient cpu"
    assert large["postfilter-result"].keys() == {"a", "b", "c"}
    assert large["score-result"] == large["bind-result"] == {}


def test_the_history_has_an_entry_an_attempt_and_goes_on_from_that_of_before(
    export: Any, tmp_path: Path
) -> None:
    before = {f"{PREFIX}result-history": json.dumps([{f"{PREFIX}selected-node": "z"}])}
    found = annotated(export(pods=[pod("small", **before)]), tmp_path)["small"]
    history = found["result-history"]
    assert [entry[f"{PREFIX}selected-node"] for entry in history] == ["z", "b"]
    assert json.loads(history[1][f"{PREFIX}filter-result"]) == found["filter-result"]
    assert history[1].keys() == {PREFIX + key for key in KEYS - {"result-history"}}


def test_a_preempted_node_is_named_as_the_simulator_names_it(export: Any, tmp_path: Path) -> None:
    runs = pod("runs", "3")
    runs["spec"]["nodeName"] = "a"
    high = pod("high", "3")
    high["spec"]["priorityClassName"] = "high"
    found = annotated(export(pods=[runs, high], nodes=[node("a")]), tmp_path)["high"]
    first = json.loads(found["result-history"][0][f"{PREFIX}postfilter-result"])
    assert first == {"a": {"DefaultPreemption": "preemption victim"}}
    assert found["selected-node"] == "a"


def test_decisions_that_agree_are_counted_and_those_that_differ_are_told(
    export: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    annotated(export(), tmp_path)
    brought = json.loads((tmp_path / "annotated.json").read_text())["items"]
    for item in brought:
        item["spec"].pop("nodeName", None)
    capsys.readouterr()
    main(["simulate", "-f", export(pods=brought)])
    assert "kube-scheduler-simulator decided 2 of 2 pods in the same way" in capsys.readouterr().out
    main(["explain", "small", "-f", export(pods=brought, nodes=[node("a", "8"), node("c")])])
    told = capsys.readouterr().out
    assert "decided 0 of 1 pod in the same way" in told
    assert "kube-scheduler-simulator on default/small: it selected b; here it is a" in told
    assert "c passed the filters here, not there" in told
    assert "NodeResourcesFit gave other scores there to a (" in told


def test_annotations_that_cannot_be_read_say_nothing(
    export: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = pod("small", **{f"{PREFIX}filter-result": "{", f"{PREFIX}result-history": "5"})
    assert main(["simulate", "-f", export(pods=[broken])]) == 0
    assert "decided 1 of 1 pod in the same way" in capsys.readouterr().out
