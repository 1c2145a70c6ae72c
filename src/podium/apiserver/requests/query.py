"""The parameters of a request as typed values, read and refused as upstream does.

A value that cannot be read (`limit=abc`) is a bad request; values that do not go together are an
invalid `ListOptions`, `CreateOptions` and so on, with the field errors of those kinds.

How a deletion is requested: in the query, or as a DeleteOptions body.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes import status_errors
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import FieldError

Parameters = Mapping[str, Sequence[str]]

_META: Final = "meta.k8s.io"
EXACT: Final = "Exact"
NOT_OLDER_THAN: Final = "NotOlderThan"
STRICT: Final = "Strict"
WARN: Final = "Warn"
IGNORE: Final = "Ignore"
MAX_MANAGER_BYTES: Final = 128
_INT64: Final = 1 << 63
_UINT64: Final = 1 << 64
_LONGEST_NUMBER: Final = 100
"""Digits beyond which a number is out of any range."""


@dataclass(frozen=True, slots=True)
class ListOptions:
    """What a list, a watch or the deletion of a collection asks for."""

    label_selector: str = ""
    field_selector: str = ""
    watch: bool = False
    allow_bookmarks: bool = False
    resource_version: str = ""
    resource_version_match: str = ""
    timeout_s: int | None = None
    limit: int = 0
    continue_token: str = ""
    send_initial_events: bool | None = None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What creations, updates and patches have in common."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = WARN
    force: bool | None = None
    written_field_validation: str = ""
    """As the request says it; empty if it says nothing."""


def list_options(parameters: Parameters) -> ListOptions:
    options = ListOptions(
        label_selector=text(parameters, "labelSelector"),
        field_selector=text(parameters, "fieldSelector"),
        watch=flag(parameters, "watch") or False,
        allow_bookmarks=flag(parameters, "allowWatchBookmarks") or False,
        resource_version=text(parameters, "resourceVersion"),
        resource_version_match=text(parameters, "resourceVersionMatch"),
        timeout_s=integer(parameters, "timeoutSeconds"),
        limit=integer(parameters, "limit") or 0,
        continue_token=text(parameters, "continue"),
        send_initial_events=flag(parameters, "sendInitialEvents"),
    )
    problems = _watch_problems(options) if options.watch else _list_problems(options)
    if problems:
        raise status_errors.invalid(_META, "ListOptions", "", problems)
    return options


def _list_problems(options: ListOptions) -> list[FieldError]:
    problems: list[FieldError] = []
    match = options.resource_version_match
    where = "resourceVersionMatch"
    if match:
        if not options.resource_version:
            problems.append(
                field_errors.forbidden(
                    where, "resourceVersionMatch is forbidden unless resourceVersion is provided"
                )
            )
        if options.continue_token:
            problems.append(_no_match_with_continue())
        if match not in (EXACT, NOT_OLDER_THAN):
            problems.append(field_errors.not_supported(where, match, (EXACT, NOT_OLDER_THAN, "")))
        if match == EXACT and options.resource_version == "0":
            problems.append(
                field_errors.forbidden(
                    where, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
                )
            )
    if options.send_initial_events is not None:
        problems.append(
            field_errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")
        )
    return problems


def _watch_problems(options: ListOptions) -> list[FieldError]:
    problems: list[FieldError] = []
    match = options.resource_version_match
    where = "resourceVersionMatch"
    if options.send_initial_events is not None and match != NOT_OLDER_THAN:
        problems.append(
            field_errors.forbidden(
                where,
                f"sendInitialEvents requires setting resourceVersionMatch to {NOT_OLDER_THAN}",
            )
        )
    if match:
        if options.send_initial_events is None:
            problems.append(
                field_errors.forbidden(
                    where,
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is"
                    " provided",
                )
            )
        if match != NOT_OLDER_THAN:
            problems.append(field_errors.not_supported(where, match, (NOT_OLDER_THAN,)))
        if options.continue_token:
            problems.append(_no_match_with_continue())
    if options.continue_token:
        problems.append(field_errors.forbidden("continue", "continue is forbidden for watch"))
    return problems


def _no_match_with_continue() -> FieldError:
    return field_errors.forbidden(
        "resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"
    )


def write_options(parameters: Parameters, kind: str, *, apply: bool = False) -> WriteOptions:
    """Options of the `kind` CreateOptions, UpdateOptions or PatchOptions."""
    problems: list[FieldError] = []
    force = flag(parameters, "force") if kind == "PatchOptions" else None
    manager = text(parameters, "fieldManager")
    if kind == "PatchOptions":
        if force is not None and not apply:
            problems.append(
                field_errors.forbidden("force", "may not be specified for non-apply patch")
            )
        if apply and not manager:
            problems.append(field_errors.required("fieldManager", "is required for apply patch"))
    problems += manager_problems(manager)
    dry_run = parameters.get("dryRun", ())
    problems += dry_run_problems(dry_run)
    validation = text(parameters, "fieldValidation")
    if validation not in ("", IGNORE, STRICT, WARN):
        problems.append(
            field_errors.not_supported("fieldValidation", validation, ("", IGNORE, STRICT, WARN))
        )
    if problems:
        raise status_errors.invalid(_META, kind, "", problems)
    return WriteOptions(bool(dry_run), manager, validation or WARN, force, validation)


def manager_problems(manager: str) -> list[FieldError]:
    if len(manager.encode()) > MAX_MANAGER_BYTES:
        return [field_errors.too_long("fieldManager", MAX_MANAGER_BYTES)]
    for place, character in enumerate(manager):
        if not character.isprintable():
            return [
                field_errors.invalid(
                    "fieldManager",
                    manager,
                    f"invalid character {go_quote(character)} (at position {place})",
                )
            ]
    return []


def dry_run_problems(dry_run: Sequence[str]) -> list[FieldError]:
    if any(value != "All" for value in dry_run):
        return [field_errors.not_supported("dryRun", list(dry_run), ("All",))]
    return []


def text(parameters: Parameters, name: str) -> str:
    values = parameters.get(name)
    return values[0] if values else ""


def flag(parameters: Parameters, name: str) -> bool | None:
    """A boolean; absent is None. Everything but `false`, `0` and the empty text is true."""
    values = parameters.get(name)
    if not values:
        return None
    # upstream: a name without a value counts as true, `watch=` does not differ from `watch`.
    return values[0].lower() not in ("false", "0")


def integer(parameters: Parameters, name: str) -> int | None:
    values = parameters.get(name)
    if not values or not values[0]:
        return None
    found = values[0]
    value = _go_integer(found)
    if value is None:
        raise status_errors.bad_request(
            f"strconv.ParseInt: parsing {go_quote(found)}: invalid syntax"
        )
    if not -_INT64 <= value < _INT64:
        raise status_errors.bad_request(
            f"strconv.ParseInt: parsing {go_quote(found)}: value out of range"
        )
    return value


def _go_integer(found: str) -> int | None:
    digits = found[1:] if found[:1] in ("+", "-") else found
    if not (digits.isascii() and digits.isdigit()):
        return None
    return int(found) if len(digits) <= _LONGEST_NUMBER else _UINT64


def revision(found: str) -> int:
    """A resourceVersion as a number; FieldError's text in a ValueError if it is none."""
    if found in ("", "0"):
        return 0
    if not (found.isascii() and found.isdigit()):
        problem = "invalid syntax"
    elif len(found) > _LONGEST_NUMBER or int(found) >= _UINT64:
        problem = "value out of range"
    else:
        return int(found)
    detail = f"strconv.ParseUint: parsing {go_quote(found)}: {problem}"
    raise ValueError(str(field_errors.invalid("resourceVersion", found, detail)))


FOREGROUND: Final = "Foreground"
BACKGROUND: Final = "Background"
ORPHAN: Final = "Orphan"
_POLICIES: Final = (FOREGROUND, BACKGROUND, ORPHAN)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """When and how to delete, and only if what."""

    grace_period_s: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    orphan_dependents: bool | None = None
    propagation: str | None = None
    dry_run: bool = False

    @property
    def says_what_follows(self) -> bool:
        """Whether they say what is to become of the objects that depend on a deleted one."""
        return self.propagation is not None or self.orphan_dependents is not None

    def as_object(self) -> JsonObject:
        """The options that were given, as a DeleteOptions has them."""
        preconditions = {"uid": self.uid, "resourceVersion": self.resource_version}
        written = {
            "gracePeriodSeconds": self.grace_period_s,
            "preconditions": {key: value for key, value in preconditions.items() if value} or None,
            "orphanDependents": self.orphan_dependents,
            "propagationPolicy": self.propagation,
        }
        return {key: value for key, value in written.items() if value is not None}

    def with_grace(self, seconds: int) -> "DeleteOptions":
        return replace(self, grace_period_s=seconds)


def delete_options_of_query(parameters: Parameters) -> DeleteOptions:
    dry_run = parameters.get("dryRun", ())
    propagation = text(parameters, "propagationPolicy") or None
    orphan = flag(parameters, "orphanDependents")
    _check(orphan, propagation, dry_run)
    return DeleteOptions(
        grace_period_s=integer(parameters, "gracePeriodSeconds"),
        orphan_dependents=orphan,
        propagation=propagation,
        dry_run=bool(dry_run),
    )


def delete_options_of_body(value: JsonObject) -> DeleteOptions:
    """Options from a body that the schema of DeleteOptions has decoded."""
    preconditions = value.get("preconditions") or {}
    dry_run = value.get("dryRun") or ()
    propagation = value.get("propagationPolicy")
    orphan = value.get("orphanDependents")
    _check(orphan, propagation, dry_run)
    return DeleteOptions(
        grace_period_s=value.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        orphan_dependents=orphan,
        propagation=propagation,
        dry_run=bool(dry_run),
    )


def _check(orphan: bool | None, propagation: str | None, dry_run: Sequence[str]) -> None:
    problems: list[FieldError] = []
    if orphan is not None and propagation is not None:
        problems.append(
            field_errors.invalid(
                "propagationPolicy",
                propagation,
                "orphanDependents and deletionPropagation cannot be both set",
            )
        )
    if propagation is not None and propagation not in _POLICIES:
        problems.append(
            field_errors.not_supported("propagationPolicy", propagation, (*_POLICIES, "nil"))
        )
    problems += dry_run_problems(dry_run)
    if problems:
        raise status_errors.invalid("meta.k8s.io", "DeleteOptions", "", problems)
