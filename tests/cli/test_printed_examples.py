"""Examples that articles explain in words: what they say happens, happens."""

from pathlib import Path
from typing import Any

import pytest
from support.cli.command_line import node, pod, podium, writer

ONE = {"key": "key1", "operator": "Equal", "value": "value1", "effect": "NoSchedule"}
TWO = {"key": "key1", "operator": "Equal", "value": "value1", "effect": "NoExecute"}
THREE = {"key": "key2", "operator": "Equal", "value": "value2", "effect": "NoSchedule"}


def placed(capsys: pytest.CaptureFixture[str], tmp_path: Path, *objects: dict[str, Any]) -> Any:
    done = podium(capsys, "simulate", writer(tmp_path)(*objects), "-o", "json")
    return {each["name"]: each["node"] for each in done.decoded()["pods"]}


def test_a_pod_has_to_tolerate_all_taints_of_a_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tainted = node("node1")
    tainted["spec"] = {
        "taints": [{k: each[k] for k in ("key", "value", "effect")} for each in (ONE, TWO, THREE)]
    }
    two_of_three = pod("two-of-three", tolerations=[ONE, TWO])
    all_three = pod("all", tolerations=[ONE, {**TWO, "tolerationSeconds": 600}, THREE])
    found = placed(capsys, tmp_path, tainted, two_of_three, all_three)
    assert found == {"two-of-three": None, "all": "node1"}


def test_of_the_nodes_that_filters_leave_the_one_with_the_highest_score_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def preferring(weight: int, name: str) -> dict[str, Any]:
        chosen = {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}
        return {"weight": weight, "preference": {"matchExpressions": [chosen]}}

    nodes = [
        node(name, cpu=cpu, labels={"kubernetes.io/hostname": name})
        for name, cpu in (("node-1", "4"), ("node-2", "4"), ("node-3", "500m"))
    ]
    terms = [preferring(2, "node-1"), preferring(5, "node-2"), preferring(100, "node-3")]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    assert placed(capsys, tmp_path, *nodes, pod("p", affinity=affinity)) == {"p": "node-2"}
