"""Resources that show the objects of another resource in a form of their own.

    has_own_form(resource) -> bool
    storage_name(resource) -> str       the collection in which its objects are kept
    ruling_version(resource) -> str     the version of its group whose rules hold for its objects
    stored_in(resource)                 the group and version of that form
    shown(resource, value)              a stored object in the form of a resource
    kept(resource, value)               an object of a resource in the form in which it is stored
    in_version(value, ...)              an object as another version of its kind shows it

Events of the two groups are one collection, stored in the core form; autoscalers of the two
versions are another, stored as v2 with its defaults. All other resources have one form. A value is
never changed; its `kind` and `apiVersion` stay as they are.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.conversion.autoscalers import as_v1_autoscaler, as_v2_autoscaler
from podium.kubernetes.conversion.events import as_core_event, as_new_event
from podium.kubernetes.defaulting.autoscaling import set_autoscaler_defaults
from podium.kubernetes.resources.resource import Resource


class _Form(NamedTuple):
    storage_name: str
    shown: Callable[[JsonObject], JsonObject]
    kept: Callable[[JsonObject], JsonObject]
    ruling_version: str


def _stored_autoscaler(value: JsonObject) -> JsonObject:
    converted = as_v2_autoscaler(value)
    set_autoscaler_defaults(converted)
    return converted


_OWN_FORMS: Final[Mapping[tuple[str, str, str], _Form]] = {
    ("events.k8s.io", "v1", "Event"): _Form("events", as_new_event, as_core_event, "v1"),
    ("autoscaling", "v1", "HorizontalPodAutoscaler"): _Form(
        "horizontalpodautoscalers.autoscaling", as_v1_autoscaler, _stored_autoscaler, "v2"
    ),
}


_STORED_IN: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("events.k8s.io", "Event"): ("", "v1"),
    # upstream: so that the release before can read them.
    **{
        ("admissionregistration.k8s.io", kind): ("admissionregistration.k8s.io", "v1beta1")
        for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
    },
    ("apiextensions.k8s.io", "CustomResourceDefinition"): ("apiextensions.k8s.io", "v1beta1"),
}
"""As clients are told, where it is not the newest form of the resource itself."""

_VERSIONS: Final[Mapping[tuple[str, str, str], Callable[[JsonObject], JsonObject]]] = {
    ("autoscaling", "HorizontalPodAutoscaler", "v1"): as_v1_autoscaler,
    ("autoscaling", "HorizontalPodAutoscaler", "v2"): as_v2_autoscaler,
}


def _form(resource: Resource) -> _Form | None:
    return _OWN_FORMS.get((resource.group, resource.version, resource.kind))


def has_own_form(resource: Resource) -> bool:
    return _form(resource) is not None


def storage_name(resource: Resource) -> str:
    form = _form(resource)
    return resource.group_resource if form is None else form.storage_name


def ruling_version(resource: Resource) -> str:
    form = _form(resource)
    return resource.version if form is None else form.ruling_version


def stored_in(resource: Resource) -> tuple[str, str]:
    """The group and version in whose form objects of a resource are stored."""
    if resource.storage_version:
        return resource.group, resource.storage_version
    key = (resource.group, resource.kind)
    return _STORED_IN.get(key) or (resource.group, ruling_version(resource))


def shown(resource: Resource, value: JsonObject) -> JsonObject:
    form = _form(resource)
    return value if form is None else form.shown(value)


def kept(resource: Resource, value: JsonObject) -> JsonObject:
    form = _form(resource)
    return value if form is None else form.kept(value)


def in_version(value: JsonObject, group: str, kind: str, version: str) -> JsonObject | None:
    """An object of the other version as this one shows it; None if versions do not differ."""
    convert = _VERSIONS.get((group, kind, version))
    return None if convert is None else convert(value)


__all__ = [
    "has_own_form",
    "in_version",
    "kept",
    "ruling_version",
    "shown",
    "storage_name",
    "stored_in",
]
