"""Rules that hold for the metadata of every object, and for conditions.

Upstream checks metadata several times on the way of one request: for all kinds alike, and again in
the rules of the kind. Errors are then told as often in the causes of the answer, so the functions
here give lists that a kind may repeat.

Conditions are those of the form that newer kinds share (`meta/v1` Condition).
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from podium.golang.json_values import JsonObject, ReadOnlyJson
from podium.golang.quoting import go_quote
from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.rules.labels import (
    is_plain_key,
    is_plain_value,
    key_problems,
    value_problems,
)
from podium.kubernetes.validation.names import NameRule, as_prefix, label_problems

Errors = list[FieldError]
_MAX_ERRORS: Final = 1000
"""An object of 3 MiB can have a million mistakes; nobody reads further than this."""


class TooManyErrors(Exception):
    """There is no sense in looking further; `errors` are those found so far."""

    def __init__(self, errors: Errors) -> None:
        super().__init__()
        self.errors = errors


class ErrorList(list[FieldError]):
    """Collects the errors of a built-in object; raises TooManyErrors when there are too many."""

    def append(self, error: FieldError, /) -> None:
        super().append(error)
        if len(self) > _MAX_ERRORS:
            raise TooManyErrors(self)


NOT_NEGATIVE: Final = "must be greater than or equal to 0"

_MANY_LABELS: Final = 100
"""More than a cache is good for."""
_ANNOTATIONS_LIMIT: Final = 256 * 1024
_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_EXCLUSIVE_FINALIZERS: Final = frozenset({"orphan", "foregroundDeletion"})
_EMPTY: Final[JsonObject] = {}
_FIXED: Final = ("name", "namespace", "uid", "creationTimestamp")
_FIXED_IF_SET: Final = ("deletionTimestamp", "deletionGracePeriodSeconds")


@cache_short_texts(8192)
def _key_problems(key: str) -> tuple[str, ...]:
    return tuple(key_problems(key))


@cache_short_texts(8192)
def _value_problems(value: str) -> tuple[str, ...]:
    return tuple(value_problems(value))


def check_label_key(errors: Errors, key: str, path: str) -> None:
    for problem in _key_problems(key):
        errors.append(invalid(path, key, problem))


def check_label_value(errors: Errors, value: str, path: str) -> None:
    for problem in _value_problems(value):
        errors.append(invalid(path, value, problem))


def label_value_problems(value: str) -> tuple[str, ...]:
    return _value_problems(value)


def check_labels(errors: Errors, labels: Mapping[str, str], path: str) -> None:
    """Keys and values of labels; upstream's order is arbitrary, here it is the sorted one."""
    for key, value in labels.items() if len(labels) < 2 else _sorted_suspects(labels):
        if _key_problems(key) or _value_problems(value):
            check_label_key(errors, key, path)
            check_label_value(errors, value, path)


def _sorted_suspects(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """The labels to look at closely: all of few, of many those that are not plainly good."""
    if len(labels) <= _MANY_LABELS:
        return sorted(labels.items())
    return sorted(
        (key, value)
        for key, value in labels.items()
        if not (is_plain_key(key) and is_plain_value(value))
    )


def check_annotations(errors: Errors, annotations: Mapping[str, str], path: str) -> None:
    size = 0
    many = len(annotations) > _MANY_LABELS
    for key, value in sorted(annotations.items()):
        size += len(key) + len(value)
        if many and is_plain_key(key):
            continue
        for problem in _key_problems(key.lower()):
            errors.append(invalid(path, key, problem))
    if size * 4 > _ANNOTATIONS_LIMIT:  # characters may be up to four bytes long
        size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
        if size > _ANNOTATIONS_LIMIT:
            errors.append(too_long(path, _ANNOTATIONS_LIMIT))


def check_each(errors: Errors, problems: Iterable[str], value: ReadOnlyJson, path: str) -> None:
    """One error for each problem of one value."""
    for problem in problems:
        errors.append(invalid(path, value, problem))


def meta_errors(metadata: JsonObject, namespaced: bool, name_rule: NameRule) -> Errors:
    """Everything wrong with metadata, apart from what depends on an earlier version of it."""
    errors = ErrorList()
    with suppress(TooManyErrors):
        _check_meta(errors, metadata, namespaced, name_rule)
    return [*errors]


def _check_meta(
    errors: Errors, metadata: JsonObject, namespaced: bool, name_rule: NameRule
) -> None:
    prefix = metadata.get("generateName")
    if prefix:
        check_each(errors, name_rule(as_prefix(prefix)), prefix, "metadata.generateName")
    name = metadata.get("name")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        check_each(errors, name_rule(name), name, "metadata.name")
    namespace = metadata.get("namespace")
    if namespaced:
        if not namespace:
            errors.append(required("metadata.namespace"))
        else:
            check_each(errors, label_problems(namespace), namespace, "metadata.namespace")
    elif namespace:
        errors.append(forbidden("metadata.namespace", "not allowed on this type"))
    generation = metadata.get("generation")
    if generation is not None and generation < 0:
        errors.append(invalid("metadata.generation", generation, NOT_NEGATIVE))
    _check_shared_parts(errors, metadata)
    finalizers = metadata.get("finalizers")
    if finalizers:
        _check_finalizers(errors, finalizers)


def meta_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with changed metadata: fixed fields, and what clients may write."""
    errors = ErrorList()
    with suppress(TooManyErrors):
        _check_changed_meta(errors, new, old)
    return [*errors]


def _check_changed_meta(errors: Errors, new: JsonObject, old: JsonObject) -> None:
    if old.get("deletionTimestamp"):
        kept = set(old.get("finalizers") or ())
        added = sorted({name for name in new.get("finalizers") or () if name not in kept})
        if added:
            shown = ", ".join(go_quote(name) for name in added)
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{shown}}}"
            )
            errors.append(forbidden("metadata.finalizers", detail))
    if not new.get("resourceVersion"):
        errors.append(invalid("metadata.resourceVersion", "", "must be specified for an update"))
    if (new.get("generation") or 0) < (old.get("generation") or 0):
        found = new.get("generation") or 0
        errors.append(invalid("metadata.generation", found, "must not be decremented"))
    for field in _FIXED:
        if (new.get(field) or "") != (old.get(field) or ""):
            errors.append(immutable(f"metadata.{field}", new.get(field) or ""))
    for field in _FIXED_IF_SET:
        if new.get(field) != old.get(field):
            errors.append(immutable(f"metadata.{field}", new.get(field)))
    _check_shared_parts(errors, new)


def built_in_meta_errors(metadata: JsonObject, namespaced: bool, name_rule: NameRule) -> Errors:
    """The same with the rule for finalizers that holds for built-in kinds only."""
    errors = ErrorList(meta_errors(metadata, namespaced, name_rule))
    if metadata.get("finalizers"):
        _check_standard_finalizers(errors, metadata["finalizers"])
    return errors


def built_in_meta_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = ErrorList(meta_update_errors(new, old))
    if new.get("finalizers"):
        _check_standard_finalizers(errors, new["finalizers"])
    return errors


def _check_standard_finalizers(errors: Errors, finalizers: list[str]) -> None:
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(f"metadata.finalizers[{index}]", finalizer, detail))


def _check_shared_parts(errors: Errors, metadata: JsonObject) -> None:
    labels = metadata.get("labels")
    if labels:
        check_labels(errors, labels, "metadata.labels")
    annotations = metadata.get("annotations")
    if annotations:
        check_annotations(errors, annotations, "metadata.annotations")
    owners = metadata.get("ownerReferences")
    if owners:
        _check_owners(errors, owners)


def _check_finalizers(errors: Errors, finalizers: list[str]) -> None:
    path = "metadata.finalizers"
    for finalizer in finalizers:
        check_label_key(errors, finalizer, path)
    if _EXCLUSIVE_FINALIZERS.issubset(finalizers):
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid(path, finalizers, detail))


def _check_owners(errors: Errors, owners: list[JsonObject]) -> None:
    path = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        api_version = owner.get("apiVersion") or ""
        if not api_version.rpartition("/")[2]:
            detail = "version must not be empty"
            errors.append(invalid(f"{path}.apiVersion", api_version, detail))
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                errors.append(invalid(f"{path}.{field}", "", "must not be empty"))
        if (api_version, owner.get("kind")) == ("v1", "Event"):
            detail = "/v1, Kind=Event is disallowed from being an owner"
            errors.append(invalid(path, owner, detail))
        if owner.get("controller"):
            this = f"{owner.get('kind') or ''}/{owner.get('name') or ''}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}'
                )
                errors.append(invalid(path, owners, detail))
            else:
                controller = this


def meta_of(obj: JsonObject) -> JsonObject:
    return obj.get("metadata") or _EMPTY


_STATUSES: Final = ("False", "True", "Unknown")
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024
_REASON_FORM: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON: Final = re.compile(_REASON_FORM)
_REASON_RULE: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON_FORM}')"
)


def check_conditions(errors: Errors, conditions: list[JsonObject], path: str) -> None:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at, kind = f"{path}[{index}]", condition.get("type") or ""
        if kind in seen:
            errors.append(duplicate(f"{at}.type", kind))
        seen.add(kind)
        _check_condition(errors, condition, kind, at)


def _check_condition(errors: Errors, condition: JsonObject, kind: str, path: str) -> None:
    check_label_key(errors, kind, f"{path}.type")
    status = condition.get("status") or ""
    if status not in _STATUSES:
        errors.append(not_supported(f"{path}.status", status, _STATUSES))
    seen = condition.get("observedGeneration") or 0
    if seen < 0:
        detail = "must be greater than or equal to zero"
        errors.append(invalid(f"{path}.observedGeneration", seen, detail))
    if not condition.get("lastTransitionTime"):
        errors.append(required(f"{path}.lastTransitionTime"))
    reason = condition.get("reason") or ""
    if not reason:
        errors.append(required(f"{path}.reason"))
    else:
        problems = () if _REASON.fullmatch(reason) else (_REASON_RULE,)
        check_each(errors, problems, reason, f"{path}.reason")
        if len(reason.encode()) > _MAX_REASON:
            errors.append(too_long(f"{path}.reason", _MAX_REASON))
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        errors.append(too_long(f"{path}.message", _MAX_MESSAGE))
