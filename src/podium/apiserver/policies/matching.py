"""Does a policy, or a binding, speak of a request?

By rules (group, version, resource, operation, scope, names), by the labels of the namespace, and by
those of the object. With `matchPolicy: Equivalent` a rule for one version of a resource is one for
all of them.
"""

from collections.abc import Iterable, Sequence

from podium.apiserver.access.attempts import unserved
from podium.apiserver.policies.attempted import DELETE, AttemptedWrite
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.label_selector_objects import object_selector


def matched_resource(
    matched: JsonObject | None,
    attempted: AttemptedWrite,
    equivalents: Sequence[Resource],
    lookup: Lookup,
) -> Resource | None:
    """The resource in whose form a request is looked at; None if it is not.

    No criteria, and criteria without rules, match everything. `equivalents` are the other forms of
    the resource.
    """
    if matched is None:
        return attempted.resource
    if not matches_namespace(matched.get("namespaceSelector"), attempted, lookup):
        return None
    if not matches_labels(matched.get("objectSelector"), attempted):
        return None
    others = equivalents if matched.get("matchPolicy") == "Equivalent" else ()
    if _by_rules(matched.get("excludeResourceRules") or (), attempted, others) is not None:
        return None
    rules = matched.get("resourceRules")
    return _by_rules(rules, attempted, others) if rules else attempted.resource


def _by_rules(
    rules: Iterable[JsonObject], attempted: AttemptedWrite, others: Sequence[Resource]
) -> Resource | None:
    for resource in (attempted.resource, *others):
        if any(matches_rule(rule, attempted, resource) for rule in rules):
            return resource
    return None


def matches_rule(rule: JsonObject, attempted: AttemptedWrite, resource: Resource) -> bool:
    names = rule.get("resourceNames")
    return (
        _has(rule.get("operations"), attempted.operation)
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and _has_resource(rule.get("resources") or (), resource.plural, attempted.subresource)
        and _is_in_scope(rule.get("scope") or "*", attempted)
        and (not names or attempted.name in names)
    )


def _has(listed: Sequence[str] | None, wanted: str) -> bool:
    return bool(listed) and ("*" in (listed or ()) or wanted in (listed or ()))


def _has_resource(listed: Iterable[str], plural: str, subresource: str) -> bool:
    for each in listed:
        resource, _, below = each.partition("/")
        if resource in ("*", plural) and below in ("*", subresource):
            return True
    return False


def _is_in_scope(scope: str, attempted: AttemptedWrite) -> bool:
    is_cluster_wide = attempted.is_of_namespace or not attempted.namespace
    return scope == "*" or is_cluster_wide == (scope == "Cluster")


def matches_namespace(
    written: JsonObject | None, attempted: AttemptedWrite, lookup: Lookup
) -> bool:
    if not written:
        return True
    if not attempted.namespace and not attempted.is_of_namespace:
        return True
    selector = object_selector(written)
    if selector.empty:
        return True
    if attempted.is_of_namespace and attempted.operation != DELETE and not attempted.subresource:
        return selector.matches(_labels(attempted.obj))
    found = lookup.find("", "namespaces", "", attempted.namespace)
    if found is None:
        raise status_errors.not_found(unserved("", "namespaces"), attempted.namespace)
    return selector.matches(_labels(found))


def matches_labels(written: JsonObject | None, attempted: AttemptedWrite) -> bool:
    if not written:
        return True
    selector = object_selector(written)
    return any(
        selector.matches(_labels(each))
        for each in (attempted.obj, attempted.old)
        if each is not None
    )


def _labels(obj: JsonObject | None) -> dict[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or {}
