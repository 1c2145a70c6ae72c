"""Pods that are valid, as large as an API server stores them, and hard to schedule.

One pod of one tenant must not hold up the pods of all others. Each pod here fills one field of a
pod, or a combination of fields, with as many entries as fit into an object; what costs the
scheduler more than the size of the object shows at once. Those with volumes and devices are in
`hostile_claims`, nodes of that size in `hostile_nodes`. `hostile_scheduling` has them scheduled;
tests bound how much work each step may make, in a unit that is the same on every machine.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from podium.bench.hostile_bodies import LazyTable

MAX_OBJECT_BYTES: Final = 3 << 19
"""1.5 MiB: what etcd takes of a request, and so the largest object of a cluster."""
ZONES: Final = 10
RANK: Final = "example.com/rank"
"""A label that has another number on every node of the scene."""
_RESERVED_BYTES: Final = 2_000

Object = dict[str, Any]


class HostilePod(NamedTuple):
    """A pod, what it names, and nodes that are there besides those of the scene."""

    pod: Object
    objects: tuple[Object, ...] = ()
    nodes: tuple[Object, ...] = ()


def fill(make: Callable[[int], Any], share: int = 1) -> list[Any]:
    """As many entries as an object has room for, or the given part of it."""
    room = MAX_OBJECT_BYTES // share - _RESERVED_BYTES
    return fill_room(make, room, lambda entry: len(msgspec.json.encode(entry)) + 1)


def fill_room(make: Callable[[int], Any], room: int, size: Callable[[Any], int]) -> list[Any]:
    """Entries until there is no room for another."""
    left = room
    entries: list[Any] = []
    for number in count():
        entry = make(number)
        left -= size(entry)
        if left < 0:
            return entries
        entries.append(entry)
    raise AssertionError("unreachable")


def fill_map(make: Callable[[int], tuple[str, Any]], share: int = 1) -> dict[str, Any]:
    return dict(fill(make, share))


def make_hostile_pod(
    *objects: Object,
    nodes: Iterable[Object] = (),
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> HostilePod:
    main = {"name": "main", "image": "app:v1"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "hostile",
            "namespace": "tenant",
            "uid": "uid-hostile",
            **(metadata or {}),
        },
        "spec": {"containers": [main], "schedulerName": "default-scheduler", **spec},
    }
    return HostilePod(pod, objects, tuple(nodes))


# --- node affinity ------------------------------------------------------------------------------


def expression(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def term(*expressions: Object) -> Object:
    return {"matchExpressions": list(expressions)}


def _name_term(operator: str, name: str) -> Object:
    return {"matchFields": [expression("metadata.name", operator, name)]}


def _require_nodes(terms: list[Object]) -> HostilePod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return make_hostile_pod(affinity={"nodeAffinity": required})


def _prefer_nodes(make: Callable[[int], Object]) -> HostilePod:
    preferred = fill(lambda number: {"weight": number % 100 + 1, "preference": make(number)})
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return make_hostile_pod(affinity={"nodeAffinity": affinity})


NODE_AFFINITY: Final = LazyTable[HostilePod](
    {
        "Gt terms": lambda: _require_nodes(
            fill(lambda n: term(expression(RANK, "Gt", str(10_000 + n))))
        ),
        "Lt expressions of one term": lambda: _require_nodes(
            [term(*fill(lambda n: expression(RANK, "Lt", str(10_000 + n))))]
        ),
        "Gt terms over many keys": lambda: _require_nodes(
            fill(lambda n: term(expression(f"k{n}", "Gt", "1")))
        ),
        "an In with many values": lambda: _require_nodes(
            [term(expression(RANK, "In", *fill(lambda n: f"v{n}")))]
        ),
        "In terms": lambda: _require_nodes(
            fill(lambda n: term(expression(RANK, "In", f"v{n}", f"w{n}")))
        ),
        "NotIn expressions": lambda: _require_nodes(
            [term(*fill(lambda n: expression(RANK, "NotIn", f"v{n}")))]
        ),
        "Exists over many keys": lambda: _require_nodes(
            fill(lambda n: term(expression(f"k{n}", "Exists")))
        ),
        "DoesNotExist over many keys": lambda: _require_nodes(
            [term(*fill(lambda n: expression(f"k{n}", "DoesNotExist")))]
        ),
        "equal terms": lambda: _require_nodes(
            fill(lambda _: term(expression(RANK, "Gt", "5000"), expression("zone", "Exists")))
        ),
        "names": lambda: _require_nodes(fill(lambda n: _name_term("In", f"other-{n}"))),
        "names and labels": lambda: _require_nodes(
            fill(lambda n: _name_term("In", f"node-{n}") | term(expression("zone", "Exists")))
        ),
        "names to avoid": lambda: _require_nodes(
            [{"matchFields": fill(lambda n: expression("metadata.name", "NotIn", f"other-{n}"))}]
        ),
        "terms that cannot be parsed": lambda: _require_nodes(
            fill(lambda n: term(expression(RANK, "Gt", f"v{n}")))
        ),
        "preferred Gt terms": lambda: _prefer_nodes(lambda n: term(expression(RANK, "Gt", str(n)))),
        "preferred terms over many keys": lambda: _prefer_nodes(
            lambda n: term(expression(f"k{n}", "DoesNotExist"))
        ),
        "preferred names": lambda: _prefer_nodes(lambda n: _name_term("In", f"node-{n}")),
        "a node selector": lambda: make_hostile_pod(
            nodeSelector=fill_map(lambda n: (f"k{n}", "v"))
        ),
    }
)

# --- other pods ---------------------------------------------------------------------------------


def _spread(when: str, make: Callable[[int], Object], **labels: str) -> HostilePod:
    constraints = fill(
        lambda number: {"maxSkew": 1, "whenUnsatisfiable": when, **make(number)},
        2 if labels else 1,
    )
    return make_hostile_pod(metadata={"labels": labels}, topologySpreadConstraints=constraints)


def select(**labels: str) -> Object:
    return {"matchLabels": labels}


def _affinity(kind: str, make: Callable[[int], Object]) -> HostilePod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": fill(make)}
    return make_hostile_pod(metadata={"labels": {"app": "web-1"}}, affinity={kind: required})


def _preferred_affinity(kind: str, make: Callable[[int], Object]) -> HostilePod:
    preferred = fill(lambda n: {"weight": n % 100 + 1, "podAffinityTerm": make(n)})
    affinity = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    return make_hostile_pod(affinity={kind: affinity})


_MANY_LABELS: Final = {f"k{number}": "v" for number in range(20_000)}

POD_AFFINITY: Final = LazyTable[HostilePod](
    {
        "hard spread constraints over many keys": lambda: _spread(
            "DoNotSchedule",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": select(app=f"web-{n}")},
        ),
        "soft spread constraints over many keys": lambda: _spread(
            "ScheduleAnyway",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": select(app=f"web-{n}")},
        ),
        "match label keys": lambda: make_hostile_pod(
            metadata={"labels": _MANY_LABELS},
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {},
                    "matchLabelKeys": list(_MANY_LABELS),
                }
            ],
        ),
        "a selector of many requirements": lambda: _spread(
            "DoNotSchedule",
            lambda n: {
                "topologyKey": f"k{n}" if n else "zone",
                "labelSelector": {
                    "matchExpressions": [expression(f"k{i}", "Exists") for i in range(9_000)]
                },
            },
        ),
        "affinity terms": lambda: _affinity(
            "podAffinity",
            lambda n: {"topologyKey": "zone", "labelSelector": select(app=f"w{n}")},
        ),
        "anti-affinity terms": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {"topologyKey": "zone", "labelSelector": select(app=f"web-{n}")},
        ),
        "anti-affinity terms without equalities": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {"matchExpressions": [expression(f"k{n}", "DoesNotExist")]},
            },
        ),
        "equal anti-affinity terms": lambda: _affinity(
            "podAntiAffinity",
            lambda _: {"topologyKey": "zone", "labelSelector": select(app="x")},
        ),
        "anti-affinity terms over many keys": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {"topologyKey": f"k{n}", "labelSelector": select(app="web-1")},
        ),
        "affinity terms with many namespaces": lambda: _affinity(
            "podAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {},
                "namespaces": [f"ns-{n * 1_000 + i}" for i in range(1_000)],
            },
        ),
        "affinity terms with namespace selectors": lambda: _affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {},
                "namespaceSelector": select(team=f"t{n}"),
            },
        ),
        "an affinity term with many values": lambda: _affinity(
            "podAffinity",
            lambda n: {
                "topologyKey": "zone",
                "labelSelector": {
                    "matchExpressions": [
                        expression("app", "In", *(f"{n}-{i}" for i in range(20_000)))
                    ]
                },
            },
        ),
        "preferred affinity terms": lambda: _preferred_affinity(
            "podAffinity",
            lambda n: {"topologyKey": "zone", "labelSelector": select(app=f"web-{n}")},
        ),
        "preferred anti-affinity terms": lambda: _preferred_affinity(
            "podAntiAffinity",
            lambda n: {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchExpressions": [expression(f"k{n}", "DoesNotExist")]},
            },
        ),
    }
)

# --- nodes and what they have -------------------------------------------------------------------


def _tolerate(make: Callable[[int], Object]) -> HostilePod:
    return make_hostile_pod(tolerations=fill(make))


def _open_ports(make: Callable[[int], Object]) -> HostilePod:
    ports = fill(make)
    return make_hostile_pod(containers=[{"name": "main", "image": "app:v1", "ports": ports}])


def _port(number: int, **others: Any) -> Object:
    return {"containerPort": number % 65_535 + 1, "hostPort": number % 65_535 + 1, **others}


def _container(number: int, **others: Any) -> Object:
    return {"name": f"c{number}", "image": "app:v1", **others}


def _request(**amounts: str) -> Object:
    return {"resources": {"requests": amounts}}


NODES: Final = LazyTable[HostilePod](
    {
        "tolerations": lambda: _tolerate(
            lambda n: {"key": "pool", "operator": "Equal", "value": f"v{n}"}
        ),
        "tolerations of numbers": lambda: _tolerate(
            lambda n: {"key": "pool", "operator": "Gt", "value": str(n)}
        ),
        "tolerations of keys": lambda: _tolerate(lambda n: {"key": f"k{n}", "operator": "Exists"}),
        "host ports": lambda: _open_ports(_port),
        "host ports with addresses": lambda: _open_ports(
            lambda n: _port(8_079, hostIP=f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}")
        ),
        "containers": lambda: make_hostile_pod(
            containers=fill(lambda n: _container(n, **_request(cpu="1m", memory="1Mi")))
        ),
        "containers with images": lambda: make_hostile_pod(
            containers=fill(lambda n: {"name": f"c{n}", "image": f"app-{n}:v1"})
        ),
        "init containers": lambda: make_hostile_pod(
            initContainers=fill(
                lambda n: _container(n, restartPolicy="Always", **_request(cpu="1m"))
            )
        ),
        "resources": lambda: make_hostile_pod(
            containers=[
                _container(
                    0,
                    resources={"requests": fill_map(lambda n: (f"example.com/r{n}", "1"))},
                )
            ]
        ),
        "resources of containers": lambda: make_hostile_pod(
            containers=fill(lambda n: _container(n, **_request(**{f"example.com/r{n}": "1"})))
        ),
        "scheduling gates": lambda: make_hostile_pod(
            schedulingGates=fill(lambda n: {"name": f"example.com/g{n}"})
        ),
        "labels": lambda: make_hostile_pod(
            metadata={"labels": fill_map(lambda n: (f"k{n}", "v" * 60))}
        ),
        "annotations": lambda: make_hostile_pod(
            metadata={"annotations": fill_map(lambda n: (f"k{n}", "v" * 60))}
        ),
        "owners": lambda: make_hostile_pod(
            metadata={
                "ownerReferences": fill(
                    lambda n: {
                        "apiVersion": "apps/v1",
                        "kind": "ReplicaSet",
                        "name": f"n{n}",
                        "uid": f"u{n}",
                    }
                )
            }
        ),
    }
)
