"""What admission fills in: priorities and storage classes."""

import pytest

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.kubernetes.rules.priorities import (
    PriorityConflict,
    default_priority_class,
    resolve_priority,
)
from podium.kubernetes.rules.storage_classes import default_storage_class

MARK = "storageclass.kubernetes.io/is-default-class"


def priority_class(name: str, value: int, *, is_default: bool = False) -> PriorityClass:
    metadata = ObjectMeta(name=name)
    return PriorityClass(metadata=metadata, value=value, global_default=is_default)


def test_the_class_decides_and_a_pod_may_repeat_it() -> None:
    high = priority_class("high", 10)
    assert resolve_priority(high, None, None) == (10, "PreemptLowerPriority")
    assert resolve_priority(high, 10, "PreemptLowerPriority").value == 10
    assert resolve_priority(None, None, None) == (0, "PreemptLowerPriority")


@pytest.mark.parametrize(
    ("written", "policy", "field"), [(7, None, "priority"), (None, "Never", "preemptionPolicy")]
)
def test_a_pod_may_not_say_something_else(
    written: int | None, policy: str | None, field: str
) -> None:
    with pytest.raises(PriorityConflict, match="must not be provided in pod spec") as raised:
        resolve_priority(priority_class("high", 10), written, policy)
    assert raised.value.field == field


def test_of_several_default_priority_classes_the_lowest_counts() -> None:
    classes = [priority_class(f"c{v}", v, is_default=v > 0) for v in (0, 5, 3)]
    found = default_priority_class(classes)
    assert found is not None
    assert found.name == "c3"
    assert default_priority_class(classes[:1]) is None


def storage(name: str, created: str | None, mark: str = "true") -> ObjectMeta:
    return ObjectMeta(name=name, creation_timestamp=created, annotations={MARK: mark})


def test_of_several_default_storage_classes_the_newest_counts_then_the_first_by_name() -> None:
    old, new = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
    classes = [storage("a", old), storage("c", new), storage("b", new), storage("0", new, "no")]
    assert default_storage_class(classes) == "b"
    assert default_storage_class([]) == ""
