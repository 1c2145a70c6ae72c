"""Cases of affinity between pods, and of topology spreading.

Colours say who is meant: green pods keep away from each other, blue ones want each other's zone,
red ones would like each other's node and yellow ones rather not.

Cases of topology spreading: required, preferred, by default, and with tainted nodes left out.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from podium.bench.templates import (
    HOSTNAME,
    PODS_BY_CPU,
    ZONE,
    BenchmarkPlan,
    Raw,
    Scene,
    arrivals,
    make_namespaces,
    make_node,
    make_nodes,
    make_pod,
    make_service,
    on_node,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NAMESPACES = ["sched-1", "sched-0"]
INIT_NAMESPACES = 100

_KINDS = {
    "green": ("podAntiAffinity", REQUIRED, HOSTNAME),
    "blue": ("podAffinity", REQUIRED, ZONE),
    "red": ("podAffinity", PREFERRED, HOSTNAME),
    "yellow": ("podAntiAffinity", PREFERRED, HOSTNAME),
}


def _affinity(color: str, *, by_selector: bool) -> Raw:
    kind, strength, key = _KINDS[color]
    term: Raw = {"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": key}
    if by_selector:
        term["namespaceSelector"] = {"matchLabels": {"team": "devops"}}
    else:
        term["namespaces"] = NAMESPACES
    if strength == PREFERRED:
        term = {"weight": 1, "podAffinityTerm": term}
    return {kind: {strength: [term]}}


def make_colored_pod(
    color: str, name: str, namespace: str, *, by_selector: bool = False, node: int | None = None
) -> Pod:
    """A pod of a colour; one with a node is on it."""
    affinity = _affinity(color, by_selector=by_selector)
    placed = on_node(node) if node is not None else {}
    return make_pod(name, namespace=namespace, labels={"color": color}, affinity=affinity, **placed)


def _zones(color: str) -> list[str]:
    return ["zone1"] if _KINDS[color][2] == ZONE else []


def _home(color: str, index: int, nodes: int) -> int:
    """The node of a pod that was there before: red pods have drawn each other together."""
    return (index // PODS_BY_CPU if color == "red" else index) % nodes


def _by_namespaces(color: str, plan: BenchmarkPlan) -> Scene:
    return Scene(
        nodes=make_nodes(plan.nodes, zones=_zones(color)),
        init=(
            make_colored_pod(color, f"init-{i}", "sched-0", node=_home(color, i, plan.nodes))
            for i in range(plan.init)
        ),
        measured=arrivals(make_colored_pod(color, f"pod-{i}", "sched-1") for i in range(plan.pods)),
    )


def _by_selector(color: str, plan: BenchmarkPlan) -> Scene:
    """The same, with the pods that were there before in a hundred namespaces."""
    spaces = max(1, min(INIT_NAMESPACES, plan.init))

    def init() -> Iterator[Pod]:
        for i in range(plan.init):
            home = _home(color, i, plan.nodes)
            yield make_colored_pod(
                color, f"init-{i}", f"init-ns-{i % spaces}", by_selector=True, node=home
            )

    return Scene(
        nodes=make_nodes(plan.nodes, zones=_zones(color)),
        objects=(*make_namespaces("init-ns", spaces), *make_namespaces("measure-ns", 1)),
        init=init(),
        measured=arrivals(
            make_colored_pod(color, f"pod-{i}", "measure-ns-0", by_selector=True)
            for i in range(plan.pods)
        ),
    )


def anti_affinity(plan: BenchmarkPlan) -> Scene:
    return _by_namespaces("green", plan)


def matching_anti_affinity(plan: BenchmarkPlan) -> Scene:
    """Pods without rules of their own that pods on nodes keep away from."""
    scene = anti_affinity(plan)
    green = {"color": "green"}
    scene.measured = arrivals(
        make_pod(f"pod-{i}", namespace="sched-1", labels=green) for i in range(plan.pods)
    )
    return scene


def affinity(plan: BenchmarkPlan) -> Scene:
    return _by_namespaces("blue", plan)


def preferred_affinity(plan: BenchmarkPlan) -> Scene:
    return _by_namespaces("red", plan)


def preferred_anti_affinity(plan: BenchmarkPlan) -> Scene:
    return _by_namespaces("yellow", plan)


def anti_affinity_by_selector(plan: BenchmarkPlan) -> Scene:
    return _by_selector("green", plan)


def affinity_by_selector(plan: BenchmarkPlan) -> Scene:
    return _by_selector("blue", plan)


def preferred_affinity_by_selector(plan: BenchmarkPlan) -> Scene:
    return _by_selector("red", plan)


def preferred_anti_affinity_by_selector(plan: BenchmarkPlan) -> Scene:
    return _by_selector("yellow", plan)


def mix_rules(plan: BenchmarkPlan) -> Scene:
    """Plain pods on a cluster whose pods have rules of every colour."""
    colors = tuple(_KINDS)
    each = plan.init // (len(colors) + 1)

    def init() -> Iterator[Pod]:
        for i in range(plan.init - each * len(colors)):
            yield make_pod(f"init-{i}", namespace="sched-0", **on_node(i % plan.nodes))
        for color in colors:
            for i in range(each):
                home = _home(color, i, plan.nodes)
                yield make_colored_pod(color, f"{color}-{i}", "sched-0", node=home)

    return Scene(
        nodes=make_nodes(plan.nodes, zones=["zone1"]),
        init=init(),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
    )


ZONES = ("moon-1", "moon-2", "moon-3")
RACK = "example.com/rack"


def _constraint(key: str, labels: dict[str, str], skew: int, *, required: bool) -> Raw:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if required else "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }


def _plain(plan: BenchmarkPlan) -> Iterator[Pod]:
    return (make_pod(f"init-{i}", **on_node(i % plan.nodes)) for i in range(plan.init))


def _over_zones(plan: BenchmarkPlan, *, required: bool) -> Scene:
    blue = {"color": "blue"}
    constraints = [_constraint(ZONE, blue, 5, required=required)]
    return Scene(
        nodes=make_nodes(plan.nodes, zones=ZONES),
        init=_plain(plan),
        measured=arrivals(
            make_pod(f"pod-{i}", labels=blue, topologySpreadConstraints=constraints)
            for i in range(plan.pods)
        ),
    )


def require_spreading(plan: BenchmarkPlan) -> Scene:
    return _over_zones(plan, required=True)


def prefer_spreading(plan: BenchmarkPlan) -> Scene:
    return _over_zones(plan, required=False)


def by_default(plan: BenchmarkPlan) -> Scene:
    """Pods of a service, which the scheduler's own default constraints spread."""
    labels = {"app": "scheduler-perf"}
    return Scene(
        nodes=make_nodes(plan.nodes, zones=ZONES),
        objects=(make_service("service-0", "service-ns", "scheduler-perf"),),
        init=_plain(plan),
        measured=arrivals(
            make_pod(f"pod-{i}", namespace="service-ns", labels=labels, requests=None)
            for i in range(plan.pods)
        ),
    )


def with_inclusion_policy(plan: BenchmarkPlan) -> Scene:
    """One pod a node, not counting the fifth of the nodes that is tainted."""
    tainted = plan.nodes // 5
    taint = {"key": "foo", "effect": "NoSchedule"}
    labels = {"foo": "bar"}
    constraint = _constraint(HOSTNAME, labels, 1, required=True)
    constraint |= {"nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Honor"}
    return Scene(
        nodes=chain(
            make_nodes(plan.nodes - tainted),
            (make_node(f"taint-node-{i:06d}", taints=[taint]) for i in range(tainted)),
        ),
        measured=arrivals(
            make_pod(f"pod-{i}", labels=labels, topologySpreadConstraints=[constraint])
            for i in range(plan.pods)
        ),
    )


def many_selectors(plan: BenchmarkPlan) -> Scene:
    """Pods of many applications in turn, each spread over zones by a selector of its own."""
    count = max(1, plan.selectors)

    def pod(index: int, prefix: str, **placed: Any) -> Pod:
        labels = {"app": f"app-{index % count}"}
        constraints = [_constraint(ZONE, labels, 5, required=True)]
        return make_pod(
            f"{prefix}-{index}", labels=labels, topologySpreadConstraints=constraints, **placed
        )

    return Scene(
        nodes=make_nodes(plan.nodes, zones=ZONES),
        init=(pod(i, "init", **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=arrivals(pod(i, "pod") for i in range(plan.pods)),
    )


def many_domains(plan: BenchmarkPlan) -> Scene:
    """Pods spread over many racks."""
    count = max(1, min(plan.domains, plan.nodes))
    blue = {"color": "blue"}
    constraints = [_constraint(RACK, blue, 5, required=True)]

    def nodes() -> Iterator[Node]:
        for index in range(plan.nodes):
            yield make_node(f"node-{index:06d}", labels={RACK: f"rack-{index % count}"})

    return Scene(
        nodes=nodes(),
        init=_plain(plan),
        measured=arrivals(
            make_pod(f"pod-{i}", labels=blue, topologySpreadConstraints=constraints)
            for i in range(plan.pods)
        ),
    )
