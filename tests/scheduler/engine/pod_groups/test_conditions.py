"""PodGroupScheduled: when it is written, and when it is left alone."""

from typing import Any

import pytest
from support.scheduler.engine.group_driver import GENERIC, GroupDriver, make_group, member, node

from podium.scheduler.engine.pod_groups.group_cycle import condition_patch
from podium.scheduler.framework.status import Status, error, unresolvable, unschedulable


def held(status: str, reason: str, message: str = "", generation: int = 1) -> dict[str, Any]:
    return {
        "type": "PodGroupScheduled",
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": generation,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (None, ("True", "Scheduled", "")),
        (unschedulable("a", "b"), ("False", "Unschedulable", "a, b")),
        (unresolvable("never"), ("False", "Unschedulable", "never")),
        (error("boom"), ("False", "SchedulerError", "boom")),
    ],
)
def test_each_outcome_has_its_condition(status: Status | None, told: tuple[str, str, str]) -> None:
    patch = condition_patch(make_group(generation=7), status)
    assert patch is not None
    wanted = patch.condition
    assert (wanted.type, wanted.status, wanted.reason, wanted.message) == (
        "PodGroupScheduled",
        *told,
    )
    assert wanted.observed_generation == 7


@pytest.mark.parametrize("status", [unschedulable("no"), error("boom")])
def test_a_group_that_was_scheduled_stays_so(status: Status) -> None:
    group = make_group(conditions=[held("True", "Scheduled")])
    assert condition_patch(group, status) is None


@pytest.mark.parametrize(
    ("condition", "writes"),
    [
        (held("False", "Unschedulable", "no"), False),
        (held("False", "Unschedulable", "other"), True),
        (held("False", "SchedulerError", "no"), True),
        (held("Unknown", "Unschedulable", "no"), True),
        (held("False", "Unschedulable", "no", generation=2), True),
        ({**held("True", "Scheduled"), "type": "DisruptionTarget"}, True),
    ],
)
def test_only_a_difference_is_written(condition: dict[str, Any], writes: bool) -> None:
    group = make_group(conditions=[condition])
    assert (condition_patch(group, unschedulable("no")) is not None) is writes


def test_scheduled_again_is_no_news_unless_the_generation_is() -> None:
    assert condition_patch(make_group(conditions=[held("True", "Scheduled")]), None) is None
    newer = make_group(conditions=[held("True", "Scheduled")], generation=2)
    assert condition_patch(newer, None) is not None


def test_a_group_without_an_object_is_told_nothing() -> None:
    driver = GroupDriver(node("a"), gates=GENERIC)
    driver.put(member("p"))
    driver.run()
    assert driver.where() == {"p": "binding"}
    assert driver.group_patches == []


def test_later_members_that_do_not_fit_leave_the_condition_alone() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p"))
    driver.run()
    driver.put(make_group(conditions=[held("True", "Scheduled")]))
    driver.group_patches.clear()
    driver.put(member("q"))
    driver.run()
    assert driver.told()["q"][0] == "Unschedulable"
    assert driver.group_patches == []
