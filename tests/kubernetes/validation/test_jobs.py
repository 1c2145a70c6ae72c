"""Jobs and the schedules that make them."""

from typing import Any

import pytest
from support.apiserver.api_calls import STRATEGIC, Api
from support.apiserver.smallest_objects import problems_of
from support.apiserver.written_objects import NOW, Object

BATCH = "batch"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
SUSPENDED = [{"type": "Suspended", "status": "True"}]


@pytest.mark.parametrize(
    ("kind", "fields", "problems"),
    [
        pytest.param(
            ("Job", BATCH),
            {
                "spec": {
                    "parallelism": -1,
                    "completions": -1,
                    "backoffLimit": -1,
                    "activeDeadlineSeconds": -1,
                    "ttlSecondsAfterFinished": -1,
                }
            },
            [
                "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
                "spec.completions: Invalid value: -1: must be greater than or equal to 0",
                (
                    "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal "
                    "to 0"
                ),
                "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
                (
                    "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or "
                    "equal to 0"
                ),
            ],
            id="negative numbers",
        ),
        pytest.param(
            ("Job", BATCH),
            {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [{"name": "c", "image": "i"}],
                            "restartPolicy": "Always",
                        }
                    }
                }
            },
            [
                (
                    'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", '
                    '"Never"'
                )
            ],
            id="pods that never end",
        ),
        pytest.param(
            ("Job", BATCH),
            {"spec": {"completionMode": "X"}},
            [
                (
                    'spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", '
                    '"Indexed"'
                )
            ],
            id="a mode",
        ),
        pytest.param(
            ("Job", BATCH),
            {"spec": {"completionMode": "Indexed", "completions": None, "parallelism": 2}},
            ["spec.completions: Required value: when completion mode is Indexed"],
            id="indexes without a count",
        ),
        pytest.param(
            ("Job", BATCH),
            {"spec": {"manualSelector": True}},
            [
                "spec.selector: Required value",
                (
                    "spec.template.metadata.labels: Invalid value: null: `selector` does not match "
                    "template `labels`"
                ),
            ],
            id="no selector",
        ),
        pytest.param(
            ("Job", BATCH),
            {"spec": {"backoffLimitPerIndex": 1, "maxFailedIndexes": 3}},
            [
                "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
                "spec.maxFailedIndexes: Invalid value: 3: requires indexed completion mode",
            ],
            id="limits of indexes",
        ),
        pytest.param(
            ("Job", BATCH),
            {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
            [
                (
                    "spec.selector: Invalid value: "
                    '{"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"8d7f9a3e-0000-400'
                    '0-8000-000000000000"}}: `selector` not auto-generated'
                ),
                (
                    "spec.template.metadata.labels: Invalid value: "
                    '{"batch.kubernetes.io/controller-uid":"8d7f9a3e-0000-4000-8000-000000000000","b'
                    'atch.kubernetes.io/job-name":"a","controller-uid":"8d7f9a3e-0000-4000-8000-0000'
                    '00000000","job-name":"a"}: `selector` does not match template `labels`'
                ),
            ],
            id="a selector of its own",
        ),
        pytest.param(
            ("CronJob", BATCH),
            {
                "spec": {
                    "schedule": "x",
                    "concurrencyPolicy": "Y",
                    "successfulJobsHistoryLimit": -1,
                    "startingDeadlineSeconds": -1,
                }
            },
            [
                'spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]',
                (
                    "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or "
                    "equal to 0"
                ),
                (
                    'spec.concurrencyPolicy: Unsupported value: "Y": supported values: "Allow", '
                    '"Forbid", "Replace"'
                ),
                (
                    "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or "
                    "equal to 0"
                ),
            ],
            id="a schedule",
        ),
        pytest.param(
            ("CronJob", BATCH),
            {"spec": {"schedule": "TZ=UTC * * * * *", "timeZone": "Nowhere/x"}},
            [
                (
                    'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in '
                    "schedule, use timeZone field instead"
                ),
                'spec.timeZone: Invalid value: "Nowhere/x": unknown time zone Nowhere/x',
            ],
            id="a time zone in the schedule",
        ),
        pytest.param(
            ("CronJob", BATCH),
            {"metadata": {"name": "a" * 53}},
            [
                (
                    "metadata.name: Invalid value: "
                    '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": must be no more than '
                    "52 characters"
                )
            ],
            id="a long name",
        ),
    ],
)
def test_jobs_are_well_formed(kind: tuple[str, ...], fields: Any, problems: list[str]) -> None:
    assert problems_of(*kind, **fields) == problems


@pytest.mark.parametrize(
    ("status", "code"),
    [
        pytest.param({}, 200, id="not started"),
        pytest.param({"startTime": NOW}, 422, id="started, not yet suspended"),
        pytest.param({"startTime": NOW, "conditions": SUSPENDED}, 200, id="suspended again"),
        pytest.param(
            {"startTime": NOW, "conditions": SUSPENDED, "active": 1}, 422, id="a pod is left"
        ),
    ],
)
@pytest.mark.parametrize(
    "change",
    [
        {"nodeSelector": {"disk": "ssd"}},
        {"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
    ],
    ids=["placement", "resources"],
)
def test_a_suspended_job_may_get_other_resources_and_nodes(
    status: Object, code: int, change: Object
) -> None:
    api = Api()
    template = {"spec": {"containers": [{"name": "main", "image": "i"}], "restartPolicy": "Never"}}
    api.create(JOBS, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": template}})
    api.patch(f"{JOBS}/j/status", {"status": status})
    patch = {"spec": {"template": {"spec": change}}}
    assert api.ask("PATCH", f"{JOBS}/j", patch, content_type=STRATEGIC).status == code
