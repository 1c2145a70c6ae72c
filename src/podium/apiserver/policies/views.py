"""A write as expressions and webhooks see it: in the form of a resource, with who asks for what."""

from collections.abc import Sequence
from typing import Final, Protocol

from podium.apiserver.access.users import User
from podium.apiserver.policies.asking import Seen
from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.parameters import Objects
from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.cel.functions.authorization import Authorizer, Question
from podium.kubernetes.resources.resource import Resource

_HIDDEN_METADATA: Final = frozenset({"managedFields", "ownerReferences"})


class Forms(Objects, Protocol):
    """The rest of the cluster, and the other forms of an object."""

    @property
    def lookup(self) -> Lookup: ...
    def equivalents_of(self, resource: Resource) -> Sequence[Resource]: ...
    def converted(self, obj: JsonObject, resource: Resource, other: Resource) -> JsonObject:
        """An object of a resource as an equivalent one shows it."""

    def judge(self, user: User, question: Question) -> tuple[bool, str]:
        """Whether a user, or the account that the question names, may do something, and why."""


def seen_of(
    attempted: AttemptedWrite, seen_as: Resource, params: JsonObject | None, forms: Forms
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
        namespace and _shown(namespace),
        params,
        Authorizer(lambda question: forms.judge(attempted.user, question), about),
    )


def objects_of(
    attempted: AttemptedWrite, seen_as: Resource, forms: Forms
) -> tuple[JsonObject | None, JsonObject | None]:
    """The new and the old object as an equivalent resource shows them."""
    obj, old = attempted.obj, attempted.old
    if seen_as is not attempted.resource and not attempted.subresource:
        obj = obj and forms.converted(obj, attempted.resource, seen_as)
        old = old and forms.converted(old, attempted.resource, seen_as)
    return obj, old


def _shown(namespace: JsonObject) -> JsonObject:
    """A namespace as policies see it."""
    metadata = {
        name: value for name, value in namespace["metadata"].items() if name not in _HIDDEN_METADATA
    }
    return {**namespace, "metadata": metadata}


def request_object(attempted: AttemptedWrite, seen_as: Resource) -> JsonObject:
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


def _resource(resource: Resource) -> JsonObject:
    return {
        "group": resource.group,
        "version": resource.version,
        "resource": resource.plural,
    }
