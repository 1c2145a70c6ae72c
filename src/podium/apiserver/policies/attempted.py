"""A write as admission sees it: who does what to which object.

The objects that a binding hands to its policy: one, several that a selector finds, or none.

A write as expressions and webhooks see it: in the form of a resource, with who asks for what.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from podium.apiserver.access.users import User
from podium.apiserver.policies.asking import Seen
from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.cel.functions.authorization import Authorizer, Question
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import Selector, object_selector

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"


@dataclass(frozen=True, slots=True)
class AttemptedWrite:
    operation: str
    resource: ApiResource
    namespace: str
    """Of a namespace that exists: itself."""
    name: str
    obj: JsonObject | None
    """As it would be stored; None when it is deleted. With its kind and version."""
    old: JsonObject | None
    user: User
    subresource: str = ""
    dry_run: bool = False
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[str, str, str]:
        """Group, version and kind of the object, which a subresource may have of its own."""
        found = self.resource.subresource_by_name.get(self.subresource)
        if found is None:
            return self.resource.group, self.resource.version, self.resource.kind
        if not found.version:
            return self.resource.group, self.resource.version, found.kind
        return found.group, found.version, found.kind

    @property
    def is_of_namespace(self) -> bool:
        return (self.resource.group, self.resource.plural) == ("", "namespaces")


class Objects(Protocol):
    """Where parameters are found."""

    def resource_of_kind(self, api_version: str, kind: str) -> ApiResource | None: ...
    def find_object(
        self, resource: ApiResource, namespace: str, name: str
    ) -> JsonObject | None: ...
    def select_objects(
        self, resource: ApiResource, namespace: str, selector: Selector
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


_HIDDEN_METADATA: Final = frozenset({"managedFields", "ownerReferences"})


class Forms(Objects, Protocol):
    """The rest of the cluster, and the other forms of an object."""

    @property
    def lookup(self) -> Lookup: ...
    def equivalents_of(self, resource: ApiResource) -> Sequence[ApiResource]: ...
    def convert_object(
        self, obj: JsonObject, resource: ApiResource, other: ApiResource
    ) -> JsonObject:
        """An object of a resource as an equivalent one shows it."""

    def judge(self, user: User, question: Question) -> tuple[bool, str]:
        """Whether a user, or the account that the question names, may do something, and why."""


def seen_of(
    attempted: AttemptedWrite, seen_as: ApiResource, params: JsonObject | None, forms: Forms
) -> Seen:
    """What expressions see of a request, in the form of an equivalent resource."""
    obj, old = objects_of(attempted, seen_as, forms)
    namespace = None
    if attempted.namespace and not attempted.is_of_namespace:
        namespace = forms.lookup.find("", "namespaces", "", attempted.namespace)
    about = Question(
        group=attempted.resource.group,
        resource=attempted.resource.plural,
        subresource=attempted.subresource,
        namespace=attempted.namespace,
        name=attempted.name,
    )
    return Seen(
        obj,
        old,
        request_object(attempted, seen_as),
        namespace and _reduce_namespace(namespace),
        params,
        Authorizer(lambda question: forms.judge(attempted.user, question), about),
    )


def objects_of(
    attempted: AttemptedWrite, seen_as: ApiResource, forms: Forms
) -> tuple[JsonObject | None, JsonObject | None]:
    """The new and the old object as an equivalent resource shows them."""
    obj, old = attempted.obj, attempted.old
    if seen_as is not attempted.resource and not attempted.subresource:
        obj = obj and forms.convert_object(obj, attempted.resource, seen_as)
        old = old and forms.convert_object(old, attempted.resource, seen_as)
    return obj, old


def _reduce_namespace(namespace: JsonObject) -> JsonObject:
    """A namespace as policies see it."""
    metadata = {
        name: value for name, value in namespace["metadata"].items() if name not in _HIDDEN_METADATA
    }
    return {**namespace, "metadata": metadata}


def request_object(attempted: AttemptedWrite, seen_as: ApiResource) -> JsonObject:
    """A request as expressions and webhooks see it, without the objects."""
    group, version, kind = attempted.kind
    resource, user = attempted.resource, attempted.user
    is_own = seen_as is resource or (group, version) != (resource.group, resource.version)
    shown = (group, version, kind) if is_own else (seen_as.group, seen_as.version, seen_as.kind)
    info: JsonObject = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    request: JsonObject = {
        "kind": dict(zip(("group", "version", "kind"), shown, strict=True)),
        "resource": _resource(seen_as),
        "requestKind": {"group": group, "version": version, "kind": kind},
        "requestResource": _resource(resource),
        "name": attempted.name,
        "operation": attempted.operation,
        "userInfo": info,
        "dryRun": attempted.dry_run,
        "options": dict(attempted.options),
    }
    if attempted.subresource:
        request["subResource"] = request["requestSubResource"] = attempted.subresource
    if attempted.namespace:
        request["namespace"] = attempted.namespace
    return request


def _resource(resource: ApiResource) -> JsonObject:
    return {
        "group": resource.group,
        "version": resource.version,
        "resource": resource.plural,
    }
