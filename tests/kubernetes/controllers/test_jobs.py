"""How many pods of a job run at once, and their marks."""

from typing import Any

import msgspec
import pytest

from podium.kubernetes.controllers.job_pods import job_pod, wanted_pods
from podium.kubernetes.controllers.workloads import Job
from podium.kubernetes.strategy.workloads import job_labels

INDEX = "batch.kubernetes.io/job-completion-index"


def job(**spec: Any) -> Job:
    return msgspec.convert({"metadata": {"name": "once", "uid": "u"}, "spec": spec}, Job)


@pytest.mark.parametrize(
    ("spec", "succeeded", "active", "wanted"),
    [
        ({}, 0, 0, 1),
        ({"parallelism": 3, "completions": 2}, 0, 0, 2),
        ({"parallelism": 3, "completions": 9}, 4, 2, 3),
        ({"parallelism": 3, "completions": 9}, 8, 2, 1),
        ({"parallelism": 3, "completions": 2}, 4, 0, 0),
        ({"parallelism": 3}, 0, 2, 3),
        ({"parallelism": 3}, 1, 2, 2),
    ],
)
def test_no_more_pods_run_than_are_left_to_complete(
    spec: dict[str, Any], succeeded: int, active: int, wanted: int
) -> None:
    assert wanted_pods(job(**spec), succeeded, active) == wanted


def test_a_pod_of_an_indexed_job_says_its_index_thrice() -> None:
    template = {"metadata": {"labels": job_labels("once", "u")}}
    indexed = job(completionMode="Indexed", template=template)
    pod = job_pod(indexed, 4, finalizers=["batch.kubernetes.io/job-tracking"])
    assert pod["metadata"]["labels"][INDEX] == "4"
    assert pod["metadata"]["labels"]["job-name"] == "once"
    assert pod["metadata"]["annotations"] == {INDEX: "4"}
    assert pod["spec"]["hostname"] == "once-4"
    assert pod["metadata"]["generateName"] == "once-4-"
