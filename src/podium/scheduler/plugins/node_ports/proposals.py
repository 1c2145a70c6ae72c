"""Host ports: do without one."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Container, ContainerPort, Pod
from podium.kubernetes.rules.host_ports import HostPort, conflicts, host_ports
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.node_ports.plugin import NodePorts


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
