"""Evicting a pod: a deletion that disruption budgets may refuse (`kubernetes.admission.evictions`).

What an eviction uses up of a budget is written into the budget's status before the pod is deleted.
"""

from dataclasses import replace

from podium.apiserver.requests import query
from podium.apiserver.requests.binding import set_condition
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import place_in_namespace
from podium.apiserver.requests.deleting import check_preconditions, delete
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.query import DeleteOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.evictions import admit_eviction, is_guarded
from podium.kubernetes.rules.labels import object_selector
from podium.kubernetes.schema import schema_of


def evict(
    registry: Registry, namespace: str, name: str, eviction: JsonObject, call: Call
) -> JsonObject:
    if eviction["metadata"].get("name", "") != name:
        raise status_errors.bad_request("name in URL does not match name in Eviction object")
    pods = registry.table.named("pods")
    place_in_namespace(pods, namespace, eviction["metadata"])
    options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    dry_run = options.dry_run or call.options.dry_run
    where = (registry, pods, namespace, name, eviction, None, call)
    schema = schema_of("policy", "v1", "Eviction")
    if mutate_write(*where, subresource="eviction", dry_run=dry_run, schema=schema):
        options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    review_write(*where, subresource="eviction", dry_run=dry_run)
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    if is_guarded(pod):
        _ask_budgets(registry, namespace, pod, before, dry_run=dry_run, call=call)
    _delete(registry, namespace, name, options, call, dry_run=dry_run)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _ask_budgets(
    registry: Registry,
    namespace: str,
    pod: JsonObject,
    version: Stored,
    *,
    dry_run: bool,
    call: Call,
) -> None:
    budgets = registry.table.named("poddisruptionbudgets", "policy")
    guarding = _guarding(registry, namespace, version)
    read = [registry.read(budgets, stored) for stored in guarding]
    charged = admit_eviction(pod, read, call.now)
    if charged is not None and not dry_run:
        registry.replace(budgets, guarding[0], charged, dry_run=False)


def _guarding(registry: Registry, namespace: str, pod: Stored) -> list[Stored]:
    """The budgets whose selectors match the pod's labels."""
    budgets = registry.table.named("poddisruptionbudgets", "policy")
    found: list[Stored] = []
    for stored in registry.collection(budgets).current(namespace):
        written = (stored.decoded(budgets).get("spec") or {}).get("selector")
        if object_selector(written).matches(pod.labels):
            found.append(stored)
    return found


def _delete(
    registry: Registry,
    namespace: str,
    name: str,
    options: DeleteOptions,
    call: Call,
    *,
    dry_run: bool,
) -> None:
    """Tell in the pod's status why it goes, and delete it."""
    pods = registry.table.named("pods")
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    check_preconditions(pods, pod["metadata"], options)
    set_condition(
        pod,
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        },
        call.now,
    )
    registry.replace(pods, before, pod, dry_run=dry_run)
    # The preconditions held for the version before the condition was written.
    unconditional = replace(options, uid=None, resource_version=None, dry_run=dry_run)
    delete(registry, pods, namespace, name, unconditional, call, reviewed=False)
