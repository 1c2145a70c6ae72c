"""Events, in the two groups that serve them.

The old group takes nearly everything; the new one wants to know who did what and when. Fields are
told under the names that the stored (old) form has, whichever group was asked.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import immutable, invalid, required
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    ErrorList,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    meta_of,
)

_MAX_WORD: Final = 128
_MAX_NOTE: Final = 1024
_UNSET: Final = {
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_FIXED: Final = (
    ("involvedObject", "regarding"),
    ("reason", "reason"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reason", "reason"),  # upstream: twice
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)


def old_create_errors(event: JsonObject) -> Errors:
    """An event of the core group."""
    return _shared_errors(event, "involvedObject", "message", "reportingComponent")


def old_update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    return old_create_errors(new)


def create_errors(event: JsonObject) -> Errors:
    """An event of `events.k8s.io`."""
    errors = _shared_errors(event, "regarding", "note", "reportingController")
    errors.extend(built_in_meta_errors(meta_of(event), True, subdomain_problems))
    _check_series(errors, event.get("series"))
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    kind = event.get("type") or ""
    if kind not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    for told, field in _UNSET.items():
        if event.get(field):
            errors.append(invalid(told, "", "needs to be unset"))
    source = event.get("deprecatedSource") or {}
    if source.get("component") or source.get("host"):
        errors.append(invalid("source", "", "needs to be unset"))
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = _shared_errors(new, "regarding", "note", "reportingController")
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    if new.get("series") != old.get("series"):
        _check_series(errors, new.get("series"))
    for told, field in _FIXED:
        if (new.get(field) or None) != (old.get(field) or None):
            errors.append(immutable(told, new.get(field)))
    return errors


def _check_series(errors: Errors, series: JsonObject | None) -> None:
    if series is not None:
        if (series.get("count") or 0) < 2:
            errors.append(invalid("series.count", "", "should be at least 2"))
        if not series.get("lastObservedTime"):
            errors.append(required("series.lastObservedTime"))


def _shared_errors(event: JsonObject, about: str, note: str, reporter: str) -> Errors:
    errors: Errors = ErrorList()
    namespace = meta_of(event).get("namespace") or ""
    told = (event.get(about) or {}).get("namespace") or ""
    matches = namespace == told if told else namespace in ("", "default")
    if not event.get("eventTime"):
        if not matches:
            _refuse_namespace(errors, told)
    else:
        if not told and namespace not in ("default", "kube-system"):
            _refuse_namespace(errors, told)
        _check_new_style(errors, event, note, reporter)
    check_each(errors, subdomain_problems(namespace), namespace, "namespace")
    return errors


def _refuse_namespace(errors: Errors, told: str) -> None:
    errors.append(invalid("involvedObject.namespace", told, "does not match event.namespace"))


def _check_new_style(errors: Errors, event: JsonObject, note: str, reporter: str) -> None:
    controller = event.get(reporter) or ""
    if not controller:
        errors.append(required(reporter))
    check_label_key(errors, controller, reporter)
    for field in ("reportingInstance", "action", "reason"):
        word = event.get(field) or ""
        if not word:
            errors.append(required(field))
        if len(word) > _MAX_WORD:
            errors.append(invalid(field, "", f"can have at most {_MAX_WORD} characters"))
    if len(event.get(note) or "") > _MAX_NOTE:
        errors.append(invalid("message", "", f"can have at most {_MAX_NOTE} characters"))
