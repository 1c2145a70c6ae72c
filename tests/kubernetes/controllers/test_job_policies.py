"""Rules of jobs about failed pods and about enough successes: the first that matches decides."""

import msgspec
import pytest
from support.simulated.controller_objects import condition, pod

from podium.kubernetes.controllers.job_policies import (
    PodFailurePolicy,
    SuccessPolicy,
    match_failure,
    match_success,
    read_indexes,
)
from podium.kubernetes.controllers.pods import Pod


def failed(exit_code: int, *, container: str = "c") -> Pod:
    ended = {"name": container, "state": {"terminated": {"exitCode": exit_code}}}
    return pod("a", "Failed", status={"containerStatuses": [ended]})


def failure_policy(*rules: object) -> PodFailurePolicy:
    return msgspec.convert({"rules": rules}, PodFailurePolicy)


def success_policy(*rules: object) -> SuccessPolicy:
    return msgspec.convert({"rules": rules}, SuccessPolicy)


def exit_codes(action: str, operator: str, *values: int, **more: object) -> object:
    return {"action": action, "onExitCodes": {"operator": operator, "values": values, **more}}


def test_the_first_rule_that_matches_the_exit_code_decides() -> None:
    policy = failure_policy(
        exit_codes("Ignore", "In", 42), exit_codes("FailJob", "NotIn", 1), exit_codes("Count", "In")
    )
    assert not match_failure(policy, failed(42)).counts
    match = match_failure(policy, failed(7))
    assert (match.action, match.counts) == ("FailJob", True)
    told = "Container c for pod ns/a failed with exit code 7 matching FailJob rule at index 1"
    assert match.message == told
    assert match_failure(policy, failed(1)).action == ""
    assert match_failure(policy, failed(0)).action == ""
    assert match_failure(None, failed(42)).counts


def test_a_rule_may_be_about_one_container_only() -> None:
    policy = failure_policy(exit_codes("FailIndex", "In", 1, containerName="main"))
    assert match_failure(policy, failed(1)).action == ""
    assert match_failure(policy, failed(1, container="main")).action == "FailIndex"


def test_conditions_of_pods_are_matched_by_type_and_status() -> None:
    pattern = {"type": "DisruptionTarget", "status": "True"}
    policy = failure_policy({"action": "FailJob", "onPodConditions": [pattern]})
    evicted = pod("a", "Failed", status={"conditions": [condition("DisruptionTarget")]})
    told = "Pod ns/a has condition DisruptionTarget matching FailJob rule at index 0"
    assert match_failure(policy, evicted).message == told
    assert match_failure(policy, failed(1)).action == ""


@pytest.mark.parametrize(
    ("rule", "succeeded", "is_met"),
    [
        ({"succeededIndexes": "0,2-3"}, {0, 2}, False),
        ({"succeededIndexes": "0,2-3"}, {0, 1, 2, 3}, True),
        ({"succeededIndexes": "0,2-3", "succeededCount": 2}, {1, 3}, False),
        ({"succeededIndexes": "0,2-3", "succeededCount": 2}, {0, 3}, True),
        ({"succeededCount": 2}, {4, 1}, True),
        ({"succeededCount": 2}, {4}, False),
        ({"succeededIndexes": "7"}, {1, 2}, False),
    ],
)
def test_enough_successes_are_those_that_a_rule_asks_for(
    rule: object, succeeded: set[int], is_met: bool
) -> None:
    told = match_success(success_policy({"succeededCount": 9}, rule), 5, succeeded)
    assert told == ("Matched rules at index 1" if is_met else None)


def test_no_rule_is_met_before_the_first_success() -> None:
    assert match_success(success_policy({"succeededCount": 0}), 5, set()) is None
    assert match_success(None, 5, {1}) is None


def test_ranges_end_at_the_limit_however_long_they_are() -> None:
    assert read_indexes("1,3-2147483647", 6) == {1, 3, 4, 5}
