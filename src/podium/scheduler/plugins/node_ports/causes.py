"""Ports of the node itself: which pod has the port, and on how many nodes."""

from podium.kubernetes.rules.host_ports import HostPort, conflicts
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, joined, some
from podium.scheduler.framework.explanations.situation import AttemptView


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
    return [_finding(view, ports, at, holders) for ports, at in groups.items() if ports]


def _finding(
    view: AttemptView,
    ports: tuple[HostPort, ...],
    positions: list[int],
    holders: dict[int, list[str]],
) -> Finding:
    mask: Mask = ~view.everywhere
    mask[positions] = True
    told = joined(_port_text(port) for port in ports)
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
        lambda position: f"host port {told} is taken by {joined(holders[position])}",
        facts={"ports": [_port_text(port) for port in ports], "pods": list(names[:20])},
    )


def _port_text(port: HostPort) -> str:
    address = "" if port.ip == "0.0.0.0" else f"{port.ip}:"
    return f"{address}{port.port}/{port.protocol}"
