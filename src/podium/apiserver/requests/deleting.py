"""Deleting objects: preconditions, grace periods, finalizers, propagation, collections.

The order of the steps is that of upstream's registry (`generic/registry/store.go` and
`rest/delete.go` in `staging/src/k8s.io/apiserver/pkg/registry`): pods are marked first and removed
when their grace has run out, everything else is removed at once unless finalizers hold it. What
happens to dependents is left to whoever collects garbage: the server only writes the finalizers
that tell how.
"""

from typing import Final, NamedTuple

from podium.apiserver.requests.call import Call
from podium.apiserver.requests.definitions import CLEANUP, mark_terminating
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.query import FOREGROUND, ORPHAN, DeleteOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import admission, status_errors
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.timestamps import seconds_of, time_text

ORPHAN_FINALIZER: Final = "orphan"
FOREGROUND_FINALIZER: Final = "foregroundDeletion"
_GARBAGE_FINALIZERS: Final = frozenset((ORPHAN_FINALIZER, FOREGROUND_FINALIZER))
_ORPHANED_BY_DEFAULT: Final = frozenset((("", "replicationcontrollers"), ("batch", "jobs")))
_WITHOUT_DEPENDENTS: Final = frozenset((("", "events"), ("events.k8s.io", "events")))
_SHOWN_ONCE_MORE: Final = frozenset(
    (
        ("", "persistentvolumeclaims"), ("", "persistentvolumes"), ("", "pods"),
        ("", "podtemplates"), ("", "resourcequotas"), ("", "serviceaccounts"), ("", "services"),
        ("resource.k8s.io", "deviceclasses"), ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceclaimtemplates"), ("resource.k8s.io", "resourceslices"),
        ("storage.k8s.io", "csidrivers"), ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "storageclasses"), ("storage.k8s.io", "volumeattachments"),
    )
)  # fmt: skip


class Deleted(NamedTuple):
    """What a deletion answers: the object, or a Status where there is none to show."""

    version: Stored | None
    status: JsonObject | None
    gone: bool


def delete(
    registry: Registry,
    resource: ApiResource,
    namespace: str,
    name: str,
    options: DeleteOptions,
    call: Call,
    *,
    reviewed: bool = True,
) -> Deleted:
    """`reviewed`: policies and webhooks are asked. Not of what follows from another act."""
    admission.admit_delete(resource, namespace, name)
    before = registry.get(resource, namespace, name)
    obj = registry.read(resource, before)
    check_preconditions(resource, obj["metadata"], options)
    if reviewed:
        given = _options_shown(resource, obj["metadata"], options)
        where = (registry, resource, namespace, name, None, obj, call)
        mutate_write(*where, dry_run=options.dry_run, options=given)
        review_write(*where, dry_run=options.dry_run, options=given)
    if resource.group == "" and resource.kind == "Namespace":
        kept = _terminate_namespace(registry, resource, before, obj, options, call)
        if kept is not None:
            return kept
    metadata = obj["metadata"]
    original = registry.read(resource, before)
    if resource.kind == "CustomResourceDefinition" and not options.dry_run:
        return _delete_definition(registry, resource, before, obj, call)
    graceful, pending, options = _grace(resource, obj, options, call)
    if pending:
        return _finish_deletion(resource, before, metadata, gone=False)
    finalizers = _finalizers(resource, metadata.get("finalizers") or [], options)
    if finalizers != (metadata.get("finalizers") or []):
        _set_finalizers(metadata, finalizers)
    if not graceful and finalizers:
        _mark(metadata, call.now)
    marked = before
    if obj != original:
        marked = registry.replace(resource, before, obj, dry_run=options.dry_run)
    if finalizers or (graceful and options.grace_period_s):
        return Deleted(marked, None, gone=False)
    if options.dry_run:
        return _finish_deletion(resource, marked, metadata, gone=True)
    return _finish_deletion(resource, registry.remove(resource, marked), metadata, gone=True)


def _options_shown(
    resource: ApiResource, metadata: JsonObject, options: DeleteOptions
) -> JsonObject:
    """The options of a deletion as policies and webhooks see them."""
    shown = options.as_object()
    if resource.group == "" and resource.kind == "Namespace":
        # upstream: the registry of namespaces fills it in.
        shown["preconditions"] = {"uid": metadata["uid"], **shown.get("preconditions", {})}
    return shown


def delete_collection(
    registry: Registry,
    resource: ApiResource,
    versions: list[Stored],
    options: DeleteOptions,
    call: Call,
    *,
    reviewed: bool = True,
) -> None:
    """Delete what a list has shown; objects that went meanwhile are no problem.

    Webhooks may be asked about each, so what is done once is remembered.
    """
    done = call.remember("deleted", set[Stored]) if reviewed else set()
    for version in versions:
        if version in done:
            continue
        try:
            where = (version.namespace, version.name)
            delete(registry, resource, *where, options, call, reviewed=reviewed)
        except status_errors.StatusError as problem:
            if problem.code != 404:
                raise
        done.add(version)


def check_preconditions(
    resource: ApiResource, metadata: JsonObject, options: DeleteOptions
) -> None:
    name = metadata["name"]
    if options.uid is not None and options.uid != metadata["uid"]:
        raise _kind_conflict(
            resource,
            name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record"
            f" ({metadata['uid']}). The object might have been deleted and then recreated",
        )
    version = metadata["resourceVersion"]
    if options.resource_version is not None and options.resource_version != version:
        raise _kind_conflict(
            resource,
            name,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match"
            f" the ResourceVersion in record ({version}). The object might have been modified",
        )


def _kind_conflict(resource: ApiResource, name: str, why: str) -> status_errors.StatusError:
    """upstream: preconditions name the kind where everything else names the resource."""
    subject = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {"name": name, "group": resource.group, "kind": resource.kind}
    return status_errors.StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {subject} "{name}": {why}',
        {key: value for key, value in details.items() if value},
    )


class _Grace(NamedTuple):
    graceful: bool
    """The object was marked and may have to wait."""
    pending: bool
    """It is being deleted already, and not more slowly than asked for."""
    options: DeleteOptions


def _grace(resource: ApiResource, obj: JsonObject, options: DeleteOptions, call: Call) -> _Grace:
    """Mark an object that is deleted gracefully; only pods are."""
    if options.grace_period_s is not None and options.grace_period_s < 0:
        options = options.with_grace(1)  # upstream: negative periods count as one second
    if resource.group != "" or resource.kind != "Pod":
        return _Grace(False, False, options)
    metadata = obj["metadata"]
    if "deletionTimestamp" in metadata:
        return _shorten_grace(metadata, options)
    period = options.grace_period_s
    spec = obj.get("spec") or {}
    if period is None:
        period = spec.get("terminationGracePeriodSeconds") or 0
    if not spec.get("nodeName") or (obj.get("status") or {}).get("phase") in (
        "Failed",
        "Succeeded",
    ):
        period = 0
    if period < 0:
        period = 1
    metadata["deletionTimestamp"] = time_text(seconds_of(call.now) + period)
    metadata["deletionGracePeriodSeconds"] = period
    _count_generation(metadata)
    return _Grace(True, False, options.with_grace(period))


def _shorten_grace(metadata: JsonObject, options: DeleteOptions) -> _Grace:
    """A grace period that runs can be shortened, never extended."""
    running = metadata.get("deletionGracePeriodSeconds")
    if not running:
        return _Grace(False, False, options)
    wanted = options.grace_period_s
    if wanted is None or wanted >= running:
        return _Grace(False, True, options)
    begun = seconds_of(metadata["deletionTimestamp"]) - running
    metadata["deletionTimestamp"] = time_text(begun + wanted)
    metadata["deletionGracePeriodSeconds"] = wanted
    return _Grace(True, False, options)


def _mark(metadata: JsonObject, now: str) -> None:
    """An object without grace that finalizers hold."""
    if "deletionTimestamp" not in metadata:
        _count_generation(metadata)
        metadata["deletionTimestamp"] = now
    elif seconds_of(metadata["deletionTimestamp"]) > seconds_of(now):
        metadata["deletionTimestamp"] = now
    metadata["deletionGracePeriodSeconds"] = 0


def _count_generation(metadata: JsonObject) -> None:
    if metadata.get("generation"):
        metadata["generation"] += 1


def _finalizers(resource: ApiResource, present: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers with those that say what becomes of dependents."""
    wanted = [each for each in present if each not in _GARBAGE_FINALIZERS]
    if _orphans(resource, present, options):
        wanted.append(ORPHAN_FINALIZER)
    if _waits_for_dependents(present, options):
        wanted.append(FOREGROUND_FINALIZER)
    return present if set(wanted) == set(present) else wanted


def _orphans(resource: ApiResource, present: list[str], options: DeleteOptions) -> bool:
    if (resource.group, resource.plural) in _WITHOUT_DEPENDENTS:
        return False
    if options.orphan_dependents is not None:
        return options.orphan_dependents
    if options.propagation is not None:
        return options.propagation == ORPHAN
    for finalizer in present:
        if finalizer in _GARBAGE_FINALIZERS:
            return finalizer == ORPHAN_FINALIZER
    return (resource.group, resource.plural) in _ORPHANED_BY_DEFAULT


def _waits_for_dependents(present: list[str], options: DeleteOptions) -> bool:
    if options.orphan_dependents is not None:
        return False
    if options.propagation is not None:
        return options.propagation == FOREGROUND
    for finalizer in present:
        if finalizer in _GARBAGE_FINALIZERS:
            return finalizer == FOREGROUND_FINALIZER
    return False


def _set_finalizers(metadata: JsonObject, finalizers: list[str]) -> None:
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)


def _terminate_namespace(
    registry: Registry,
    resource: ApiResource,
    before: Stored,
    obj: JsonObject,
    options: DeleteOptions,
    call: Call,
) -> Deleted | None:
    """A namespace is marked and stays until its finalizers are gone; None: remove it now."""
    metadata = obj["metadata"]
    if "deletionTimestamp" in metadata:
        if (obj.get("spec") or {}).get("finalizers"):
            return Deleted(before, None, gone=False)
        return None
    metadata["deletionTimestamp"] = call.now
    obj.setdefault("status", {})["phase"] = "Terminating"
    wanted = _finalizers(resource, metadata.get("finalizers") or [], options)
    _set_finalizers(metadata, wanted)
    version = registry.replace(resource, before, obj, dry_run=options.dry_run)
    return Deleted(version, None, gone=False)


def _delete_definition(
    registry: Registry, resource: ApiResource, before: Stored, obj: JsonObject, call: Call
) -> Deleted:
    """A definition is marked, its objects go, then itself; those that are held make it wait."""
    name, metadata = obj["metadata"]["name"], obj["metadata"]
    mark_terminating(obj, call.now)
    metadata.setdefault("deletionTimestamp", call.now)
    marked = before
    if obj != registry.read(resource, before):
        marked = registry.replace(resource, before, obj, dry_run=False)
    for instances in registry.definitions.resources_of(name)[:1]:
        collection = registry.collection(instances)
        held = collection.current()
        delete_collection(registry, instances, held, DeleteOptions(), call, reviewed=False)
        if len(collection):
            return Deleted(marked, None, gone=False)
    if registry.find(resource, "", name) is marked and metadata["finalizers"] == [CLEANUP]:
        registry.remove(resource, marked)
    return Deleted(marked, None, gone=False)


def _finish_deletion(
    resource: ApiResource, version: Stored, metadata: JsonObject, *, gone: bool
) -> Deleted:
    """Some kinds are shown once more; of everything else it is said that it is gone."""
    if (resource.group, resource.plural) in _SHOWN_ONCE_MORE:
        return Deleted(version, None, gone)
    details = {
        "name": metadata["name"],
        "group": resource.group,
        "kind": resource.plural,
        "uid": metadata["uid"],
    }
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {key: value for key, value in details.items() if value},
    }
    return Deleted(None, status, gone)
