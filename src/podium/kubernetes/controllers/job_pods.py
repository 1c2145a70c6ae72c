"""The pods of a job: how many run at once, the marks that they carry, and their indexes."""

from collections.abc import Collection, Iterable
from itertools import count, islice
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import OwnerKind
from podium.kubernetes.controllers.pod_templates import pod_from_template
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import Job

JOB: Final = OwnerKind("batch/v1", "Job")
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"


def wanted_pods(job: Job, succeeded: int, active: int | None = None) -> int:
    """How many pods are to run; `active` run already, None if that does not matter.

    upstream: without completions no pod is added once one has succeeded.
    """
    parallelism = job.spec.parallelism
    wanted = 1 if parallelism is None else parallelism
    if job.spec.completions is not None:
        wanted = min(wanted, job.spec.completions - succeeded)
    elif succeeded and active is not None:
        wanted = min(wanted, active)
    return max(wanted, 0)


def job_pod(
    job: Job,
    index: int | None,
    *,
    finalizers: list[str],
    annotations: dict[str, str] | None = None,
) -> JsonObject:
    """A pod of a job; `index` is None unless the job is indexed."""
    template = job.spec.template
    if index is None:
        return pod_from_template(JOB, job.metadata, template, finalizers=finalizers)
    mark = {COMPLETION_INDEX: str(index)}
    pod = pod_from_template(
        JOB,
        job.metadata,
        template,
        labels=mark,
        annotations={**(annotations or {}), **mark},
        finalizers=finalizers,
        spec=_tell_index(template.spec) | {"hostname": f"{job.name}-{index}"},
    )
    pod["metadata"]["generateName"] = f"{job.name}-{index}-"
    return pod


def _tell_index(spec: JsonObject) -> JsonObject:
    """A template's spec whose containers can read the index of their pod."""
    told = dict(spec)
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            told[kind] = [_with_index(each) for each in spec[kind]]
    return told


def _with_index(container: JsonObject) -> JsonObject:
    variables = container.get("env") or ()
    if any(each.get("name") == _INDEX_VARIABLE for each in variables):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    return {**container, "env": [*variables, {"name": _INDEX_VARIABLE, "valueFrom": source}]}


def index_of(pod: Pod) -> int | None:
    text = pod.metadata.annotation(COMPLETION_INDEX)
    return int(text) if text.isdecimal() else None


def indexes_of(pods: Iterable[Pod]) -> set[int]:
    return {index for pod in pods if (index := index_of(pod)) is not None}


def free(taken: Collection[int], completions: int, wanted: int) -> list[int]:
    """The first indexes that are neither done nor being worked on."""
    below = (index for index in count() if index not in taken)
    return [index for index in islice(below, max(wanted, 0)) if index < completions]
