"""What pods ask for and are limited to, as `/metrics/resources` shows it."""

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import NANO_PER_UNIT
from podium.live.resource_metrics import pod_limits, resource_pieces
from podium.testing import make_pod


def text(*pods: Pod) -> str:
    return b"".join(resource_pieces(pods)).decode()


def amounts(pod: Pod, metric: str = "kube_pod_resource_request") -> dict[str, float]:
    """Resource and unit -> number."""
    return {
        f"{sample.labels['resource']} {sample.labels['unit']}".strip(): sample.value
        for family in text_string_to_metric_families(text(pod))
        for sample in family.samples
        if sample.name == metric
    }


def container(name: str = "c", **resources: Any) -> dict[str, Any]:
    always = {"restartPolicy": "Always"} if resources.pop("sidecar", False) else {}
    return {"name": name, "resources": resources, **always}


def test_a_pod_has_a_series_for_each_resource() -> None:
    pod = make_pod("web", node="n1", priority=7, requests={"cpu": "100m", "memory": "1Gi"})
    assert text(pod) == (
        "# HELP kube_pod_resource_request [STABLE] Resources requested by workloads on the "
        "cluster, broken down by pod. This shows the resource usage the scheduler and kubelet "
        "expect per pod for resources along with the unit for the resource if any.\n"
        "# TYPE kube_pod_resource_request gauge\n"
        'kube_pod_resource_request{namespace="default",node="n1",pod="web",priority="7",'
        'resource="cpu",scheduler="default-scheduler",unit="cores"} 0.1\n'
        'kube_pod_resource_request{namespace="default",node="n1",pod="web",priority="7",'
        'resource="memory",scheduler="default-scheduler",unit="bytes"} 1.073741824e+09\n'
    )


def test_a_pod_without_priority_says_so() -> None:
    assert 'priority="",' in text(make_pod("web", requests={"cpu": 1}))


def test_units_are_by_resource() -> None:
    asked = {
        "cpu": "1",
        "memory": "1",
        "ephemeral-storage": "1",
        "hugepages-2Mi": "1",
        "attachable-volumes-csi": "1",
        "example.com/gpu": "1",
    }
    assert set(amounts(make_pod("p", requests=asked))) == {
        "cpu cores",
        "memory bytes",
        "ephemeral-storage bytes",
        "hugepages-2Mi bytes",
        "attachable-volumes-csi integer",
        "example.com/gpu",
    }


def test_what_is_zero_is_left_out() -> None:
    assert text(make_pod("p", requests={"cpu": "0"})) == ""


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pods_that_have_ended_are_left_out(phase: str) -> None:
    ended = make_pod("p", node="n1", requests={"cpu": 1}, status={"phase": phase})
    assert text(ended) == ""
    # upstream: one that was never on a node cannot have ended
    odd = make_pod("p", requests={"cpu": 1}, status={"phase": phase})
    assert text(odd) != ""


def test_names_are_escaped() -> None:
    pod = make_pod("p", requests={"cpu": 1}, schedulerName='my "own"\\')
    (family, *_) = text_string_to_metric_families(text(pod))
    assert family.samples[0].labels["scheduler"] == 'my "own"\\'


def test_the_worked_example() -> None:
    pod = make_pod(
        "p",
        containers=[container(requests={"cpu": "100m"}, limits={"cpu": "1", "memory": "1Gi"})],
        initContainers=[container("s", sidecar=True, limits={"cpu": "500m"})],
        overhead={"cpu": "50m", "memory": "10Mi"},
    )
    assert amounts(pod) == {"cpu cores": 0.15, "memory bytes": 10 << 20}
    limits = amounts(pod, "kube_pod_resource_limit")
    assert limits == {"cpu cores": 1.55, "memory bytes": 1034 << 20}


def test_limits_of_starting_containers_count_if_they_are_higher() -> None:
    pod = make_pod(
        "p",
        containers=[container(limits={"cpu": "1"})],
        initContainers=[
            container("s", sidecar=True, limits={"cpu": "1"}),
            container("i", limits={"cpu": "2", "memory": "1"}),
        ],
    )
    assert pod_limits(pod) == {"cpu": 3 * NANO_PER_UNIT, "memory": NANO_PER_UNIT}


def test_limits_of_the_pod_replace_those_of_its_containers() -> None:
    pod = make_pod(
        "p",
        containers=[container(limits={"cpu": "1", "example.com/gpu": "1"})],
        resources={"limits": {"cpu": "4"}},
    )
    assert pod_limits(pod) == {"cpu": 4 * NANO_PER_UNIT, "example.com/gpu": NANO_PER_UNIT}


def test_overhead_alone_is_no_limit() -> None:
    assert pod_limits(make_pod("p", overhead={"cpu": "1"})) == {}


def test_requests_come_before_limits_and_in_pieces() -> None:
    pods = [
        make_pod(f"p{i}", containers=[container(requests={"cpu": 1}, limits={"cpu": 2})])
        for i in range(500)
    ]
    pieces = list(resource_pieces(pods))
    assert len(pieces) == 6
    kinds = [b"_limit{" in piece for piece in pieces]
    assert kinds == [False] * 3 + [True] * 3
    assert sum(piece.count(b"# TYPE") for piece in pieces) == 2
