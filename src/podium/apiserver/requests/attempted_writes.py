"""The registry and admission by others: what policies and webhooks may look at, and are told."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from podium.apiserver.access.authorisation import Grants, judge
from podium.apiserver.access.users import AuthorizationAttributes, User, service_account
from podium.apiserver.policies.attempted import CREATE, DELETE, UPDATE, AttemptedWrite
from podium.apiserver.requests.call import Call
from podium.golang.json_values import JsonObject
from podium.kubernetes import conversion
from podium.kubernetes.cel.functions.authorization import Question
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import Selector

if TYPE_CHECKING:
    from podium.apiserver.requests.registry import Registry
    from podium.kubernetes.admission.lookup import Lookup

_OPTIONS = {CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions"}


class RegistryForms:
    """What policies may look at."""

    def __init__(self, registry: "Registry") -> None:
        self._registry = registry
        self._grants = Grants(registry.lookup)

    @property
    def lookup(self) -> "Lookup":
        return self._registry.lookup

    def resource_of_kind(self, api_version: str, kind: str) -> ApiResource | None:
        group, _, version = api_version.rpartition("/")
        found = self._registry.table.find_kind(group, version, kind)
        return found if found is not None and found.is_stored else None

    def find_object(self, resource: ApiResource, namespace: str, name: str) -> JsonObject | None:
        found = self._registry.find(resource, namespace, name)
        return None if found is None else self._registry.read(resource, found)

    def select_objects(
        self, resource: ApiResource, namespace: str, selector: Selector
    ) -> Sequence[JsonObject]:
        found = self._registry.collection(resource).current(namespace)
        return [
            self._registry.read(resource, each) for each in found if selector.matches(each.labels)
        ]

    def equivalents_of(self, resource: ApiResource) -> Sequence[ApiResource]:
        """The same objects under other names: other versions, and events of the other group."""
        name = conversion.storage_name(resource)
        return [
            each
            for each in self._registry.table
            if each is not resource
            and each.plural == resource.plural
            and conversion.storage_name(each) == name
        ]

    def convert_object(
        self, obj: JsonObject, resource: ApiResource, other: ApiResource
    ) -> JsonObject:
        shown = conversion.to_served(other, conversion.to_stored(resource, obj))
        return {**shown, "kind": other.kind, "apiVersion": other.api_version}

    def judge(self, user: User, question: Question) -> tuple[bool, str]:
        if question.account is not None:
            user = service_account(*question.account)
        wanted = AuthorizationAttributes(
            question.verb,
            question.group,
            question.resource,
            question.subresource,
            question.namespace,
            question.name,
            question.path,
        )
        return judge(user, wanted, self._grants)


def attempted_write(
    resource: ApiResource,
    namespace: str,
    name: str,
    obj: JsonObject | None,
    old: JsonObject | None,
    call: Call,
    *,
    subresource: str = "",
    dry_run: bool = False,
    options: JsonObject | None = None,
) -> AttemptedWrite:
    """A write as policies and webhooks see it; `options` are those of a deletion.

    A new namespace is in itself, which its creator has to say.
    """
    operation = CREATE if old is None else UPDATE if obj is not None else DELETE
    dry_run = dry_run or call.options.dry_run
    shown: JsonObject = {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"}
    shown |= options or {}
    if dry_run:
        shown["dryRun"] = ["All"]
    if operation != DELETE:
        given = call.options
        named = {
            "fieldManager": given.field_manager,
            "fieldValidation": given.written_field_validation,
        }
        shown |= {key: value for key, value in named.items() if value}
    is_namespace = (resource.group, resource.plural) == ("", "namespaces")
    return AttemptedWrite(
        operation,
        resource,
        name if is_namespace and operation != CREATE else namespace,
        name,
        obj,
        old,
        call.user,
        subresource,
        dry_run,
        shown,
    )
