"""Kinds that make pods."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import Object

APPS = "apps"
CONTAINERS: Object = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE: Object = {"metadata": {"labels": {"app": "a"}}, "spec": CONTAINERS}
OTHER: Object = {"metadata": {"labels": {"app": "b"}}, "spec": CONTAINERS}


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Deployment", APPS),
            {"spec": {"template": OTHER}},
            [
                (
                    'spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does '
                    "not match template `labels`"
                )
            ],
            id="a selector of others",
        ),
        pytest.param(
            ("ReplicaSet", APPS),
            {"spec": {"selector": None}},
            [
                "spec.selector: Required value",
                (
                    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does '
                    "not match template `labels`"
                ),
            ],
            id="no selector",
        ),
        pytest.param(
            ("ReplicaSet", APPS),
            {"spec": {"selector": {}}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
            id="a selector of all",
        ),
        pytest.param(
            ("Deployment", APPS),
            {
                "spec": {
                    "replicas": -1,
                    "minReadySeconds": -1,
                    "revisionHistoryLimit": -1,
                    "progressDeadlineSeconds": 0,
                }
            },
            [
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
                (
                    "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal "
                    "to 0"
                ),
            ],
            id="negative numbers",
        ),
        pytest.param(
            ("Deployment", APPS),
            {"spec": {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}},
            [
                (
                    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy "
                    "`type` is 'Recreate'"
                )
            ],
            id="rolling and recreating",
        ),
        pytest.param(
            ("Deployment", APPS),
            {
                "spec": {
                    "strategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0},
                    }
                }
            },
            [
                (
                    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 "
                    "when `maxSurge` is 0"
                )
            ],
            id="no room to roll",
        ),
        pytest.param(
            ("Deployment", APPS),
            {"spec": {"strategy": {"rollingUpdate": {"maxSurge": "x", "maxUnavailable": "200%"}}}},
            [
                (
                    'spec.strategy.rollingUpdate.maxSurge: Invalid value: "x": a valid percent '
                    "string must be a numeric string followed by an ending '%'"
                ),
                (
                    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "200%": must not '
                    "be greater than 100%"
                ),
            ],
            id="shares",
        ),
        pytest.param(
            ("Deployment", APPS),
            {"spec": {"strategy": {"type": "X"}}},
            [
                (
                    'spec.strategy: Unsupported value: {"Type":"X","RollingUpdate":null}: '
                    'supported values: "Recreate", "RollingUpdate"'
                )
            ],
            id="a strategy",
        ),
        pytest.param(
            ("Deployment", APPS),
            {
                "spec": {
                    "template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
                }
            },
            [
                (
                    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported '
                    'values: "Always"'
                )
            ],
            id="pods that end",
        ),
        pytest.param(
            ("ReplicaSet", APPS),
            {
                "spec": {
                    "template": {
                        **TEMPLATE,
                        "spec": {**TEMPLATE["spec"], "activeDeadlineSeconds": 5},
                    }
                }
            },
            [
                (
                    "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in "
                    "ReplicaSet is not Supported"
                )
            ],
            id="pods with a deadline",
        ),
        pytest.param(
            ("Deployment", APPS),
            {"spec": {"template": {**TEMPLATE, "spec": {"containers": [{"name": "c"}]}}}},
            ["spec.template.spec.containers[0].image: Required value"],
            id="a template",
        ),
        pytest.param(
            ("StatefulSet", APPS),
            {
                "spec": {
                    "podManagementPolicy": "X",
                    "updateStrategy": {"type": "Y"},
                    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Z"},
                    "ordinals": {"start": -1},
                }
            },
            [
                (
                    "spec.podManagementPolicy: Invalid value: \"X\": must be 'OrderedReady' or "
                    "'Parallel'"
                ),
                (
                    'spec.updateStrategy: Invalid value: {"Type":"Y","RollingUpdate":null}: must '
                    "be 'RollingUpdate' or 'OnDelete'"
                ),
                (
                    "spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "
                    '"Z": supported values: "Retain", "Delete"'
                ),
                "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
            ],
            id="a stateful set",
        ),
        pytest.param(
            ("StatefulSet", APPS),
            {
                "spec": {
                    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}
                }
            },
            [
                (
                    "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be "
                    "greater than or equal to 0"
                )
            ],
            id="a partition",
        ),
        pytest.param(
            ("DaemonSet", APPS),
            {
                "spec": {
                    "updateStrategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0},
                    }
                }
            },
            [
                (
                    "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 "
                    "when maxSurge is 0"
                )
            ],
            id="a daemon set without room",
        ),
        pytest.param(
            ("DaemonSet", APPS),
            {
                "spec": {
                    "updateStrategy": {
                        "type": "RollingUpdate",
                        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1},
                    }
                }
            },
            [
                (
                    "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set "
                    "when maxUnavailable is non-zero"
                )
            ],
            id="a daemon set with two limits",
        ),
        pytest.param(
            ("ReplicationController",),
            {"spec": {"selector": {}, "replicas": -1}},
            ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
            id="a replication controller",
        ),
    ],
)
def test_sets_select_their_own_pods_and_roll_sensibly(
    kind: tuple[str, ...], fields: Any, problems: list[str]
) -> None:
    assert problems_of(*kind, **fields) == problems
