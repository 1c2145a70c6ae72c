"""Cases of affinity and anti-affinity between pods, by namespace list and by namespace selector.

Colours say who is meant: green pods keep away from each other, blue ones want each other's zone,
red ones would like each other's node and yellow ones rather not.
"""

from collections.abc import Iterator

from podium.bench.scene import Plan, Scene, arrivals
from podium.bench.templates import (
    HOSTNAME,
    PODS_BY_CPU,
    ZONE,
    Raw,
    make_namespaces,
    make_nodes,
    make_pod,
    on_node,
)
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


def colored(
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


def _by_namespaces(color: str, plan: Plan) -> Scene:
    return Scene(
        nodes=make_nodes(plan.nodes, zones=_zones(color)),
        init=(
            colored(color, f"init-{i}", "sched-0", node=_home(color, i, plan.nodes))
            for i in range(plan.init)
        ),
        measured=arrivals(colored(color, f"pod-{i}", "sched-1") for i in range(plan.pods)),
    )


def _by_selector(color: str, plan: Plan) -> Scene:
    """The same, with the pods that were there before in a hundred namespaces."""
    spaces = max(1, min(INIT_NAMESPACES, plan.init))

    def init() -> Iterator[Pod]:
        for i in range(plan.init):
            home = _home(color, i, plan.nodes)
            yield colored(color, f"init-{i}", f"init-ns-{i % spaces}", by_selector=True, node=home)

    return Scene(
        nodes=make_nodes(plan.nodes, zones=_zones(color)),
        objects=(*make_namespaces("init-ns", spaces), *make_namespaces("measure-ns", 1)),
        init=init(),
        measured=arrivals(
            colored(color, f"pod-{i}", "measure-ns-0", by_selector=True) for i in range(plan.pods)
        ),
    )


def anti_affinity(plan: Plan) -> Scene:
    return _by_namespaces("green", plan)


def matching_anti_affinity(plan: Plan) -> Scene:
    """Pods without rules of their own that pods on nodes keep away from."""
    scene = anti_affinity(plan)
    green = {"color": "green"}
    scene.measured = arrivals(
        make_pod(f"pod-{i}", namespace="sched-1", labels=green) for i in range(plan.pods)
    )
    return scene


def affinity(plan: Plan) -> Scene:
    return _by_namespaces("blue", plan)


def preferred_affinity(plan: Plan) -> Scene:
    return _by_namespaces("red", plan)


def preferred_anti_affinity(plan: Plan) -> Scene:
    return _by_namespaces("yellow", plan)


def anti_affinity_by_selector(plan: Plan) -> Scene:
    return _by_selector("green", plan)


def affinity_by_selector(plan: Plan) -> Scene:
    return _by_selector("blue", plan)


def preferred_affinity_by_selector(plan: Plan) -> Scene:
    return _by_selector("red", plan)


def preferred_anti_affinity_by_selector(plan: Plan) -> Scene:
    return _by_selector("yellow", plan)


def mixed(plan: Plan) -> Scene:
    """Plain pods on a cluster whose pods have rules of every colour."""
    colors = tuple(_KINDS)
    each = plan.init // (len(colors) + 1)

    def init() -> Iterator[Pod]:
        for i in range(plan.init - each * len(colors)):
            yield make_pod(f"init-{i}", namespace="sched-0", **on_node(i % plan.nodes))
        for color in colors:
            for i in range(each):
                home = _home(color, i, plan.nodes)
                yield colored(color, f"{color}-{i}", "sched-0", node=home)

    return Scene(
        nodes=make_nodes(plan.nodes, zones=["zone1"]),
        init=init(),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
    )
