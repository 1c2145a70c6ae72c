"""The ports of the node itself that a pod wants, and when two wishes clash.

Two pods cannot listen on one port of one node. Addresses are compared as texts and only `0.0.0.0`
stands for all of them (`::` does not), as upstream has it
(`staging/src/k8s.io/kube-scheduler/framework/types.go`).
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from podium.kubernetes.kinds.pod import Container, Pod

ANY_IP = "0.0.0.0"


class HostPort(NamedTuple):
    """A port as it is compared: defaults are filled in."""

    ip: str
    protocol: str
    port: int


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """The host ports of sidecars, then of regular containers; not of ordinary init containers."""
    ports: list[HostPort] = []
    for container in pod.spec.init_containers or ():
        if container.restart_policy == "Always":
            ports.extend(_ports_of(container))
    for container in pod.spec.containers or ():
        ports.extend(_ports_of(container))
    return tuple(ports)


def conflicts(wanted: Iterable[HostPort], used: Collection[HostPort]) -> bool:
    """Whether any wanted port is taken. Ports within `wanted` never conflict with each other."""
    if not used:
        return False
    taken = set(used)
    on_some_address = {(port.protocol, port.port) for port in taken}
    return any(_is_taken(port, taken, on_some_address) for port in wanted)


def _ports_of(container: Container) -> Iterable[HostPort]:
    for port in container.ports or ():
        if port.host_port > 0:
            yield HostPort(port.host_ip or ANY_IP, port.protocol or "TCP", port.host_port)


def _is_taken(wanted: HostPort, used: set[HostPort], on_some_address: set[tuple[str, int]]) -> bool:
    if wanted.ip == ANY_IP:
        return (wanted.protocol, wanted.port) in on_some_address
    return wanted in used or HostPort(ANY_IP, wanted.protocol, wanted.port) in used
