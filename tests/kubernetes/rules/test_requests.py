"""Pod requests: the walk over containers, resizes, pod-level requests and defaults."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import milli_value, value
from podium.kubernetes.rules.requests import (
    ALL_REQUESTS,
    RequestRules,
    allocatable_vector,
    is_extended,
    is_scalar,
    nonzero_requests,
    pod_requests,
    scoring_requests,
    to_vector,
)

MI = 2**20
GI = 2**30

Amounts = dict[str, Any]


def asks(**requests: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests}}


def pod(*containers: dict[str, Any], status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    spec["containers"] = list(containers)
    return msgspec.convert({"spec": spec, "status": status or {}}, Pod)


def vector(given: Pod, *, status_resources: bool = False) -> dict[str, int]:
    return to_vector(pod_requests(given, status_resources=status_resources, rules=ALL_REQUESTS))


def test_sidecars_init_containers_and_overhead_add_up() -> None:
    given = pod(
        asks(cpu="1", memory="1Gi"),
        asks(cpu="500m"),
        initContainers=[
            asks(cpu="2"),
            asks(cpu="300m", memory="100Mi") | {"restartPolicy": "Always"},
            asks(cpu="1500m", memory="2Gi"),
        ],
        overhead={"cpu": "50m", "memory": "10Mi"},
    )
    assert vector(given) == {"cpu": 2050, "memory": 2262827008}


def test_an_init_container_before_a_sidecar_does_not_carry_it() -> None:
    sidecar = asks(cpu="300m") | {"restartPolicy": "Always"}
    assert vector(pod(initContainers=[asks(cpu="1"), sidecar])) == {"cpu": 1000}
    assert vector(pod(initContainers=[sidecar, asks(cpu="1")])) == {"cpu": 1300}
    assert vector(pod(initContainers=[sidecar, sidecar])) == {"cpu": 600}


def test_rounding_happens_once_per_pod() -> None:
    assert vector(pod(asks(cpu="0.4m"), asks(cpu="0.4m"))) == {"cpu": 1}


def test_absent_names_stay_absent_and_zero_stays_zero() -> None:
    assert vector(pod(asks(cpu="0"), {"name": "d"})) == {"cpu": 0}
    assert vector(Pod()) == {}


def test_overhead_creates_missing_names() -> None:
    assert vector(pod(asks(cpu="1"), overhead={"memory": "1Mi"})) == {"cpu": 1000, "memory": MI}


def test_names_the_scheduler_does_not_know_are_dropped() -> None:
    requests = {
        "example.com/gpu": 2,
        "hugepages-2Mi": "4Mi",
        "ephemeral-storage": "1k",
        "pods": 3,
        "bananas": 1,
    }
    counted = {"example.com/gpu": 2, "hugepages-2Mi": 4 * MI, "ephemeral-storage": 1000}
    nanos = pod_requests(pod(asks(**requests)), status_resources=False, rules=ALL_REQUESTS)
    assert to_vector(nanos) == counted
    assert to_vector(nanos, include_pods=True) == {**counted, "pods": 3}


def test_pod_level_requests_replace_what_they_name() -> None:
    given = pod(
        asks(cpu="2", memory="1Gi"),
        resources={"requests": {"cpu": "1", "hugepages-2Mi": "2Mi", "example.com/gpu": 1}},
        overhead={"cpu": "100m"},
    )
    assert vector(given) == {"cpu": 1100, "memory": GI, "hugepages-2Mi": 2 * MI}
    skipped = pod_requests(given, status_resources=False, rules=RequestRules(pod_level=False))
    assert to_vector(skipped) == {"cpu": 2100, "memory": GI}


def test_pod_level_requests_without_a_supported_name_are_ignored() -> None:
    given = pod(asks(cpu="2"), resources={"requests": {"ephemeral-storage": "1Gi"}})
    assert vector(given) == {"cpu": 2000}
    assert vector(pod(asks(cpu="2"), resources={"limits": {"cpu": "1"}})) == {"cpu": 2000}


def resized(
    actuated: Amounts | None, allocated: Amounts | None, reason: str = "Deferred"
) -> dict[str, Any]:
    status: dict[str, Any] = {"name": "c", "allocatedResources": allocated}
    if actuated is not None:
        status["resources"] = {"requests": actuated}
    return {
        "containerStatuses": [status],
        "conditions": [
            {"type": "Ready", "reason": "Infeasible"},
            {"type": "PodResizePending", "reason": reason},
            {"type": "PodResizePending", "reason": "Infeasible"},
        ],
    }


def test_a_resize_counts_with_the_largest_amount_per_name() -> None:
    given = pod(
        asks(cpu="1", memory="1Gi"),
        status=resized({"cpu": "2", "memory": "512Mi"}, {"cpu": "500m", "memory": "2Gi"}),
    )
    assert vector(given) == {"cpu": 1000, "memory": GI}
    assert vector(given, status_resources=True) == {"cpu": 2000, "memory": 2 * GI}


def test_an_infeasible_resize_leaves_out_what_was_asked_for() -> None:
    given = pod(asks(cpu="9"), status=resized({"cpu": "2"}, {"cpu": "1"}, reason="Infeasible"))
    assert vector(given, status_resources=True) == {"cpu": 2000}


def test_a_status_without_resources_does_not_count() -> None:
    given = pod(asks(cpu="1"), status=resized(None, {"cpu": "5"}))
    assert vector(given, status_resources=True) == {"cpu": 1000}


def test_sidecars_can_be_resized_and_ordinary_init_containers_cannot() -> None:
    grown = {"name": "i", "resources": {"requests": {"cpu": "4"}}}
    init = {"name": "i", "resources": {"requests": {"cpu": "1"}}}
    status = {"initContainerStatuses": [grown]}
    plain = pod(initContainers=[init], status=status)
    sidecar = pod(initContainers=[init | {"restartPolicy": "Always"}], status=status)
    assert vector(plain, status_resources=True) == {"cpu": 1000}
    assert vector(sidecar, status_resources=True) == {"cpu": 4000}


def pod_resized(reason: str = "") -> Pod:
    return pod(
        asks(cpu="100m", memory="1Gi"),
        resources={"requests": {"cpu": "500m", "hugepages-2Mi": "64Mi"}},
        status={
            "resources": {"requests": {"cpu": "700m", "memory": "3Gi"}},
            "allocatedResources": {"cpu": "900m"},
            "conditions": [{"type": "PodResizePending", "reason": reason}],
        },
    )


def test_pod_level_resizes_count_for_names_in_the_spec_only() -> None:
    assert vector(pod_resized()) == {"cpu": 500, "memory": GI, "hugepages-2Mi": 64 * MI}
    assert vector(pod_resized(), status_resources=True) == {
        "cpu": 900,
        "memory": GI,
        "hugepages-2Mi": 64 * MI,
    }


def test_an_infeasible_pod_level_resize_leaves_nothing_of_a_new_name() -> None:
    assert vector(pod_resized("Infeasible"), status_resources=True) == {
        "cpu": 900,
        "memory": GI,
        "hugepages-2Mi": 0,
    }


def test_containers_without_requests_count_defaults_in_scoring() -> None:
    given = pod(asks(cpu="1"), {"name": "d"}, asks(cpu="0", memory="0"))
    assert nonzero_requests(given, ALL_REQUESTS) == (1100, 400 * MI)
    assert scoring_requests(given) == {"cpu": 1100, "memory": 400 * MI}


def test_defaults_reach_sidecars_and_init_containers() -> None:
    sidecar = {"name": "s", "restartPolicy": "Always"}
    assert nonzero_requests(pod({"name": "c"}, initContainers=[sidecar]), ALL_REQUESTS) == (
        200,
        400 * MI,
    )
    assert nonzero_requests(pod({"name": "c"}, initContainers=[{"name": "i"}]), ALL_REQUESTS) == (
        100,
        200 * MI,
    )
    assert nonzero_requests(pod(initContainers=[sidecar, {"name": "i"}]), ALL_REQUESTS) == (
        200,
        400 * MI,
    )


def test_with_pod_level_requests_defaults_fill_only_what_the_total_lacks() -> None:
    given = pod(
        asks(cpu="1"),
        {"name": "d"},
        resources={"requests": {"cpu": "3"}},
        overhead={"cpu": "100m"},
    )
    assert vector(given, status_resources=True) == {"cpu": 3100}
    assert nonzero_requests(given, ALL_REQUESTS) == (3100, 419430400)


def test_one_container_with_memory_is_enough_when_pod_level_requests_are_set() -> None:
    given = pod(asks(memory="1Gi"), {"name": "d"}, resources={"requests": {"cpu": "3"}})
    assert nonzero_requests(given, ALL_REQUESTS) == (3000, GI)


def test_scoring_of_a_pending_pod_ignores_pod_level_requests_and_resizes() -> None:
    given = pod(
        asks(cpu="1"),
        resources={"requests": {"cpu": "3"}},
        status=resized({"cpu": "7"}, None),
        overhead={"cpu": "10m", "example.com/gpu": 1},
    )
    assert scoring_requests(given) == {"cpu": 1010, "memory": 200 * MI, "example.com/gpu": 1}


def test_allocatable_counts_what_nodes_offer() -> None:
    assert allocatable_vector(
        {
            "cpu": "1.5",
            "memory": "1Gi",
            "pods": "110",
            "ephemeral-storage": "1k",
            "nvidia.com/gpu": 2,
            "attachable-volumes-aws-ebs": 39,
            "bananas": 3,
        }
    ) == {
        "cpu": 1500,
        "memory": GI,
        "pods": 110,
        "ephemeral-storage": 1000,
        "nvidia.com/gpu": 2,
        "attachable-volumes-aws-ebs": 39,
    }


def test_a_node_that_does_not_say_takes_no_pods() -> None:
    assert allocatable_vector(None) == {"pods": 0}


@pytest.mark.parametrize(
    ("name", "scalar", "extended"),
    [
        ("nvidia.com/gpu", True, True),
        ("hugepages-1Gi", True, False),
        ("example.kubernetes.io/thing", True, False),
        ("kubernetes.io/batch-cpu", True, False),
        ("attachable-volumes-csi-x", True, False),
        ("cpu", False, False),
        ("bananas", False, False),
        ("requests.example.com/gpu", False, False),
        ("a/b/c", False, False),
        ("Bad_Domain/gpu", False, False),
        ("example.com/-x", False, False),
        (f"{'a' * 245}/gpu", False, False),
    ],
)
def test_resource_names_are_sorted_into_kinds(name: str, scalar: bool, extended: bool) -> None:
    assert (is_scalar(name), is_extended(name)) == (scalar, extended)


quantities = st.sampled_from(["0", "1m", "0.4m", "100m", "1", "1.5", "1Ki", "3Mi", "2G", 7])
resource_lists = st.dictionaries(
    st.sampled_from(["cpu", "memory", "example.com/gpu"]), quantities, max_size=3
)


@given(resource_lists)
def test_a_single_container_asks_for_exactly_what_it_says(requests: Amounts) -> None:
    assert vector(pod(asks(**requests))) == {
        name: milli_value(quantity) if name == "cpu" else value(quantity)
        for name, quantity in requests.items()
    }


@given(st.lists(resource_lists, max_size=3), st.lists(resource_lists, max_size=3))
def test_a_pod_never_asks_for_less_than_its_containers_or_any_init_container(
    containers: list[Amounts], inits: list[Amounts]
) -> None:
    total = pod_requests(
        pod(*(asks(**c) for c in containers), initContainers=[asks(**i) for i in inits]),
        status_resources=False,
        rules=ALL_REQUESTS,
    )
    alone = [
        pod_requests(
            pod(*(asks(**c) for c in containers)), status_resources=False, rules=ALL_REQUESTS
        )
    ]
    alone += [
        pod_requests(pod(asks(**i)), status_resources=False, rules=ALL_REQUESTS) for i in inits
    ]
    for part in alone:
        assert all(total[name] >= amount for name, amount in part.items())
    assert total == {name: max(part.get(name, 0) for part in alone) for name in total}
