"""Objects as old texts print them, read by `podium simulate` and `explain`."""

from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import Raw, Write, node, pod, podium, writer
from support.commands.old_spellings import placements, warnings

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
PRIORITY_CLASS = {
    "apiVersion": "v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high-priority"},
    "value": 1000000,
    "globalDefault": False,
    "description": "This priority class should be used for XYZ service pods only.",
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def zoned(name: str, zone: str) -> Raw:
    return node(name, labels={ZONE: zone, "kubernetes.io/hostname": name})


def test_a_priority_class_may_be_of_the_version_that_articles_print(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    small = node("n1", cpu="1")
    files = write(PRIORITY_CLASS, small, pod("low"), pod("high", priorityClassName="high-priority"))
    done = podium(capsys, "simulate", files, "-o", "json")
    assert placements(done) == {"high": "n1", "low": None}
    (warning,) = warnings(done)
    assert warning.endswith("apiVersion: PriorityClass is not in v1; write scheduling.k8s.io/v1")
    done = podium(capsys, "simulate", files, "--strict")
    assert done.code == 2
    assert "PriorityClass is not in v1" in done.err


def test_an_old_topology_key_finds_nodes_with_the_label_of_today(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    term = {"labelSelector": {"matchLabels": {"security": "S1"}}, "topologyKey": OLD_ZONE}
    near: dict[str, Any] = {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }
    first = pod("first", nodeName="b")
    first["metadata"]["labels"] = {"security": "S1"}
    files = write(zoned("a", "east"), zoned("b", "west"), first, pod("near", affinity=near))
    done = podium(capsys, "simulate", files, "-o", "json")
    assert placements(done)["near"] == "b"
    (warning,) = warnings(done)
    assert warning.endswith(f"{OLD_ZONE} is an old spelling; write {ZONE}")
    assert podium(capsys, "explain", "near", "-f", files).code == 0
    assert podium(capsys, "simulate", files, "--strict").code == 2


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {OLD_ZONE: "west"}},
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": OLD_ZONE, "operator": "In", "values": ["west"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ],
)
def test_an_old_label_chooses_nodes(
    write: Write, capsys: pytest.CaptureFixture[str], spec: Raw
) -> None:
    files = write(zoned("a", "east"), zoned("b", "west"), pod("p", **spec))
    done = podium(capsys, "simulate", files, "-o", "json")
    assert placements(done) == {"p": "b"}
    assert len(warnings(done)) == 1


def test_what_a_cluster_has_stored_means_what_it_means_there(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = zoned("a", "east")
    stored["metadata"]["resourceVersion"] = "7"
    waiting = pod("p", nodeSelector={OLD_ZONE: "east"})
    waiting["metadata"]["resourceVersion"] = "8"
    done = podium(capsys, "simulate", write(stored, waiting), "-o", "json")
    assert placements(done) == {"p": None}
    assert not warnings(done)


def test_taints_of_alpha_releases_are_those_of_today(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "node.alpha.kubernetes.io/unreachable"
    lost = node("n1")
    lost["spec"] = {"taints": [{"key": key, "effect": "NoSchedule"}]}
    today = [{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}]
    old = [{"key": key, "operator": "Exists"}]
    files = write(lost, pod("none"), pod("today", tolerations=today), pod("old", tolerations=old))
    done = podium(capsys, "simulate", files, "-o", "json")
    assert placements(done) == {"none": None, "today": "n1", "old": "n1"}
    assert len(warnings(done)) == 2


def test_the_annotation_of_critical_pods_gives_them_their_class(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    critical = pod("critical")
    critical["metadata"] |= {
        "namespace": "kube-system",
        "annotations": {"scheduler.alpha.kubernetes.io/critical-pod": ""},
    }
    other = pod("other")
    other["metadata"]["annotations"] = critical["metadata"]["annotations"]
    done = podium(capsys, "simulate", write(node("n1", cpu="1"), other, critical), "-o", "json")
    assert placements(done) == {"critical": "n1", "other": None}
    assert len(warnings(done)) == 2


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
def test_a_claim_may_be_wrapped_in_a_source(
    write: Write, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    wrapped = {"name": "gpu-resource", "source": {"resourceClaimName": "my-gpu-claim"}}
    workload = pod("gpu-workload", resourceClaims=[wrapped])
    workload["spec"]["containers"][0]["resources"] = {"claims": [{"name": "gpu-resource"}]}
    if kind == "Deployment":
        labels = {"app": "gpu"}
        template = {"metadata": {"labels": labels}, "spec": workload["spec"]}
        workload = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "gpu-workload"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
    group = {"apiVersion": "resource.k8s.io/v1"}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    pool = {"name": "n2", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "nodeName": "n2", "pool": pool, "devices": [{"name": "g"}]}
    files = write(
        node("n1"),
        node("n2"),
        {**group, "kind": "DeviceClass", "metadata": {"name": "gpu"}},
        {**group, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec},
        {
            **group,
            "kind": "ResourceClaim",
            "metadata": {"name": "my-gpu-claim"},
            "spec": {"devices": {"requests": [request]}},
        },
        workload,
    )
    done = podium(capsys, "simulate", files, "-o", "json")
    assert list(placements(done).values()) == ["n2"]
    (warning,) = warnings(done)
    assert warning.endswith(
        "is the form of Kubernetes 1.26 to 1.30; write resourceClaimName without it"
    )
    assert podium(capsys, "simulate", files, "--strict").code == 2
