"""CapacityScheduling where pod groups preempt as a whole (the gate WorkloadAwarePreemption)."""

from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import EXAMPLES, Raw, podium, priority_class, writer

CONFIG = str(EXAMPLES / "scheduler-plugins" / "capacity-scheduling.yaml")
GATES = "GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true"


def node(cpu: str = "8") -> Raw:
    status = {"allocatable": {"cpu": cpu, "memory": "32Gi", "pods": 110}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status}


def quota(namespace: str, least: str, most: str = "8") -> Raw:
    bounds = {"min": {"cpu": least, "memory": "32Gi"}, "max": {"cpu": most, "memory": "32Gi"}}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "quota", "namespace": namespace},
        "spec": bounds,
    }


def pod(namespace: str, name: str, cpu: str = "2", **spec: Any) -> Raw:
    containers = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]
    status = {"status": {"phase": "Running"}} if "nodeName" in spec else {}
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
        **status,
    }


def gang(namespace: str, size: int, priority: int) -> list[Raw]:
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": namespace},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": size}},
            "priorityClassName": f"at-{priority}",
        },
    }
    named: Any = {
        "schedulingGroup": {"podGroupName": "gang"},
        "priorityClassName": f"at-{priority}",
    }
    return [group, *(pod(namespace, f"gang-{n}", **named) for n in range(size))]


def evicted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *objects: Raw
) -> tuple[list[str], list[str]]:
    """(who left, which members of the gang have a node)"""
    named = {
        str(each["spec"]["priorityClassName"])
        for each in objects
        if "priorityClassName" in each.get("spec", {})
    }
    classes = [priority_class(name, int(name.removeprefix("at-"))) for name in sorted(named)]
    files = writer(tmp_path)(*classes, *objects)
    arguments = ("simulate", "-f", files, "--config", CONFIG, "-o", "json")
    found = podium(capsys, *arguments, "--feature-gates", GATES).decoded()
    left = sorted(each["pod"] for each in found["evictions"])
    return left, sorted(each["name"] for each in found["pods"] if each["node"])


def running(namespace: str, count: int, priority: int) -> list[Raw]:
    return [
        pod(namespace, f"{namespace}-{n}", nodeName="n", priorityClassName=f"at-{priority}")
        for n in range(count)
    ]


def test_a_gang_within_its_minimum_takes_back_what_was_borrowed_whatever_the_priorities(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    quotas = [quota("team", "4"), quota("lender", "4")]
    left, placed = evicted(
        capsys, tmp_path, node(), *quotas, *running("lender", 4, 50), *gang("team", 2, 1)
    )
    assert len(left) == 2
    assert all(name.startswith("lender/") for name in left)
    assert placed == ["gang-0", "gang-1"]


def test_a_gang_beyond_its_minimum_leaves_what_others_are_guaranteed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    quotas = [quota("team", "2"), quota("lender", "6")]
    others = running("lender", 3, 0)
    left, placed = evicted(capsys, tmp_path, node("6"), *quotas, *others, *gang("team", 2, 100))
    assert (left, placed) == ([], [])


def test_a_gang_without_a_quota_leaves_pods_alone_that_have_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    others = [*running("lender", 2, 0), *running("free", 2, 0)]
    left, placed = evicted(
        capsys, tmp_path, node(), quota("lender", "8"), *others, *gang("team", 2, 100)
    )
    assert left == ["free/free-0", "free/free-1"]
    assert placed == ["gang-0", "gang-1"]
