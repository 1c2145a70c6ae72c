"""Priorities of pods, from classes and from nothing."""

from typing import Any

import pytest
from support.apiserver.written_objects import Object, Shelf, pod_written, resource_of

from podium.kubernetes.admission import SYSTEM_CLASSES
from podium.kubernetes.status_errors import StatusError

POD = resource_of("Pod")
CLASS = resource_of("PriorityClass", "scheduling.k8s.io")


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    shelf.add_namespace("ns")
    for each in SYSTEM_CLASSES:
        shelf.put(CLASS, dict(each))
    return shelf


def add_class(shelf: Shelf, name: str, value: int, **fields: Any) -> None:
    shelf.create(CLASS, "", {"metadata": {"name": name}, "value": value, **fields})


def admitted(shelf: Shelf, **spec: Any) -> Object:
    found: Object = shelf.create(POD, "ns", pod_written("p", **spec))["spec"]
    return found


def refusal(shelf: Shelf, **spec: Any) -> str:
    with pytest.raises(StatusError) as caught:
        admitted(shelf, **spec)
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    return caught.value.message


def test_a_pod_without_a_class_has_priority_zero(shelf: Shelf) -> None:
    spec = admitted(shelf)
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert "priorityClassName" not in spec


def test_a_pod_has_value_and_policy_of_its_class(shelf: Shelf) -> None:
    add_class(shelf, "calm", 500, preemptionPolicy="Never")
    spec = admitted(shelf, priorityClassName="calm")
    assert (spec["priority"], spec["preemptionPolicy"]) == (500, "Never")


def test_a_pod_without_a_class_gets_the_default_one(shelf: Shelf) -> None:
    add_class(shelf, "usual", 10, globalDefault=True)
    spec = admitted(shelf)
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 10)


def test_of_several_default_classes_the_lowest_counts(shelf: Shelf) -> None:
    for name, value in (("high", 20), ("low", 5)):
        shelf.put(CLASS, {"metadata": {"name": name}, "value": value, "globalDefault": True})
    assert admitted(shelf)["priorityClassName"] == "low"


@pytest.mark.parametrize("each", SYSTEM_CLASSES, ids=lambda each: each["metadata"]["name"])
def test_system_classes_are_there(shelf: Shelf, each: Any) -> None:
    spec = admitted(shelf, priorityClassName=each["metadata"]["name"])
    assert spec["priority"] == each["value"]


def test_a_class_that_does_not_exist_is_refused(shelf: Shelf) -> None:
    assert refusal(shelf, priorityClassName="nope") == (
        'pods "p" is forbidden: no PriorityClass with name nope was found'
    )


def test_a_pod_may_repeat_its_priority_but_not_choose_another(shelf: Shelf) -> None:
    add_class(shelf, "calm", 500, preemptionPolicy="Never")
    assert admitted(shelf, priorityClassName="calm", priority=500)["priority"] == 500
    assert "(7) must not be provided in pod spec" in refusal(shelf, priority=7)
    told = refusal(shelf, priorityClassName="calm", preemptionPolicy="PreemptLowerPriority")
    assert told.endswith("computed Never from the given PriorityClass name")


def test_an_update_that_leaves_the_priority_out_keeps_it(shelf: Shelf) -> None:
    add_class(shelf, "calm", 500)
    pod = shelf.create(POD, "ns", pod_written("p", priorityClassName="calm"))
    change = {"spec": {"priority": None, "preemptionPolicy": None}}
    new = shelf.patch(POD, "", pod, change)
    assert new["spec"] == pod["spec"]


def test_a_second_default_class_is_refused(shelf: Shelf) -> None:
    add_class(shelf, "usual", 10, globalDefault=True)
    with pytest.raises(StatusError, match="PriorityClass usual is already marked as default"):
        add_class(shelf, "other", 10, globalDefault=True)
    stored = shelf.find("scheduling.k8s.io", "priorityclasses", "", "usual")
    assert stored is not None
    shelf.patch(CLASS, "", stored, {"description": "still the default"})
