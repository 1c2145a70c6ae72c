"""Workloads that keep pods running: deployments, sets, replication controllers."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.rules.labels import selector_of_map
from podium.kubernetes.validation.field_values import (
    check_at_most_all,
    check_count_or_percent,
    check_not_negative,
    is_nothing,
)
from podium.kubernetes.validation.go_forms import go_selector
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.pod_specs import (
    check_matches,
    check_runs_forever,
    check_template,
    compile_selector,
)
from podium.kubernetes.validation.selectors import check_label_selector
from podium.kubernetes.validation.volumes import check_claim_spec

_CHANGEABLE: Final = (
    "replicas",
    "template",
    "updateStrategy",
    "minReadySeconds",
    "ordinals",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
)
_STATEFUL_REFUSAL: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)
_RETENTION: Final = ("Retain", "Delete")


def deployment_create_errors(deployment: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(deployment), True, subdomain_problems)
    _check_deployment(errors, deployment.get("spec") or {})
    return errors


def deployment_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_deployment(errors, new.get("spec") or {})
    _check_selector_is_kept(errors, new, old)
    return errors


def replica_set_create_errors(replica_set: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(replica_set), True, subdomain_problems)
    _check_replica_set(errors, replica_set.get("spec") or {})
    return errors


def replica_set_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_replica_set(errors, new.get("spec") or {})
    _check_selector_is_kept(errors, new, old)
    return errors


def stateful_set_create_errors(stateful_set: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(stateful_set), True, label_problems)
    spec: JsonObject = stateful_set.get("spec") or {}
    _check_stateful_set(errors, spec, is_new=True)
    return errors


def stateful_set_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    _check_stateful_set(errors, spec, is_new=False)
    fixed, kept = (
        {name: value for name, value in each.items() if name not in _CHANGEABLE}
        for each in (spec, before)
    )
    if fixed != kept:
        errors.append(forbidden("spec", _STATEFUL_REFUSAL))
    return errors


def daemon_set_create_errors(daemon_set: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(daemon_set), True, subdomain_problems)
    _check_daemon_set(errors, daemon_set.get("spec") or {})
    return errors


def daemon_set_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_selector_is_kept(errors, new, old)
    _check_daemon_set(errors, new.get("spec") or {})
    return errors


def controller_create_errors(controller: JsonObject) -> Errors:
    """A ReplicationController."""
    errors = built_in_meta_errors(meta_of(controller), True, subdomain_problems)
    _check_controller(errors, controller.get("spec") or {})
    return errors


def controller_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_controller(errors, new.get("spec") or {})
    return errors


def replicas_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    """The status of everything that counts replicas."""
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    check_not_negative(errors, status, sorted(_COUNTS), "status")
    whole = status.get("replicas") or 0
    kind = new.get("kind") or ""
    for field in _PARTS.get(kind, _PARTS_OF_SETS):
        part = status.get(field) or 0
        if part > whole:
            detail = "cannot be greater than status.replicas"
            errors.append(invalid(f"status.{field}", part, detail))
    available = status.get("availableReplicas") or 0
    if available > (status.get("readyReplicas") or 0):
        ready = "status.readyReplicas" if kind == "StatefulSet" else "readyReplicas"
        detail = f"cannot be greater than {ready}"
        errors.append(invalid("status.availableReplicas", available, detail))
    return errors


_PARTS_OF_SETS: Final = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
_PARTS: Final = {
    "Deployment": ("updatedReplicas", "readyReplicas", "availableReplicas"),
    "StatefulSet": ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
}
_COUNTS: Final = frozenset(
    {
        "availableReplicas",
        "fullyLabeledReplicas",
        "observedGeneration",
        "readyReplicas",
        "replicas",
        "unavailableReplicas",
        "updatedReplicas",
    }
)


def _check_selector_is_kept(errors: Errors, new: JsonObject, old: JsonObject) -> None:
    selector = (new.get("spec") or {}).get("selector")
    if selector != (old.get("spec") or {}).get("selector"):
        errors.append(immutable("spec.selector", go_selector(selector)))


def _check_selector(errors: Errors, spec: JsonObject, kind: str) -> None:
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
        return
    check_label_selector(errors, selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        detail = f"empty selector is invalid for {kind}"
        errors.append(invalid("spec.selector", go_selector(selector), detail))


def _check_deployment(errors: Errors, spec: JsonObject) -> None:
    check_not_negative(errors, spec, ("replicas",), "spec")
    _check_selector(errors, spec, "deployment")
    _check_replica_template(errors, spec)
    _check_strategy(errors, spec.get("strategy") or {})
    check_not_negative(errors, spec, ("minReadySeconds", "revisionHistoryLimit"), "spec")
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        check_not_negative(errors, spec, ("progressDeadlineSeconds",), "spec")
        if deadline <= (spec.get("minReadySeconds") or 0):
            detail = "must be greater than minReadySeconds"
            errors.append(invalid("spec.progressDeadlineSeconds", deadline, detail))


def _check_replica_template(errors: Errors, spec: JsonObject) -> None:
    template: JsonObject = spec.get("template") or {}
    selector = compile_selector(spec.get("selector"))
    if selector is None:
        shown = go_selector(spec.get("selector"))
        errors.append(invalid("spec.selector", shown, "invalid label selector"))
        return
    if not selector.empty:
        check_matches(errors, selector, template, "spec.template")
    check_template(errors, template, "spec.template")
    check_runs_forever(errors, template, "ReplicaSet", "spec.template")


def _check_strategy(errors: Errors, strategy: JsonObject) -> None:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate") or {}
    at = "spec.strategy.rollingUpdate"
    if kind == "Recreate":
        if strategy.get("rollingUpdate") is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            errors.append(forbidden(at, detail))
    elif kind == "RollingUpdate":
        missing, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        check_count_or_percent(errors, missing, f"{at}.maxUnavailable")
        check_count_or_percent(errors, surge, f"{at}.maxSurge")
        if is_nothing(missing) and is_nothing(surge):
            detail = "may not be 0 when `maxSurge` is 0"
            errors.append(invalid(f"{at}.maxUnavailable", missing, detail))
        check_at_most_all(errors, missing, f"{at}.maxUnavailable")
    else:
        shown = {"Type": kind, "RollingUpdate": strategy.get("rollingUpdate")}
        errors.append(not_supported("spec.strategy", shown, ("Recreate", "RollingUpdate")))


def _check_replica_set(errors: Errors, spec: JsonObject) -> None:
    check_not_negative(errors, spec, ("replicas", "minReadySeconds"), "spec")
    # upstream: a replica set's empty selector is called a deployment's.
    _check_selector(errors, spec, "deployment")
    _check_replica_template(errors, spec)


def _check_stateful_set(errors: Errors, spec: JsonObject, *, is_new: bool) -> None:
    policy = spec.get("podManagementPolicy") or ""
    if policy not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid("spec.podManagementPolicy", policy, detail))
    _check_stateful_updates(errors, spec.get("updateStrategy") or {})
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field, "Retain") not in _RETENTION:
            at = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            errors.append(not_supported(at, retention[field], _RETENTION))
    claims = spec.get("volumeClaimTemplates") or []
    if is_new:
        for index, claim in enumerate(claims):
            at = f"spec.volumeClaimTemplates[{index}].spec"
            check_claim_spec(errors, claim.get("spec") or {}, at)
    check_not_negative(errors, spec, ("replicas", "minReadySeconds"), "spec")
    check_not_negative(errors, spec.get("ordinals") or {}, ("start",), "spec.ordinals")
    service = spec.get("serviceName")
    if is_new and service:
        check_each(errors, label_problems(service), service, "spec.serviceName")
    _check_selector(errors, spec, "statefulset")
    selector = compile_selector(spec.get("selector"))
    template = _with_claims(spec.get("template") or {}, claims)
    if selector is None:
        errors.append(invalid("spec.selector", go_selector(spec.get("selector")), ""))
    else:
        if not selector.empty:
            check_matches(errors, selector, template, "spec.template")
        check_template(errors, template, "spec.template")
    check_runs_forever(errors, template, "StatefulSet", "spec.template")


def _with_claims(template: JsonObject, claims: list[JsonObject]) -> JsonObject:
    """The template of the pods that will be made: with a volume for each claim."""
    spec: JsonObject = dict(template.get("spec") or {})
    for field in ("subdomain", "hostname"):
        spec.pop(field, None)
    names = [(claim.get("metadata") or {}).get("name") or "" for claim in claims]
    if names:
        own = [each for each in spec.get("volumes") or () if each.get("name") not in names]
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
        spec["volumes"] = [*made, *own]
    return {**template, "spec": spec}


def _check_stateful_updates(errors: Errors, strategy: JsonObject) -> None:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    at = "spec.updateStrategy"
    if not kind:
        errors.append(required(at))
    elif kind == "OnDelete":
        if rolling is not None:
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            shown = {"Partition": rolling.get("partition") or 0, "MaxUnavailable": None}
            errors.append(invalid(f"{at}.rollingUpdate", shown, detail))
    elif kind == "RollingUpdate":
        check_not_negative(errors, rolling or {}, ("partition",), f"{at}.rollingUpdate")
    else:
        shown = {"Type": kind, "RollingUpdate": rolling}
        errors.append(invalid(at, shown, "must be 'RollingUpdate' or 'OnDelete'"))


def _check_daemon_set(errors: Errors, spec: JsonObject) -> None:
    selector, template = spec.get("selector"), spec.get("template") or {}
    check_label_selector(errors, selector, "spec.selector")
    parsed = compile_selector(selector)
    if parsed is not None:
        check_matches(errors, parsed, template, "spec.template")
    if selector is not None and not any(
        selector.get(field) for field in ("matchLabels", "matchExpressions")
    ):
        detail = "empty selector is invalid for daemonset"
        errors.append(invalid("spec.selector", go_selector(selector), detail))
    check_template(errors, template, "spec.template")
    check_runs_forever(errors, template, "DaemonSet", "spec.template")
    check_not_negative(errors, spec, ("minReadySeconds",), "spec")
    _check_daemon_updates(errors, spec.get("updateStrategy") or {})
    check_not_negative(errors, spec, ("revisionHistoryLimit",), "spec")


def _check_daemon_updates(errors: Errors, strategy: JsonObject) -> None:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate") or {}
    at = "spec.updateStrategy.rollingUpdate"
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        shown = {"Type": kind, "RollingUpdate": strategy.get("rollingUpdate")}
        choices = ("RollingUpdate", "OnDelete")
        errors.append(not_supported("spec.updateStrategy", shown, choices))
        return
    missing, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for check in (check_count_or_percent, check_at_most_all):
        check(errors, missing, f"{at}.maxUnavailable")
        check(errors, surge, f"{at}.maxSurge")
    if not is_nothing(missing) and not is_nothing(surge):
        detail = "may not be set when maxUnavailable is non-zero"
        errors.append(invalid(f"{at}.maxSurge", surge, detail))
    elif is_nothing(missing) and is_nothing(surge):
        errors.append(required(f"{at}.maxUnavailable", "cannot be 0 when maxSurge is 0"))


def _check_controller(errors: Errors, spec: JsonObject) -> None:
    check_not_negative(errors, spec, ("minReadySeconds",), "spec")
    labels, template = spec.get("selector") or {}, spec.get("template")
    if not labels:
        errors.append(required("spec.selector"))
    check_not_negative(errors, spec, ("replicas",), "spec")
    if template is None:
        errors.append(required("spec.template"))
        return
    if labels:
        check_matches(errors, selector_of_map(labels), template, "spec.template")
    check_template(errors, template, "spec.template")
    check_runs_forever(errors, template, "ReplicationController", "spec.template")
