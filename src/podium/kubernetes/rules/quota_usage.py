"""What an object takes of a resource quota, and which quotas it concerns.

Pods are charged for what they request and limit until they have ended, services for node ports and
load balancers, claims for storage, also by class; every kind can be counted. Names of amounts and
formulas are those of `pkg/quota/v1/evaluator/core`.

What the contents of a namespace take of the amounts that its quotas limit.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.labels import Requirement
from podium.kubernetes.rules.pod_level_resources import effective_amounts
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.quantity_spelling import canonical, total
from podium.kubernetes.rules.requests import is_extended
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION
from podium.kubernetes.rules.timestamps import seconds_of

Amounts = dict[str, str]

_SHARED: Final = ("cpu", "memory", "ephemeral-storage")
_POD_LEVEL: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"
_REQUESTS: Final = "requests."
_LIMITS: Final = "limits."
_POD_NAMES: Final = frozenset(
    {"count/pods", "pods", *_SHARED}
    | {_REQUESTS + name for name in _SHARED}
    | {_LIMITS + name for name in _SHARED}
)
_MUST_BE_SET: Final = frozenset(
    {*_POD_LEVEL} | {part + name for part in (_REQUESTS, _LIMITS) for name in _POD_LEVEL}
)
_SERVICE_NAMES: Final = frozenset(
    {"count/services", "services", "services.nodeports", "services.loadbalancers"}
)
_CLAIM_NAMES: Final = ("persistentvolumeclaims", "requests.storage")
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_OLD_COUNTS: Final = ("configmaps", "resourcequotas", "replicationcontrollers", "secrets")
_ENDED: Final = ("Succeeded", "Failed")


class Counted(NamedTuple):
    """A kind of objects, as URLs name it."""

    group: str
    plural: str

    @property
    def count_name(self) -> str:
        """The name under which a quota counts objects of the kind."""
        return f"count/{self.plural}.{self.group}" if self.group else f"count/{self.plural}"


PODS: Final = Counted("", "pods")
SERVICES: Final = Counted("", "services")
CLAIMS: Final = Counted("", "persistentvolumeclaims")


def tracked_names(kind: Counted, names: Iterable[str]) -> list[str]:
    """Those of a quota's names that objects of a kind are charged under, in order."""
    return sorted(name for name in names if _is_tracked(kind, name))


def _is_tracked(kind: Counted, name: str) -> bool:
    if kind == PODS:
        asked = name.removeprefix(_REQUESTS)
        extended = asked != name and is_extended(asked)
        return name in _POD_NAMES or asked.startswith(_HUGE_PAGES) or extended
    if kind == SERVICES:
        return name in _SERVICE_NAMES
    if kind == CLAIMS:
        return name in (kind.count_name, *_CLAIM_NAMES) or name.endswith(
            tuple(_BY_CLASS + each for each in _CLAIM_NAMES)
        )
    return name in _object_names(kind)


def _object_names(kind: Counted) -> tuple[str, ...]:
    is_old = not kind.group and kind.plural in _OLD_COUNTS
    return (kind.count_name, kind.plural) if is_old else (kind.count_name,)


def kinds_of(names: Iterable[str]) -> set[Counted]:
    """The kinds that a quota with these names has to look at."""
    found: set[Counted] = set()
    for name in names:
        if name.startswith("count/"):
            plural, _, group = name.removeprefix("count/").partition(".")
            found.add(Counted(group, plural))
        elif name in _OLD_COUNTS:
            found.add(Counted("", name))
        else:
            found.update(kind for kind in (PODS, SERVICES, CLAIMS) if _is_tracked(kind, name))
    return found


# --- what an object takes ---------------------------------------------------------------------


def usage_of(kind: Counted, obj: JsonObject, now_s: float | None = None) -> Amounts:
    """`now_s` tells whether a pod's grace period is over; without it, none is."""
    if kind == PODS:
        return _pod_usage(obj, now_s)
    if kind == SERVICES:
        return _service_usage(obj)
    if kind == CLAIMS:
        return _claim_usage(obj)
    return dict.fromkeys(_object_names(kind), "1")


def _pod_usage(pod: JsonObject, now_s: float | None) -> Amounts:
    usage = {"count/pods": "1"}
    if is_charged(pod, now_s):
        spec = pod.get("spec") or {}
        usage |= compute_usage(pod_amounts(spec, "requests"), pod_amounts(spec, "limits"))
    return usage


def is_charged(pod: JsonObject, now_s: float | None) -> bool:
    """Whether a pod counts for more than its existence: it has not ended, and is not overdue."""
    if (pod.get("status") or {}).get("phase") in _ENDED:
        return False
    metadata = pod.get("metadata") or {}
    deleted, grace_s = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if now_s is None or not deleted or grace_s is None:
        return True
    return bool(now_s <= seconds_of(deleted) + grace_s)


def pod_amounts(spec: JsonObject, part: str) -> Amounts:
    """What a pod requests or limits as a whole, its overhead included."""
    amounts = effective_amounts(spec, part)
    own = (spec.get("resources") or {}).get(part) or {}
    for name, amount in own.items():
        if name in _POD_LEVEL or name.startswith(_HUGE_PAGES):
            amounts[name] = str(amount)
    for name, amount in (spec.get("overhead") or {}).items():
        # A limit that nobody set is not made one by overhead.
        if name in amounts:
            amounts[name] = total(amounts[name], str(amount))
        elif part == "requests":
            amounts[name] = str(amount)
    return amounts


def compute_usage(requests: Mapping[str, str], limits: Mapping[str, str]) -> Amounts:
    """What requests and limits of a pod or a container amount to."""
    usage = {"pods": "1"}
    for name in _SHARED:
        if name in requests:
            usage[name] = usage[_REQUESTS + name] = requests[name]
        if name in limits:
            usage[_LIMITS + name] = limits[name]
    for name, amount in requests.items():
        if name.startswith(_HUGE_PAGES):
            usage[name] = usage[_REQUESTS + name] = amount
        elif is_extended(name):
            usage[_REQUESTS + name] = amount
    return usage


def _service_usage(service: JsonObject) -> Amounts:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    node_ports = balancers = 0
    if spec.get("type") == "NodePort":
        node_ports = len(ports)
    elif spec.get("type") == "LoadBalancer":
        balancers = 1
        allocates = spec.get("allocateLoadBalancerNodePorts") is not False
        node_ports = len(ports) if allocates else sum(bool(each.get("nodePort")) for each in ports)
    return {
        "count/services": "1",
        "services": "1",
        "services.nodeports": str(node_ports),
        "services.loadbalancers": str(balancers),
    }


def _claim_usage(claim: JsonObject) -> Amounts:
    spec, metadata = claim.get("spec") or {}, claim.get("metadata") or {}
    usage = {CLAIMS.count_name: "1", "persistentvolumeclaims": "1"}
    annotated = (metadata.get("annotations") or {}).get(CLASS_ANNOTATION)
    class_name = annotated if annotated is not None else spec.get("storageClassName")
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is not None:
        grown = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
        larger = grown is not None and nano(grown) > nano(size)
        usage["requests.storage"] = str(grown if larger else size)
    if class_name:
        usage |= {
            f"{class_name}{_BY_CLASS}{name}": usage[name] for name in _CLAIM_NAMES if name in usage
        }
    return usage


# --- whether a quota is for it ----------------------------------------------------------------


def is_in_scope(quota_spec: JsonObject, kind: Counted, obj: JsonObject) -> bool:
    """Whether an object has every property that a quota is limited to."""
    selector = (quota_spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    scopes = [
        {"scopeName": scope, "operator": "Exists"} for scope in quota_spec.get("scopes") or ()
    ]
    return all(_has_scope(scope, kind, obj) for scope in (*scopes, *selector))


def _has_scope(scope: JsonObject, kind: Counted, obj: JsonObject) -> bool:
    name, spec, status = scope.get("scopeName"), obj.get("spec") or {}, obj.get("status") or {}
    if kind == CLAIMS and name == "VolumeAttributesClass":
        target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
        current = status.get("currentVolumeAttributesClassName")
        names = {spec.get("volumeAttributesClassName"), target, current} - {None, ""}
        return any(_selects(scope, each) for each in names or {None})
    if kind != PODS:
        return False
    match name:
        case "Terminating":
            return spec.get("activeDeadlineSeconds") is not None
        case "NotTerminating":
            return spec.get("activeDeadlineSeconds") is None
        case "BestEffort":
            return status.get("qosClass") == "BestEffort"
        case "NotBestEffort":
            return status.get("qosClass") != "BestEffort"
        case "PriorityClass":
            return _selects(scope, spec.get("priorityClassName") or None)
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(spec.get("affinity") or {})
    return False


def _selects(scope: JsonObject, value: str | None) -> bool:
    values = frozenset(scope.get("values") or ())
    wanted = Requirement(scope["scopeName"], scope.get("operator") or "", values)
    return wanted.matches({} if value is None else {scope["scopeName"]: value})


def _crosses_namespaces(affinity: JsonObject) -> bool:
    terms: list[JsonObject] = []
    for kind in ("podAffinity", "podAntiAffinity"):
        written = affinity.get(kind) or {}
        terms += written.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = written.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [each.get("podAffinityTerm") or {} for each in preferred]
    return any(
        term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms
    )


def missing_amounts(names: Iterable[str], pod: JsonObject) -> str:
    """What a pod has to say under a quota with these names and does not; empty if nothing.

    upstream: each container, unless the pod as a whole says how much it needs.
    """
    spec = pod.get("spec") or {}
    if spec.get("resources"):
        return ""
    required = _MUST_BE_SET.intersection(names)
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources") or {}
        said = compute_usage(resources.get("requests") or {}, resources.get("limits") or {})
        for name in required.difference(said):
            missing.setdefault(name, set()).add(container.get("name") or "")
    told = (f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))
    return f"must specify {'; '.join(told)}" if missing else ""


def quota_usage(
    quota_spec: JsonObject, contents: Mapping[Counted, Iterable[JsonObject]], now_s: float
) -> Amounts:
    """What the contents of a namespace take of each amount that a quota limits and somebody
    counts; zero where nothing is there."""
    hard = quota_spec.get("hard") or {}
    used: Amounts = {}
    for kind, objects in contents.items():
        names = tracked_names(kind, hard)
        used |= dict.fromkeys(names, "0")
        for obj in objects:
            if not is_in_scope(quota_spec, kind, obj):
                continue
            usage = usage_of(kind, obj, now_s)
            for name in names:
                if name in usage:
                    used[name] = total(used[name], usage[name])
    return {name: canonical(amount) for name, amount in used.items()}
