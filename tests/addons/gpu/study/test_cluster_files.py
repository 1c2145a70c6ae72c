"""Traces from nodes and pods as kubectl prints them."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.addons.gpu.study.traces import Trace, read_trace
from podium.addons.gpu.study.workloads import make_workload, node_manifests, pod_manifests
from podium.commands import main
from podium.golang.errors import InputError

STUDY = Path(__file__).parents[4] / "examples" / "study"


def dump(path: Path, *objects: Any) -> Path:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def node(name: str, cards: int, model: str) -> Any:
    room = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": str(cards)}
    labels = {"nvidia.com/gpu.product": model}
    status = {"allocatable": room}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}} | {
        "status": status
    }


def pod(name: str, *, owner: str = "", **limits: str) -> Any:
    metadata: dict[str, Any] = {"name": name, "namespace": "default"}
    if owner:
        made_by = {"apiVersion": "v1", "kind": owner, "name": "o", "uid": "u", "controller": True}
        metadata["ownerReferences"] = [made_by]
    named = {key.replace("gpu", "nvidia.com/gpu"): value for key, value in limits.items()}
    container = {"name": "main", "image": "i", "resources": {"limits": named, "requests": named}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata} | {
        "spec": {"containers": [container]}
    }


def test_objects_of_a_trace_are_the_trace(tmp_path: Path) -> None:
    trace = read_trace("mixed", STUDY / "nodes.csv", STUDY / "mixed.csv")
    workload = make_workload(trace, 1, 0.5)
    both = dump(tmp_path / "both.json.gz", *node_manifests(workload), *pod_manifests(workload))
    found = read_trace("found", both, both)
    for column in ("cpu_milli", "memory_mib", "gpus", "model_bit"):
        assert np.array_equal(getattr(found.nodes, column), getattr(trace.nodes, column))
    assert found.nodes.names == trace.nodes.names
    assert pods_of(found, range(len(found.pods.names))) == pods_of(trace, workload.stream.tolist())


def pods_of(trace: Trace, rows: Any) -> list[tuple[int, ...]]:
    pods = trace.pods
    columns = zip(
        pods.cpu_milli, pods.memory_mib, pods.gpus, pods.gpu_milli, pods.specs, strict=True
    )
    every = [(*map(int, numbers), trace.nodes.mask(spec)) for *numbers, spec in columns]
    return sorted(every[row] for row in rows)


def test_without_a_dialect_cards_are_whole(tmp_path: Path) -> None:
    nodes = dump(tmp_path / "nodes.json", node("a", 8, "A100"), node("b", 0, ""))
    pods = dump(
        tmp_path / "pods.json",
        pod("two", cpu="2500m", memory="1Gi", gpu="2"),
        pod("none", cpu="1"),
        pod("agent", owner="DaemonSet", cpu="1"),
        pod("static", owner="Node", cpu="1"),
        {"apiVersion": "example.com/v1", "kind": "Other", "metadata": {"name": "x"}},
    )
    trace = read_trace("t", nodes, pods)
    assert (trace.nodes.gpus.tolist(), trace.nodes.models) == ([8, 0], ("A100",))
    assert trace.nodes.memory_mib.tolist() == [256 * 1024] * 2
    assert trace.pods.names == ("default/none", "default/two")
    assert trace.pods.cpu_milli.tolist() == [1000, 2500]
    assert trace.pods.demand_milli.tolist() == [0, 2000]


def test_too_many_cards_are_refused(tmp_path: Path) -> None:
    nodes = dump(tmp_path / "nodes.json", node("a", 17, "A100"))
    with pytest.raises(InputError, match="node a: 17 GPUs are more than 16"):
        read_trace("t", nodes, nodes)
    nodes = dump(tmp_path / "nodes.json", node("a", 8, "A100"))
    pods = dump(tmp_path / "pods.json", pod("many", gpu="17"))
    with pytest.raises(InputError, match="pod default/many: 17 GPUs are more than 16"):
        read_trace("t", nodes, pods)


def test_files_of_different_kinds_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pods = dump(tmp_path / "pods.json", pod("two", gpu="2"))
    words = ["--nodes", str(STUDY / "nodes.csv"), "--pods", str(pods), "--device", "numpy"]
    assert main(["study", "gpu-packing", *words, "--seeds", "1", "--jobs", "1"]) == 2
    assert "are of different kinds" in capsys.readouterr().err
