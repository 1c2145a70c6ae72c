"""Jobs and cron jobs: pods that end.

What a cron job says of when it runs: a schedule that can be read, a time zone that exists.
"""

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podium.golang.json_values import JsonObject
from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.cron_schedule import ScheduleError, parse_schedule, split_zone
from podium.kubernetes.rules.field_errors import (
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.validation.field_values import check_domain_path, check_not_negative
from podium.kubernetes.validation.go_forms import go_form, go_map, go_selector
from podium.kubernetes.validation.job_policies import check_failure_policy, check_success_policy
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)
from podium.kubernetes.validation.pod_specs import check_matches, check_template, compile_selector
from podium.kubernetes.validation.selectors import check_label_selector

_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_STATUS_COUNTS: Final = ("active", "succeeded", "failed", "ready", "terminating")
_MODES: Final = ("NonIndexed", "Indexed")
_REPLACEMENT: Final = ("Failed", "TerminatingOrFailed")
_FIXED: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_CONCURRENCY: Final = ("Allow", "Forbid", "Replace")
_MAX_PARALLELISM: Final = 100_000
_MAX_CRON_NAME: Final = 52
_PLACEMENT: Final = ("affinity", "nodeSelector", "schedulingGates", "tolerations")
_MAX_MANAGED_BY: Final = 63
_UID_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_NAME_LABELS: Final = ("job-name", "batch.kubernetes.io/job-name")


def create_errors(job: JsonObject) -> Errors:
    metadata = meta_of(job)
    errors = built_in_meta_errors(metadata, True, subdomain_problems)
    spec: JsonObject = job.get("spec") or {}
    if not spec.get("manualSelector") and spec.get("selector") is not None:
        _check_generated_labels(errors, metadata, spec)
    _check_selected_spec(errors, spec)
    completions = spec.get("completions")
    if spec.get("completionMode") == "Indexed" and completions:
        longest = f"{metadata.get('name') or ''}-{completions - 1}"
        if label_problems(longest):
            detail = f"will not able to create pod with invalid DNS label: {longest}"
            errors.append(invalid("metadata.name", metadata.get("name") or "", detail))
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = create_errors(new)  # upstream: a changed job is checked like a new one as well
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    _check_selected_spec(errors, spec)
    completions = spec.get("completions")
    if completions != before.get("completions"):
        if spec.get("completionMode") != "Indexed":
            errors.append(immutable("spec.completions", completions))
        elif completions is not None and completions != spec.get("parallelism"):
            detail = "can only be modified in tandem with spec.parallelism"
            errors.append(invalid("spec.completions", completions, detail))
    if spec.get("selector") != before.get("selector"):
        errors.append(immutable("spec.selector", go_selector(spec.get("selector"))))
    template, earlier = spec.get("template") or {}, before.get("template") or {}
    if not _may_be_rescheduled(old):
        if template != earlier:
            shown = go_form("core", "PodTemplateSpec", template)
            errors.append(immutable("spec.template", shown))
    elif _fixed_part(template.get("spec") or {}) != _fixed_part(earlier.get("spec") or {}):
        shown = go_form("core", "PodSpec", template.get("spec"))
        errors.append(immutable("spec.template.spec", shown))
    for field in _FIXED:
        if spec.get(field) != before.get(field):
            errors.append(immutable(f"spec.{field}", spec.get(field)))
    return errors


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    """Pods are counted up, never down."""
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    before: JsonObject = old.get("status") or {}
    check_not_negative(errors, status, _STATUS_COUNTS, "status")
    for field in ("failed", "succeeded"):
        count = status.get(field) or 0
        if count < (before.get(field) or 0):
            errors.append(invalid(f"status.{field}", count, f"cannot decrease the {field} counter"))
    return errors


def _may_be_rescheduled(job: JsonObject) -> bool:
    """A suspended job without active pods may still change what they ask for and where they go.

    One that has started counts as suspended when its condition says so.
    """
    status: JsonObject = job.get("status") or {}
    if not (job.get("spec") or {}).get("suspend") or status.get("active"):
        return False
    return status.get("startTime") is None or any(
        condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )


def _fixed_part(spec: JsonObject) -> JsonObject:
    """What stays as it is even before a job starts: all but resources and where its pods go."""
    fixed = {name: value for name, value in spec.items() if name not in _PLACEMENT}
    affinity = {
        name: value
        for name, value in (spec.get("affinity") or {}).items()
        if name != "nodeAffinity"
    }
    if affinity:
        fixed["affinity"] = affinity
    for field in ("containers", "initContainers"):
        if spec.get(field):
            fixed[field] = [
                {name: value for name, value in container.items() if name != "resources"}
                for container in spec[field]
            ]
    return fixed


def _check_generated_labels(errors: Errors, metadata: JsonObject, spec: JsonObject) -> None:
    """The labels that tie pods to this job must not be somebody's own."""
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    uid, name = metadata.get("uid") or "", metadata.get("name") or ""
    pairs = zip(_UID_LABELS, _NAME_LABELS, strict=True)
    expected = {key: value for one, two in pairs for key, value in ((one, uid), (two, name))}
    for key, value in expected.items():
        at, detail = f"spec.template.metadata.labels[{key}]", f"must be '{value}'"
        if key not in labels:
            errors.append(required(at, detail))
        elif labels[key] != value:
            errors.append(invalid(at, go_map(labels), detail))
    selector = compile_selector(spec["selector"])
    if selector is not None and not selector.matches(expected):
        detail = "`selector` not auto-generated"
        errors.append(invalid("spec.selector", go_selector(spec["selector"]), detail))


def _check_selected_spec(errors: Errors, spec: JsonObject) -> None:
    _check_spec(errors, spec, "spec")
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    check_label_selector(errors, selector, "spec.selector")
    parsed = compile_selector(selector)
    if parsed is not None:
        check_matches(errors, parsed, spec.get("template") or {}, "spec.template")


def _check_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    check_not_negative(errors, spec, _COUNTS, path)
    per_index, failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    if failed is not None and per_index is None:
        detail = "when maxFailedIndexes is specified"
        errors.append(required(f"{path}.backoffLimitPerIndex", detail))
    if spec.get("managedBy") is not None:
        check_domain_path(errors, spec["managedBy"], f"{path}.managedBy")
        if len(spec["managedBy"]) > _MAX_MANAGED_BY:
            errors.append(too_long(f"{path}.managedBy", _MAX_MANAGED_BY))
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        errors.append(not_supported(f"{path}.completionMode", mode, _MODES))
    if mode == "Indexed":
        _check_indexed(errors, spec, path)
    elif mode in (None, "NonIndexed"):
        for field, value in (("backoffLimitPerIndex", per_index), ("maxFailedIndexes", failed)):
            if value is not None:
                detail = "requires indexed completion mode"
                errors.append(invalid(f"{path}.{field}", value, detail))
    if spec.get("podFailurePolicy") is not None:
        check_failure_policy(errors, spec, f"{path}.podFailurePolicy")
    if spec.get("successPolicy") is not None:
        at = f"{path}.successPolicy"
        if mode == "Indexed":
            check_success_policy(errors, spec, at)
        else:
            shown = go_form("batch", "SuccessPolicy", spec["successPolicy"])
            errors.append(invalid(at, shown, "requires indexed completion mode"))
    replacement = spec.get("podReplacementPolicy")
    choices = ("Failed",) if spec.get("podFailurePolicy") is not None else _REPLACEMENT
    if replacement is not None and replacement not in choices:
        errors.append(not_supported(f"{path}.podReplacementPolicy", replacement, choices))
    template: JsonObject = spec.get("template") or {}
    check_template(errors, template, f"{path}.template")
    _check_restart(errors, spec, template, f"{path}.template.spec.restartPolicy")


def _check_indexed(errors: Errors, spec: JsonObject, path: str) -> None:
    if spec.get("completions") is None:
        detail = "when completion mode is Indexed"
        errors.append(required(f"{path}.completions", detail))
    parallelism = spec.get("parallelism") or 0
    if parallelism > _MAX_PARALLELISM:
        detail = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
        errors.append(invalid(f"{path}.parallelism", parallelism, detail))
    failed = spec.get("maxFailedIndexes")
    if failed is not None and spec.get("completions") is not None and failed > spec["completions"]:
        detail = "must be less than or equal to completions"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))
    if failed is not None and failed > _MAX_PARALLELISM:
        detail = f"must be less than or equal to {_MAX_PARALLELISM}"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, detail))


def _check_restart(errors: Errors, spec: JsonObject, template: JsonObject, path: str) -> None:
    policy = (template.get("spec") or {}).get("restartPolicy") or ""
    if policy in ("", "Always"):
        errors.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(not_supported(path, policy, ("OnFailure", "Never")))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(invalid(path, policy, detail))


def cron_create_errors(cron_job: JsonObject) -> Errors:
    metadata = meta_of(cron_job)
    errors = built_in_meta_errors(metadata, True, subdomain_problems)
    _check_cron_spec(errors, cron_job.get("spec") or {})
    name = metadata.get("name") or ""
    if len(name) > _MAX_CRON_NAME:
        detail = f"must be no more than {_MAX_CRON_NAME} characters"
        errors.append(invalid("metadata.name", name, detail))
    return errors


def cron_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    zone_before = (old.get("spec") or {}).get("timeZone")
    _check_cron_spec(errors, new.get("spec") or {}, zone_before)
    return errors


def cron_status_errors(_new: JsonObject, _old: JsonObject) -> Errors:
    """Not even the metadata is looked at."""
    return []


def _check_cron_spec(errors: Errors, spec: JsonObject, zone_before: str | None = None) -> None:
    schedule = spec.get("schedule") or ""
    if not schedule:
        errors.append(required("spec.schedule"))
    else:
        problem = schedule_problem(schedule)
        if problem:
            errors.append(invalid("spec.schedule", schedule, problem))
        if "TZ" in schedule:
            detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            errors.append(invalid("spec.schedule", schedule, detail))
    check_not_negative(errors, spec, ("startingDeadlineSeconds",), "spec")
    zone = spec.get("timeZone")
    if zone is not None and zone != zone_before:
        problem = zone_problem(zone)
        if problem:
            errors.append(invalid("spec.timeZone", zone, problem))
    policy = spec.get("concurrencyPolicy") or ""
    if policy not in _CONCURRENCY:
        at = "spec.concurrencyPolicy"
        errors.append(not_supported(at, policy, _CONCURRENCY) if policy else required(at))
    template: JsonObject = (spec.get("jobTemplate") or {}).get("spec") or {}
    _check_spec(errors, template, "spec.jobTemplate.spec")
    if template.get("selector") is not None:
        at, detail = "spec.jobTemplate.spec.selector", "`selector` will be auto-generated"
        errors.append(invalid(at, go_selector(template["selector"]), detail))
    if template.get("manualSelector"):
        at = "spec.jobTemplate.spec.manualSelector"
        errors.append(not_supported(at, True, ("nil", "false")))
    history = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    check_not_negative(errors, spec, history, "spec")


_ZONE_PART: Final = re.compile(r"[A-Za-z\.\-_0-9+]{1,}")


def schedule_problem(schedule: str) -> str:
    """Why a schedule is none; empty for a good one."""
    try:
        parse_schedule(split_zone(schedule)[1])
    except ScheduleError as problem:
        return str(problem)
    return ""


def zone_problem(zone: str) -> str:
    """Why there is no such time zone; empty if there is one."""
    if not zone:
        return "timeZone must be nil or non-empty string"
    unknown = f"unknown time zone {zone}"
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part):
            return unknown
    if zone.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    return "" if zone == "UTC" or _is_zone(zone) or not _is_zone("Europe/London") else unknown


@cache_short_texts(256)
def _is_zone(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
