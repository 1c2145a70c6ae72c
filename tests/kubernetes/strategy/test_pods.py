"""What the server writes into pods and keeps of them."""

from typing import Any

import pytest
from support.apiserver.written_objects import Object, Shelf, pod_written, resource_of

from podium.kubernetes.rules.pod_level_resources import qos_class

POD = resource_of("Pod")


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    shelf.add_namespace("ns")
    return shelf


def created(shelf: Shelf, **spec: Any) -> Object:
    return shelf.create(POD, "ns", pod_written("p", {"labels": {"app": "a"}}, **spec))


def holding(**resources: Object) -> Object:
    return {"name": "c", "image": "i", "resources": resources}


BOTH = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": [holding()]}, "BestEffort"),
        ({"containers": [holding(requests={"cpu": "0"})]}, "BestEffort"),
        ({"containers": [holding(requests={"example.com/gpu": "1"})]}, "BestEffort"),
        ({"containers": [holding(requests={"cpu": "1"})]}, "Burstable"),
        ({"containers": [holding(limits=BOTH, requests=BOTH)]}, "Guaranteed"),
        (
            {"containers": [holding(limits=BOTH, requests={"cpu": "1000m", "memory": "1024Mi"})]},
            "Guaranteed",
        ),
        ({"containers": [holding(limits=BOTH, requests={"cpu": "1"})]}, "Burstable"),
        ({"containers": [holding(limits=BOTH, requests=BOTH), holding()]}, "Burstable"),
        (
            {
                "containers": [holding(limits=BOTH, requests=BOTH)],
                "initContainers": [holding(requests={"cpu": "1"})],
            },
            "Burstable",
        ),
        (
            {"resources": {"limits": BOTH, "requests": BOTH}, "containers": [holding()]},
            "Guaranteed",
        ),
    ],
)
def test_quality_of_service_follows_from_requests_and_limits(spec: Object, expected: str) -> None:
    assert qos_class(spec) == expected


def test_a_new_pod_is_pending_whatever_status_it_brings(shelf: Shelf) -> None:
    pod = shelf.create(POD, "ns", {**pod_written(), "status": {"phase": "Running"}})
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert pod["metadata"]["generation"] == 1


def test_a_gated_pod_says_that_it_waits(shelf: Shelf) -> None:
    (condition,) = created(shelf, schedulingGates=[{"name": "g"}])["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "False")
    assert condition["reason"] == "SchedulingGated"


@pytest.mark.parametrize(
    ("field", "operator"), [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")]
)
def test_label_keys_of_affinity_terms_become_part_of_the_selector(
    shelf: Shelf, field: str, operator: str
) -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"x": "y"}}, field: ["app"]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    pod = created(shelf, affinity={"podAntiAffinity": required})
    (kept,) = pod["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert kept["labelSelector"]["matchExpressions"] == [
        {"key": "app", "operator": operator, "values": ["a"]}
    ]


def test_label_keys_of_spread_constraints_become_part_of_the_selector(shelf: Shelf) -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["app", "absent"],
    }
    pod = created(shelf, topologySpreadConstraints=[constraint])
    assert pod["spec"]["topologySpreadConstraints"][0]["labelSelector"] == {
        "matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]
    }


def test_an_update_of_a_pod_leaves_its_status_alone(shelf: Shelf) -> None:
    pod = created(shelf)
    new = shelf.patch(POD, "", pod, {"status": {"phase": "Running"}})
    assert new["status"] == pod["status"]


def test_an_update_of_the_status_leaves_the_spec_and_the_owners_alone(shelf: Shelf) -> None:
    pod = created(shelf)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}
    change = {
        "metadata": {"ownerReferences": [owner]},
        "spec": {"schedulerName": "other"},
        "status": {"phase": "Running"},
    }
    new = shelf.patch(POD, "status", pod, change)
    assert new["spec"] == pod["spec"]
    assert "ownerReferences" not in new["metadata"]
    assert new["status"] == {"phase": "Running", "qosClass": "BestEffort"}


def test_generations_that_a_kubelet_has_seen_are_not_lost_to_older_clients(shelf: Shelf) -> None:
    pod = created(shelf)
    seen = {"type": "Ready", "status": "True", "observedGeneration": 1}
    pod = shelf.patch(POD, "status", pod, {"status": {"conditions": [seen]}})
    plain = {"type": "Ready", "status": "False"}
    new = shelf.patch(POD, "status", pod, {"status": {"conditions": [plain]}})
    assert new["status"]["conditions"][0]["observedGeneration"] == 1


def test_a_changed_spec_counts_the_generation_up(shelf: Shelf) -> None:
    pod = created(shelf)
    new = shelf.patch(POD, "", pod, {"spec": {"activeDeadlineSeconds": 5}})
    assert new["metadata"]["generation"] == 2
    assert (
        shelf.patch(POD, "", new, {"metadata": {"labels": {"x": "y"}}})["metadata"]["generation"]
        == 2
    )


def test_a_resize_changes_nothing_but_resources(shelf: Shelf) -> None:
    pod = created(shelf, containers=[holding(requests={"cpu": "1"})])
    container = holding(requests={"cpu": "2"}) | {"image": "other"}
    new = shelf.patch(POD, "resize", pod, {"spec": {"containers": [container]}})
    (kept,) = new["spec"]["containers"]
    assert (kept["image"], kept["resources"]) == ("i", {"requests": {"cpu": "2"}})
    assert new["metadata"]["generation"] == 2


def test_adding_an_ephemeral_container_changes_nothing_else(shelf: Shelf) -> None:
    pod = created(shelf)
    change = {
        "metadata": {"labels": {"x": "y"}},
        "spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox:1"}]},
    }
    new = shelf.patch(POD, "ephemeralcontainers", pod, change)
    assert new["metadata"]["labels"] == {"app": "a"}
    assert [each["name"] for each in new["spec"]["ephemeralContainers"]] == ["debug"]
    assert new["spec"]["containers"] == pod["spec"]["containers"]
