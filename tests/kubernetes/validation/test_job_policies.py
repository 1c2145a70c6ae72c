"""Jobs that say which failures and which successes end them."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of

TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}


def told(**spec: Any) -> list[str]:
    return problems_of("Job", "batch", spec={"template": TEMPLATE, **spec})


def indexed(**spec: Any) -> list[str]:
    return told(completionMode="Indexed", completions=3, **spec)


@pytest.mark.parametrize(
    ("rule", "problems"),
    [
        ({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1, 3]}}, []),
        ({"action": "Ignore", "onPodConditions": [{"type": "a/B", "status": "True"}]}, []),
        (
            {},
            [
                '.action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
                ": Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            ],
        ),
        (
            {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [0, 0]}},
            [
                '.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
                ".onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
                ".onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator",
                ".onExitCodes.values[1]: Duplicate value: 0",
            ],
        ),
        (
            {
                "action": "Count",
                "onExitCodes": {"operator": "Is", "containerName": "z", "values": [2, 1]},
                "onPodConditions": [{"type": "X", "status": "Maybe"}],
            },
            [
                '.onExitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
                '.onExitCodes.containerName: Invalid value: "z": must be one of the container or '
                "initContainer names in the pod template",
                ".onExitCodes.values: Invalid value: [2,1]: must be ordered",
                '.onPodConditions[0].status: Unsupported value: "Maybe": supported values: '
                '"False", "True", "Unknown"',
                ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported",
            ],
        ),
    ],
)
def test_a_rule_about_failures_is_about_codes_or_conditions(
    rule: dict[str, Any], problems: list[str]
) -> None:
    found = told(podFailurePolicy={"rules": [rule]}, podReplacementPolicy="Failed")

    assert found == [f"spec.podFailurePolicy.rules[0]{each}" for each in problems]


@pytest.mark.parametrize(
    ("rule", "problems"),
    [
        ({"succeededIndexes": "0,2"}, []),
        ({"succeededIndexes": "0-1", "succeededCount": 2}, []),
        (
            {},
            [
                ": Required value: at least one of succeededCount or succeededIndexes must be "
                "specified"
            ],
        ),
        (
            {"succeededIndexes": "2-1"},
            [
                '.succeededIndexes: Invalid value: "2-1": error parsing succeededIndexes: '
                "non-increasing order, previous: 2, current: 1"
            ],
        ),
        (
            {"succeededIndexes": "0-9", "succeededCount": 4},
            [
                '.succeededIndexes: Invalid value: "0-9": error parsing succeededIndexes: too '
                'large index: "9"',
                ".succeededCount: Invalid value: 4: must be less than or equal to 3 (the number of "
                "specified completions)",
                ".succeededCount: Invalid value: 4: must be less than or equal to 0 (the number of "
                "indexes in the specified succeededIndexes field)",
            ],
        ),
    ],
)
def test_a_rule_about_successes_names_indexes_that_there_are(
    rule: dict[str, Any], problems: list[str]
) -> None:
    found = indexed(successPolicy={"rules": [rule]})

    assert found == [f"spec.successPolicy.rules[0]{each}" for each in problems]


def test_successes_count_only_where_pods_have_indexes() -> None:
    assert told(successPolicy={"rules": [{"succeededCount": 1}]}) == [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]'
        "}: requires indexed completion mode"
    ]
    assert indexed(successPolicy={"rules": []}) == [
        "spec.successPolicy.rules: Required value: at least one rules must be specified when the "
        "successPolicy is specified"
    ]


def test_no_more_indexes_may_fail_than_there_are() -> None:
    assert indexed(backoffLimitPerIndex=1, maxFailedIndexes=4) == [
        "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"
    ]


def test_another_controller_has_a_domain() -> None:
    assert told(managedBy="example.com/mine") == []
    assert told(managedBy="mine") == [
        'spec.managedBy: Invalid value: "mine": must be a domain-prefixed path '
        '(such as "acme.io/foo")'
    ]
