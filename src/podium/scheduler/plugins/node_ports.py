"""NodePorts: two pods cannot have one host port of one node.

The rules for addresses and wildcards are those of `podium.scheduler.cluster.usage`; ports in use
are read through the cycle, so trials with nominated pods or without victims need no state here.

People are told which pod has the port, and on how many nodes; proposed is the pod without it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Container, ContainerPort, Pod
from podium.kubernetes.rules.host_ports import HostPort, conflicts, host_ports
from podium.scheduler.cluster.growth import Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import PlacementLimits
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import Finding, join_words, some
from podium.scheduler.framework.explanations.situation import (
    MAX_STEPS_OF_A_KIND,
    AttemptView,
    Situation,
)
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unschedulable

PORTS_IN_USE = unschedulable("node(s) didn't have free ports for the requested pod ports")


@dataclass(frozen=True, slots=True)
class _WantedPorts:
    ports: tuple[HostPort, ...]


class NodePorts(PreFilterPlugin, FilterPlugin):
    name = "NodePorts"
    refusals_stand = True
    spares_new_nodes = True
    builds_on = MappingProxyType({"filter": "preFilter"})

    def pre_filter(self, cycle: Cycle) -> Status | None:
        ports = cycle.pod.shape.ports
        if not ports:
            return SKIP
        cycle.write(self.name, _WantedPorts(ports))
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        try:
            wanted = cycle.read(self.name, _WantedPorts)
        except StateMissing as missing:
            text = f'reading "PreFilterNodePorts" from cycleState: {missing}'
            raise StateMissing(text) from missing
        return rejecting(cycle.usage.ports.busy(wanted.ports, rows), PORTS_IN_USE)

    def looks_at_sums(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def state_limits(self, cycle: Cycle) -> PlacementLimits:
        return PlacementLimits(host_ports=self.name not in cycle.skip_filter)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_ports(view, among)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        return propose_fewer_ports(situation)

    def find_blockers(self, situation: Situation) -> Callable[[str], list[PodInfo]]:
        return find_blockers(situation)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE, self._deletion_hint),
            Registration(Resource.NODE, self.handle.new_node_actions),
        )

    def _deletion_hint(self, waiting: PodInfo, old: Pod, _new: Pod | None) -> bool:
        if not old.spec.node_name and not old.status.nominated_node_name:
            return False
        return conflicts(waiting.shape.ports, host_ports(old))


def find_ports(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of ports that is taken."""
    wanted = view.shape.ports
    groups: dict[tuple[HostPort, ...], list[int]] = {}
    holders: dict[int, list[str]] = {}
    for position in view.positions(among):
        pods = view.pods_on(position)
        taken: dict[HostPort, None] = {}
        for pod in pods:
            if not pod.shape.ports:
                continue
            clash = [port for port in wanted if conflicts((port,), pod.shape.ports)]
            if clash:
                taken |= dict.fromkeys(clash)
                holders.setdefault(position, []).append(pod.key)
        groups.setdefault(tuple(port for port in wanted if port in taken), []).append(position)
    return [_describe_taken(view, ports, at, holders) for ports, at in groups.items() if ports]


def _describe_taken(
    view: AttemptView,
    ports: tuple[HostPort, ...],
    positions: list[int],
    holders: dict[int, list[str]],
) -> Finding:
    mask: Mask = ~view.everywhere
    mask[positions] = True
    told = join_words(_port_text(port) for port in ports)
    names = [name for position in positions for name in holders[position]]
    clause = (
        f"host port {told} is taken by {some(names)}: {view.say(mask, 'has', 'have')} such a pod"
    )
    return Finding(
        "host-port-taken",
        told,
        mask,
        clause,
        f"host port {told} is taken",
        lambda position: f"host port {told} is taken by {join_words(holders[position])}",
        facts={"ports": [_port_text(port) for port in ports], "pods": list(names[:20])},
    )


def _port_text(port: HostPort) -> str:
    address = "" if port.ip == "0.0.0.0" else f"{port.ip}:"
    return f"{address}{port.port}/{port.protocol}"


def propose_fewer_ports(situation: Situation) -> Iterator[ProposedChange]:
    """All ports that some node has taken, the node with the fewest first. A pod on the host's
    network has no choice."""
    pod = situation.pod
    if pod.spec.host_network:
        return
    wanted = host_ports(pod)
    cluster = situation.cluster
    found: set[tuple[HostPort, ...]] = set()
    for name in situation.nodes_near(NodePorts.name):
        infos = cluster.usage.pods(cluster.nodes.row(name))
        used = {port for info in infos for port in info.shape.ports}
        found.add(tuple(port for port in wanted if conflicts((port,), used)))
    for taken in sorted(found - {()}, key=lambda ports: (len(ports), ports))[:MAX_STEPS_OF_A_KIND]:
        told = " and ".join(f"host port {port.port}/{port.protocol}" for port in taken)
        weight = disturbance.DROP_HOST_PORT + len(taken) - 1
        changed = without_host_ports(pod, frozenset(port.port for port in taken))
        yield situation.change_pod("drop-host-port", f"drop {told}", weight, changed)


def without_host_ports(pod: Pod, numbers: frozenset[int]) -> Pod:
    """The pod with the container ports kept and the host's let go."""

    def port_of(port: ContainerPort) -> ContainerPort:
        return replace(port, host_port=0, host_ip="") if port.host_port in numbers else port

    def container_of(container: Container) -> Container:
        if not container.ports:
            return container
        return replace(container, ports=tuple(map(port_of, container.ports)))

    spec = pod.spec
    containers = tuple(map(container_of, spec.containers or ()))
    init = spec.init_containers
    if init:
        init = tuple(map(container_of, init))
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init))


def find_blockers(situation: Situation) -> Callable[[str], list[PodInfo]]:
    """Pods of a node that have a port which the pod wants."""
    cluster, wanted = situation.cluster, situation.info.shape.ports

    def on_node(name: str) -> list[PodInfo]:
        infos = cluster.usage.pods(cluster.nodes.row(name))
        return [info for info in infos if conflicts(wanted, info.shape.ports)]

    return on_node
