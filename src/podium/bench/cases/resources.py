"""Cases in which nothing but room on nodes decides, and preemption that makes room."""

from collections.abc import Iterator

from podium.bench.templates import (
    ZONE,
    ArrivingPod,
    BenchmarkPlan,
    Churn,
    Scene,
    Turn,
    arrivals,
    make_node,
    make_nodes,
    make_pod,
    make_service,
    on_node,
)
from podium.kubernetes.kinds.pod import Pod

HIGH_PRIORITY = 10
"""Low-priority pods of 900m leave 400m of a node's 4 CPUs."""

LOW = {"cpu": "900m", "memory": "500Mi"}
HIGH = {"cpu": "3", "memory": "500Mi"}
TOO_LARGE = {"cpu": "9", "memory": "500Mi"}
NAMED_NODE = "scheduler-perf-node"


def basic(plan: BenchmarkPlan) -> Scene:
    return Scene(
        nodes=make_nodes(plan.nodes),
        init=(make_pod(f"init-{i}", **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
    )


def node_affinity(plan: BenchmarkPlan) -> Scene:
    """A required node affinity that every node satisfies."""
    expression = {"key": ZONE, "operator": "In", "values": ["zone1", "zone2"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return Scene(
        nodes=make_nodes(plan.nodes, zones=["zone1"]),
        init=(
            make_pod(f"init-{i}", affinity=affinity, **on_node(i % plan.nodes))
            for i in range(plan.init)
        ),
        measured=arrivals(make_pod(f"pod-{i}", affinity=affinity) for i in range(plan.pods)),
    )


def daemonset(plan: BenchmarkPlan) -> Scene:
    """Pods that name their node, as a DaemonSet's do; upstream sends all of them to one node."""
    field = {"key": "metadata.name", "operator": "In", "values": [NAMED_NODE]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    named = make_node(NAMED_NODE, allocatable={"pods": "90000"})

    def pod(index: int) -> Pod:
        return make_pod(f"daemon-{index}", requests=None, affinity=affinity)

    return Scene(
        nodes=(named, *make_nodes(plan.nodes)),
        measured=arrivals(pod(i) for i in range(plan.pods)),
    )


# preemption


def preemption(plan: BenchmarkPlan) -> Scene:
    """Each measured pod needs three of the four low-priority pods of a node to leave."""
    return Scene(
        nodes=make_nodes(plan.nodes),
        init=_low_priority(plan),
        measured=arrivals(_high_priority(f"high-{i}") for i in range(plan.pods)),
    )


def preemption_beside(plan: BenchmarkPlan) -> Scene:
    """Small pods that always fit, with a preempting pod coming in five times a second."""

    def turn(number: int) -> Turn:
        return Turn(put=(_high_priority(f"high-{number}"),))

    return Scene(
        nodes=make_nodes(plan.nodes),
        init=_low_priority(plan),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
        churn=(Churn(0.2, turn),),
    )


def _low_priority(plan: BenchmarkPlan) -> Iterator[Pod]:
    for index in range(plan.init):
        yield make_pod(f"low-{index}", requests=LOW, **on_node(index % plan.nodes))


def _high_priority(name: str) -> Pod:
    return make_pod(name, requests=HIGH, priority=HIGH_PRIORITY)


# the queue at work


def unschedulable(plan: BenchmarkPlan) -> Scene:
    """Small pods, with a pod that no node can ever take coming in five times a second."""

    def turn(number: int) -> Turn:
        return Turn(put=(_too_large(f"large-{number}"),))

    return Scene(
        nodes=make_nodes(plan.nodes),
        init=(make_pod(f"init-{i}", **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
        churn=(Churn(0.2, turn),),
    )


def _too_large(name: str) -> Pod:
    return make_pod(name, requests=TOO_LARGE, priority=HIGH_PRIORITY)


def mixed_churn(plan: BenchmarkPlan) -> Scene:
    """A node without room, a pod without a node and a service come and go every other second."""

    def turn(number: int) -> Turn:
        objects = (
            make_node(f"churn-{number // 2}", allocatable={"pods": "0"}),
            _too_large(f"large-{number // 2}"),
            make_service(f"churn-{number // 2}", "default", "foo"),
        )
        return Turn(delete=objects) if number % 2 else Turn(put=objects)

    return Scene(
        nodes=make_nodes(plan.nodes),
        measured=arrivals(make_pod(f"pod-{i}") for i in range(plan.pods)),
        churn=(Churn(1.0, turn),),
    )


def while_gated(plan: BenchmarkPlan) -> Scene:
    """Light pods beside many gated ones, while pods leave nodes fifty times a second.

    Upstream has one node that takes all of them; here they go to the plan's nodes, since every
    other case of a size has as many. Half of `init` is gated, the other half leaves one by one.
    """
    gated = plan.init // 2
    leaving = plan.init - gated
    gates = [{"name": "test.k8s.io/hold"}]

    def leaver(index: int) -> Pod:
        return make_pod(f"leaving-{index}", requests=None, **on_node(index % plan.nodes))

    def init() -> Iterator[Pod]:
        for index in range(leaving):
            yield leaver(index)
        for index in range(gated):
            yield make_pod(f"gated-{index}", requests=None, schedulingGates=gates)

    def turn(number: int) -> Turn:
        return Turn(delete=(leaver(number),)) if number < leaving else Turn()

    return Scene(
        nodes=make_nodes(plan.nodes),
        init=init(),
        measured=(ArrivingPod(make_pod(f"pod-{i}", requests=None)) for i in range(plan.pods)),
        churn=(Churn(0.02, turn),),
    )
