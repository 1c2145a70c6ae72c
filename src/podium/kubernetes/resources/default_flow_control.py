"""The flow schemas and priority levels that every cluster has, as data.

`MANDATORY` ones cannot be changed; the others are suggestions, made at the start when they are
missing.
"""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject

MANDATORY: Final = frozenset({"catch-all", "exempt"})
_ANNOTATIONS: Final = {"apf.kubernetes.io/autoupdate-spec": "true"}
_ALL: Final = ["*"]
_EVERYTHING: Final = {
    "resourceRules": [
        {
            "verbs": _ALL,
            "apiGroups": _ALL,
            "resources": _ALL,
            "clusterScope": True,
            "namespaces": _ALL,
        }
    ],
    "nonResourceRules": [{"verbs": _ALL, "nonResourceURLs": _ALL}],
}


def _limited_level(shares: int, lendable: int, queues: int = 0, hand: int = 0) -> JsonObject:
    response: JsonObject = {"type": "Reject"}
    if queues:
        queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
        response = {"type": "Queue", "queuing": queuing}
    return {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": shares,
            "limitResponse": response,
            "lendablePercent": lendable,
        },
    }


_LEVELS: Final[dict[str, JsonObject]] = {
    "catch-all": _limited_level(5, 0),
    "exempt": {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}},
    "global-default": _limited_level(20, 50, 128, 6),
    "leader-election": _limited_level(10, 0, 16, 4),
    "node-high": _limited_level(40, 25, 64, 6),
    "system": _limited_level(30, 33, 64, 6),
    "workload-high": _limited_level(40, 50, 128, 6),
    "workload-low": _limited_level(100, 90, 128, 6),
}


def _groups(*names: str) -> list[JsonObject]:
    return [{"kind": "Group", "group": {"name": f"system:{name}"}} for name in names]


def _users(*names: str) -> list[JsonObject]:
    return [{"kind": "User", "user": {"name": f"system:{name}"}} for name in names]


_SYSTEM_ACCOUNTS: Final[list[JsonObject]] = [
    {"kind": "ServiceAccount", "serviceAccount": {"namespace": "kube-system", "name": "*"}}
]
_EVERYBODY: Final = _groups("unauthenticated", "authenticated")


def _schema(
    level: str,
    precedence: int,
    by: str,
    subjects: list[JsonObject],
    rules: JsonObject = _EVERYTHING,
) -> JsonObject:
    spec: JsonObject = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
        "rules": [{"subjects": subjects, **rules}],
    }
    if by:
        spec["distinguisherMethod"] = {"type": by}
    return spec


def _resources(
    group: str, *resources: str, verbs: Sequence[str] = _ALL, cluster: bool = False
) -> JsonObject:
    rule: JsonObject = {
        "verbs": list(verbs),
        "apiGroups": [group],
        "resources": list(resources),
        "namespaces": _ALL,
    }
    return {**rule, "clusterScope": True} if cluster else rule


_LEASES: Final = "coordination.k8s.io", "leases"
_PROBES: Final[JsonObject] = {
    "nonResourceRules": [
        {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]},
    ]
}
_ELECTIONS: Final[JsonObject] = {
    "resourceRules": [_resources(*_LEASES, verbs=("get", "create", "update"))]
}
_NODES: Final[JsonObject] = {
    "resourceRules": [
        _resources("", "nodes", "nodes/status", cluster=True),
        _resources(*_LEASES),
    ]
}
_SCHEMAS: Final[dict[str, JsonObject]] = {
    "catch-all": _schema("catch-all", 10_000, "ByUser", _EVERYBODY),
    "exempt": _schema("exempt", 1, "", _groups("masters")),
    "global-default": _schema("global-default", 9900, "ByUser", _EVERYBODY),
    "kube-controller-manager": _schema(
        "workload-high", 800, "ByNamespace", _users("kube-controller-manager")
    ),
    "kube-scheduler": _schema("workload-high", 800, "ByNamespace", _users("kube-scheduler")),
    "kube-system-service-accounts": _schema("workload-high", 900, "ByNamespace", _SYSTEM_ACCOUNTS),
    "probes": _schema("exempt", 2, "", _EVERYBODY, _PROBES),
    "service-accounts": _schema("workload-low", 9000, "ByUser", _groups("serviceaccounts")),
    "system-leader-election": _schema(
        "leader-election",
        100,
        "ByUser",
        [*_users("kube-controller-manager", "kube-scheduler"), *_SYSTEM_ACCOUNTS],
        _ELECTIONS,
    ),
    "system-node-high": _schema("node-high", 400, "ByUser", _groups("nodes"), _NODES),
    "system-nodes": _schema("system", 500, "ByUser", _groups("nodes")),
}


def default_objects() -> list[tuple[str, JsonObject]]:
    """Plurals and objects; who takes them must not change them."""
    found = (("prioritylevelconfigurations", _LEVELS), ("flowschemas", _SCHEMAS))
    return [
        (plural, {"metadata": {"name": name, "annotations": _ANNOTATIONS}, "spec": spec})
        for plural, by_name in found
        for name, spec in by_name.items()
    ]


def fixed_level(name: str) -> JsonObject | None:
    """The spec of a mandatory priority level, None if there is none of that name."""
    return _LEVELS[name] if name in MANDATORY else None


def fixed_schema(name: str) -> JsonObject | None:
    """The spec of a mandatory flow schema, None if there is none of that name."""
    return _SCHEMAS[name] if name in MANDATORY else None
