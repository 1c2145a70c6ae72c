"""The kinds of the group `batch`."""

from typing import Final

from podium.kubernetes.defaulting import workloads as defaults
from podium.kubernetes.kinds.record import (
    Kind,
    Validation,
    WriteStrategy,
    gated_spec_fields,
    read_text,
)
from podium.kubernetes.strategy import workloads as strategy
from podium.kubernetes.tables import workloads as tables
from podium.kubernetes.validation import jobs
from podium.kubernetes.warnings.workloads import about_workload

_GROUP: Final = "batch"
_CRON_TEMPLATE: Final = ("spec", "jobTemplate", "spec", "template")
_ORPHANS: Final = (
    "child pods are preserved by default when jobs are deleted; set"
    " propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress"
    " this warning"
)

KINDS: Final = (
    Kind(
        _GROUP,
        "CronJob",
        "cronjobs",
        ("cj",),
        description="Starts jobs at set times.",
        categories=("all",),
        has_status=True,
        gated_fields=tuple(gated_spec_fields(*_CRON_TEMPLATE, "spec")),
        defaults=defaults.set_cron_job_defaults,
        validation=Validation(
            jobs.cron_create_errors, jobs.cron_update_errors, jobs.cron_status_errors
        ),
        strategy=WriteStrategy(empty_status={}, counted=("spec",)),
        printer=tables.CRON_JOB,
        warnings=about_workload(_CRON_TEMPLATE, names_pods=True),
    ),
    Kind(
        _GROUP,
        "Job",
        "jobs",
        description="Runs pods until enough of them have finished.",
        categories=("all",),
        has_status=True,
        gated_fields=tuple(gated_spec_fields("spec", "template", "spec")),
        defaults=defaults.set_job_defaults,
        validation=Validation(jobs.create_errors, jobs.update_errors, jobs.status_errors),
        strategy=WriteStrategy(
            empty_status={},
            counted=("spec",),
            null_list=("spec", "podFailurePolicy", "rules"),
            create=strategy.prepare_job,
        ),
        printer=tables.JOB,
        warnings=about_workload(names_pods=True, orphans=_ORPHANS),
        selectable_fields={"status.successful": read_text("status.succeeded", "0")},
        selector_refusal='field label "{field}" not supported for Job',
    ),
)
