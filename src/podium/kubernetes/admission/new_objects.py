"""A new object on its way into a cluster: the steps through which an API server takes it.

The embedded API server and everything that works offline admit objects with this one function, so
that what a simulation places is what the server would have stored, and what it refuses is refused
in the same words. The order is upstream's: mutating admission, strategy, validation, validating
admission, and quotas when everybody else has agreed.

A server does more in between (webhooks, names, rights): those are its `ServerSteps`. Offline there
are none. `tests/offline/simulate/test_one_admission.py` compares the two ways function by function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import DEFAULT_SETTINGS, AdmissionSettings, Lookup
from podium.kubernetes.admission.rules import admit_create, charge_create, review_create
from podium.kubernetes.kind_rules import Rules
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import FieldError

_NOT_FOR_CLIENTS: Final = ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


def _do_nothing() -> None:
    pass


def _no_problems() -> list[FieldError]:
    return []


@dataclass(frozen=True, slots=True)
class ServerSteps:
    """What only a server does; each may raise StatusError."""

    mutate: Callable[[], None] = _do_nothing
    """After mutating admission: webhooks and policies that change the object."""
    identify: Callable[[], None] = _do_nothing
    """Its name, UID and creation time."""
    prepare: Callable[[], None] = _do_nothing
    """After the strategy: who asked."""
    find_problems: Callable[[], list[FieldError]] = _no_problems
    """Where validation finds nothing."""
    accept: Callable[[], None] = _do_nothing
    """After validation: warnings, rights."""
    review: Callable[[], None] = _do_nothing
    """After validating admission: webhooks and policies that refuse the object."""


OFFLINE: Final = ServerSteps()


def admit_new(
    resource: ApiResource,
    namespace: str,
    obj: JsonObject,
    *,
    rules: Rules,
    lookup: Lookup,
    now: str,
    settings: AdmissionSettings = DEFAULT_SETTINGS,
    steps: ServerSteps = OFFLINE,
) -> None:
    """Make a decoded object with its defaults what is stored of it, in place; StatusError if it is
    refused."""
    metadata = obj["metadata"]
    admit_create(resource, namespace, obj, lookup, settings)
    steps.mutate()
    for name in _NOT_FOR_CLIENTS:
        metadata.pop(name, None)
    steps.identify()
    rules.prepare_create(obj, now)
    steps.prepare()
    problems = rules.validate_create(obj) or steps.find_problems()
    if problems:
        name = metadata.get("name", "")
        raise status_errors.invalid(*kind_for_errors(resource, obj), name, problems)
    steps.accept()
    review_create(resource, obj, lookup)
    steps.review()
    charge_create(resource, obj, lookup)


def kind_for_errors(resource: ApiResource, obj: JsonObject) -> tuple[str, str]:
    """Group and kind as errors about an object show them."""
    if resource.group == "events.k8s.io":
        return "", resource.kind  # upstream: events of both groups are validated as core events
    return resource.group, obj["kind"]
