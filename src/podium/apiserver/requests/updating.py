"""Writing a new version of an object: preconditions, what an update cannot change, storing.

Updates and patches meet here: both have an old and a new object, and from then on do the same.
An object whose deletion waits for finalizers goes when an update takes the last one away. A write
that changes nothing is not one: the stored version stays, with its resourceVersion.
"""

from typing import Final, NamedTuple

from podium.apiserver.access.guards import (
    confirm_signer,
    guard_policy,
    parameter_errors_of,
    status_errors_of,
)
from podium.apiserver.managed_fields import (
    Writer,
    keep_times_of_idle_write,
    manager_of,
    track_update,
)
from podium.apiserver.requests import creating, query
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import create, fit_storage, place_in_namespace, settle
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.registry import Registry, check_path_name
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import admission, status_errors, warnings
from podium.kubernetes.admission.new_objects import kind_for_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules import field_errors

_CREATED_BY_UPDATE: Final = frozenset(
    {
        ("", "endpoints"),
        ("", "events"),
        ("", "limitranges"),
        ("", "services"),
        ("coordination.k8s.io", "leases"),
        ("events.k8s.io", "events"),
        ("node.k8s.io", "runtimeclasses"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
        ("rbac.authorization.k8s.io", "roles"),
    }
)
_VERSION_REQUIRED: Final = frozenset(
    {
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
        ("coordination.k8s.io", "leases"),
        ("node.k8s.io", "runtimeclasses"),
        ("policy", "poddisruptionbudgets"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "csistoragecapacities"),
        ("storage.k8s.io", "volumeattachments"),
    }
)


class Written(NamedTuple):
    version: Stored
    created: bool = False


def update(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    namespace: str,
    name: str,
    obj: JsonObject,
    call: Call,
) -> Written:
    """Replace an object by the one of a PUT."""
    metadata = obj["metadata"]
    check_name(resource, namespace, name, metadata)
    before = registry.find(resource, namespace, name)
    if before is None:
        check_path_name(name)
        if (
            subresource
            or metadata.get("resourceVersion")
            or (resource.group, resource.plural) not in _CREATED_BY_UPDATE
        ):
            raise status_errors.not_found(resource, name)
        metadata.pop("uid", None)
        created = create(registry, resource, namespace, obj, call, instead=True)
        return Written(created, created=True)
    old = registry.read(resource, before)
    check_uid(resource, before, metadata, old["metadata"])
    given = metadata.get("resourceVersion", "")
    if not given or given == "0":
        _require_version(resource, name)
    check_version(resource, name, given, old["metadata"]["resourceVersion"])
    track(registry, resource, subresource, old, obj, call)
    return Written(write(registry, resource, subresource, before, old, obj, call))


def track(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    old: JsonObject,
    new: JsonObject,
    call: Call,
) -> None:
    """Note in the new object who wrote which of its fields."""
    manager = manager_of(call.options.field_manager, call.user_agent)
    writer = Writer(manager, call.now, subresource)
    track_update(old, new, registry.rules(resource).schema, writer)


def write(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    before: Stored,
    old: JsonObject,
    new: JsonObject,
    call: Call,
    *,
    applied: bool = False,
    reviewed: bool = True,
) -> Stored:
    """Admit, validate and store a new object in place of an old one.

    `reviewed`: policies and webhooks are asked. Not of a write that is part of another one.
    """
    namespace, name = before.namespace, before.name
    rules = registry.rules(resource)
    if not subresource:
        admission.admit_update(resource, namespace, new, old, registry.lookup, registry.settings)
    if reviewed:
        _mutate(registry, resource, subresource, before, old, new, call)
    _keep_metadata(new["metadata"], old["metadata"])
    if not subresource:
        guard_policy(call, resource, new, old)
    rules.prepare_update(subresource, new, old, call.now)
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    problems = status_errors_of(call, resource, subresource, new, old)
    problems += rules.validate_update(subresource, new, old)
    if not subresource:
        problems = problems or parameter_errors_of(registry, call, resource, new, old)
    if problems:
        raise status_errors.invalid(*kind_for_errors(resource, new), name, problems)
    if not subresource:
        call.warn_all(warnings.on_update(resource, new, old))
    confirm_signer(call, resource, subresource, new, old)
    admission.review_update(resource, new, old, registry.lookup)
    if reviewed:
        review_write(registry, resource, namespace, name, new, old, call, subresource=subresource)
    admission.charge_update(resource, new, old, registry.lookup)
    if deletes(resource, new, old):
        if not call.options.dry_run:
            registry.remove(resource, before)
        return registry.replace(resource, before, new, dry_run=True)
    if not call.options.dry_run:
        fit_storage(resource, rules.schema, new, keep_managed_fields=applied)
    if not subresource:
        settle(registry, resource, new, call)
    keep_times_of_idle_write(new, old)
    if new == old:
        return before
    return registry.replace(resource, before, new, dry_run=call.options.dry_run)


def _mutate(
    registry: Registry,
    resource: ApiResource,
    subresource: str,
    before: Stored,
    old: JsonObject,
    new: JsonObject,
    call: Call,
) -> None:
    """Let policies and webhooks change the new object, which keeps its name."""
    namespace, name = before.namespace, before.name

    def admit(changed: JsonObject) -> None:
        if not subresource:
            where = (registry.lookup, registry.settings)
            admission.admit_update(resource, namespace, changed, old, *where)

    if mutate_write(
        registry, resource, namespace, name, new, old, call, subresource=subresource, admit=admit
    ):
        check_name(resource, namespace, name, new["metadata"])


def deletes(resource: ApiResource, new: JsonObject, old: JsonObject) -> bool:
    """Whether the update took away the last reason to keep an object that is being deleted."""
    before = old["metadata"]
    if not before.get("deletionTimestamp") or before.get("deletionGracePeriodSeconds"):
        return False
    if new["metadata"].get("finalizers"):
        return False
    if resource.group == "" and resource.kind == "Namespace":
        return not (new.get("spec") or {}).get("finalizers")
    return True


def check_name(resource: ApiResource, namespace: str, name: str, metadata: JsonObject) -> None:
    """The object must be the one that the path names, in its namespace."""
    found = metadata.get("name", "")
    if not found:
        raise status_errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be"
            " provided"
        )
    if found != name:
        raise status_errors.bad_request(
            f"the name of the object ({found}) does not match the name on the URL ({name})"
        )
    place_in_namespace(resource, namespace, metadata)


def check_uid(
    resource: ApiResource, before: Stored, metadata: JsonObject, stored: JsonObject
) -> None:
    """A uid that an object carries must be that of the stored one."""
    uid = metadata.get("uid")
    if uid and uid != stored["uid"]:
        raise uid_conflict(resource, before, uid, stored["uid"])


def uid_conflict(
    resource: ApiResource, before: Stored, wanted: str, found: str
) -> status_errors.StatusError:
    """The object of that name is another one than the client means."""
    return _precondition_failed(resource, before, "UID", wanted, found)


def version_conflict(
    resource: ApiResource, before: Stored, wanted: str, found: str
) -> status_errors.StatusError:
    """The object is not any more the one that the client has seen."""
    return _precondition_failed(resource, before, "ResourceVersion", wanted, found)


def _precondition_failed(
    resource: ApiResource, before: Stored, field: str, wanted: str, found: str
) -> status_errors.StatusError:
    key = creating.path_of(resource, before)
    return status_errors.conflict(
        resource,
        before.name,
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0,"
        f" AdditionalErrorMsg: Precondition failed: {field} in precondition: {wanted},"
        f" {field} in object meta: {found}",
    )


def _require_version(resource: ApiResource, name: str) -> None:
    """Some kinds are only updated by clients that know what they replace."""
    if resource.is_custom or (resource.group, resource.plural) in _VERSION_REQUIRED:
        raise status_errors.invalid(
            resource.group,
            resource.plural,  # upstream: here, and only here, in place of the kind
            name,
            [
                field_errors.invalid(
                    "metadata.resourceVersion", 0, "must be specified for an update"
                )
            ],
        )


def check_version(resource: ApiResource, name: str, given: str, stored: str) -> None:
    """A resourceVersion that an object carries must be the stored one."""
    try:
        wanted = query.revision(given)
    except ValueError as problem:
        _, _, why = str(problem).partition(": strconv")
        raise status_errors.internal(f"strconv{why}") from None
    if wanted and str(wanted) != stored:
        raise status_errors.modified_meanwhile(resource, name)


def _keep_metadata(new: JsonObject, old: JsonObject) -> None:
    """What no update can change: identity, creation and a deletion that has begun."""
    new.setdefault("uid", old.get("uid"))
    new["creationTimestamp"] = old.get("creationTimestamp")
    if "generation" in old:
        new["generation"] = old["generation"]
    else:
        new.pop("generation", None)
    if "deletionTimestamp" in old:
        new["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old:
        new.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])
    new.pop("selfLink", None)
