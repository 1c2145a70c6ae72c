"""The objects that a binding hands to its policy: one, several that a selector finds, or none."""

from collections.abc import Sequence
from typing import Protocol

from podium.golang.json_values import JsonObject
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.label_selector_objects import object_selector
from podium.kubernetes.rules.labels import Selector


class Objects(Protocol):
    """Where parameters are found."""

    def resource_of_kind(self, api_version: str, kind: str) -> Resource | None: ...
    def find_object(self, resource: Resource, namespace: str, name: str) -> JsonObject | None: ...
    def select_objects(
        self, resource: Resource, namespace: str, selector: Selector
    ) -> Sequence[JsonObject]: ...


class NotConfigured(Exception):
    """A policy or a binding asks for something that cannot be. The text is upstream's."""


def collect_parameters(
    kind: JsonObject | None, reference: JsonObject | None, namespace: str, objects: Objects
) -> Sequence[JsonObject | None]:
    """Raises NotConfigured. None is one parameter: the policy is asked once, without."""
    if kind is None or reference is None:
        return [None]
    resource = objects.resource_of_kind(kind["apiVersion"], kind["kind"])
    assert resource is not None, "looked at before"
    home = reference.get("namespace") or namespace
    if not resource.namespaced:
        if reference.get("namespace"):
            raise NotConfigured(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            )
        home = ""
    elif not home:
        raise NotConfigured(
            "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        )
    found: Sequence[JsonObject]
    if reference.get("name"):
        one = objects.find_object(resource, home, reference["name"])
        found = [] if one is None else [one]
    else:
        selector = object_selector(reference.get("selector") or {})
        found = objects.select_objects(resource, home, selector)
    if not found and reference.get("parameterNotFoundAction") == "Deny":
        raise NotConfigured(
            "no params found for policy binding with `Deny` parameterNotFoundAction"
        )
    return found
