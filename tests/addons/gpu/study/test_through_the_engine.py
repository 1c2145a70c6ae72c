"""A run of the study through the scheduler's own engine: GPUShare and the policy's plugin place
every pod where the study's loop does."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from podium.addons.gpu.packing.policies import POLICIES
from podium.addons.gpu.packing.typical_pods import EqualPods, find_typical
from podium.addons.gpu.study.numpy_engine import NO_NODE, place
from podium.addons.gpu.study.traces import read_trace
from podium.addons.gpu.study.workloads import (
    StudyWorkload,
    make_workload,
    nodes_in_order,
    pod_manifests,
)
from podium.commands import main

TRACE = Path(__file__).parents[4] / "examples" / "study"
FILES = ("--nodes", str(TRACE / "nodes.csv"), "--pods", str(TRACE / "mixed.csv"))
DEMAND = 105


def stream_is_typical(workload: StudyWorkload) -> StudyWorkload:
    """Schedulers know the pods of the run, and not those of the trace that it was drawn from."""
    trace, pods = workload.trace, workload.trace.pods
    columns = (pods.cpu_milli.tolist(), pods.gpu_milli.tolist(), pods.gpus.tolist(), pods.specs)
    groups = list(map(EqualPods, *columns))
    counts = Counter(groups[number] for number in workload.stream.tolist())
    masks = {spec: trace.nodes.mask(spec) for spec in set(pods.specs)}
    return replace(workload, typical=find_typical(counts, masks, trace.nodes.capacity))


def cards_text(mask: int) -> str:
    numbers = [str(at) for at in range(16) if mask >> at & 1]
    return "" if not numbers else f"card{'s' * (len(numbers) > 1)} {', '.join(numbers)}"


@pytest.mark.parametrize("policy", [each for each in POLICIES if each != "Random"])
def test_pods_go_where_the_study_places_them(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path)
    options = ("--policy", policy, "--seed", "3", "--demand", str(DEMAND))
    assert main(["study", "manifests", run, *FILES, *options]) == 0
    capsys.readouterr()
    files = ["-f", f"{run}/nodes.json", "-f", f"{run}/pods.json"]
    assert main(["simulate", *files, "--config", f"{run}/scheduler.json", "-o", "json"]) == 1
    shown = {pod["name"]: pod for pod in json.loads(capsys.readouterr().out)["pods"]}

    trace = read_trace("mixed", TRACE / "nodes.csv", TRACE / "mixed.csv")
    workload = stream_is_typical(make_workload(trace, 3, DEMAND / 100))
    names = nodes_in_order(workload).names
    placements = place(workload, POLICIES[policy])
    expected = {
        pod["metadata"]["name"]: (names[row], cards_text(devices)) if row != NO_NODE else None
        for pod, row, devices in zip(
            pod_manifests(workload), placements.rows, placements.devices.tolist(), strict=True
        )
    }
    found = {
        name: (pod["node"], pod["reserved"] or "") if pod["outcome"] == "placed" else None
        for name, pod in shown.items()
    }
    assert found == expected


def test_shares_that_are_no_hundredths_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pods = tmp_path / "pods.csv"
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1,1,333\n")
    nodes = str(TRACE / "nodes.csv")
    assert main(["study", "manifests", str(tmp_path), "--nodes", nodes, "--pods", str(pods)]) == 2
    assert "333 thousandths of a GPU are no hundredths" in capsys.readouterr().err
