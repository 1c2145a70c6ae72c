"""Cases of topology spreading: required, preferred, by default, and with tainted nodes left out."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from podium.bench.scene import Plan, Scene, arrivals
from podium.bench.templates import (
    HOSTNAME,
    ZONE,
    Raw,
    make_node,
    make_nodes,
    make_pod,
    make_service,
    on_node,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

ZONES = ("moon-1", "moon-2", "moon-3")
RACK = "example.com/rack"


def _constraint(key: str, labels: dict[str, str], skew: int, *, required: bool) -> Raw:
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if required else "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }


def _plain(plan: Plan) -> Iterator[Pod]:
    return (make_pod(f"init-{i}", **on_node(i % plan.nodes)) for i in range(plan.init))


def _over_zones(plan: Plan, *, required: bool) -> Scene:
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


def required(plan: Plan) -> Scene:
    return _over_zones(plan, required=True)


def preferred(plan: Plan) -> Scene:
    return _over_zones(plan, required=False)


def by_default(plan: Plan) -> Scene:
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


def with_inclusion_policy(plan: Plan) -> Scene:
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


def many_selectors(plan: Plan) -> Scene:
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


def many_domains(plan: Plan) -> Scene:
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
