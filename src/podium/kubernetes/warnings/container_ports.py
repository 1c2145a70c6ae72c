"""Ports of a pod's containers that are defined twice, overlap or share a name.

Each port is compared with those before it that it can collide with, which are found by what they
have in common: thousands of ports that get on with each other cost no more than reading them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import merge
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.golang.quoting import quoted

_DUPLICATE: Final = "duplicate"
_OVERLAPPING: Final = "overlapping"
_AMBIGUOUS: Final = "dangerously ambiguous"


class _Port(NamedTuple):
    container_port: int
    protocol: str
    host_port: int
    host_ip: str


class _Before:
    """The ports of one number and protocol that were seen so far, each with its place."""

    def __init__(self) -> None:
        self._without_host_port: list[tuple[int, str]] = []
        self._with_host_port: list[tuple[int, str]] = []
        self._of_address: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
        self._of_all_addresses: dict[int, list[tuple[int, str]]] = defaultdict(list)
        self._of_some_address: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def collisions(self, port: _Port) -> Iterator[tuple[str, str]]:
        """Which ports a port collides with, in the order of the pod, and in which way."""
        same = self._of_address.get((port.host_port, port.host_ip), [])
        duplicates = ((number, place, _DUPLICATE) for number, place in same)
        known = {number for number, _ in same}
        overlapping = (
            (number, place, _OVERLAPPING)
            for number, place in (
                self._without_host_port
                if port.host_port
                else merge(self._without_host_port, self._with_host_port)
            )
            if number not in known
        )
        ambiguous: Iterator[tuple[int, str, str]] = iter(())
        if port.host_port:
            others = self._of_all_addresses if port.host_ip else self._of_some_address
            ambiguous = (
                (number, place, _AMBIGUOUS) for number, place in others.get(port.host_port, ())
            )
        for _, place, how in merge(duplicates, overlapping, ambiguous):
            yield how, place

    def add(self, number: int, port: _Port, place: str) -> None:
        self._of_address[port.host_port, port.host_ip].append((number, place))
        if not port.host_port:
            self._without_host_port.append((number, place))
            return
        self._with_host_port.append((number, place))
        kind = self._of_some_address if port.host_ip else self._of_all_addresses
        kind[port.host_port].append((number, place))


def about_ports(containers: list[tuple[JsonObject, str]]) -> Iterator[str]:
    """About the ports of containers, of which each comes with its path."""
    ports = [
        (port, f"{place}.ports[{number}]")
        for container, place in containers
        for number, port in enumerate(container.get("ports") or ())
    ]
    shared = Counter(map(_endpoint, (port for port, _ in ports)))
    before: dict[tuple[int, str], _Before] = defaultdict(_Before)
    for number, (written, place) in enumerate(ports):
        if written.get("hostIP") and not written.get("hostPort"):
            yield f"{place}: hostIP set without hostPort: {_go_port(written)}"
        endpoint = _endpoint(written)
        if shared[endpoint] == 1:
            continue
        port = _Port(*endpoint, written.get("hostPort") or 0, written.get("hostIP") or "")
        others = before[endpoint]
        for how, where in others.collisions(port):
            yield f"{place}: {how} port definition with {where}"
        others.add(number, port, place)
    yield from _about_names(ports)


def _endpoint(port: JsonObject) -> tuple[int, str]:
    return port.get("containerPort") or 0, port.get("protocol") or ""


def _about_names(ports: list[tuple[JsonObject, str]]) -> Iterator[str]:
    named: dict[str, str] = {}
    for port, place in ports:
        name = port.get("name")
        if name in named:
            told = f"duplicate port name {quoted(name)} with {named[name]}"
            use = f"services and probes that select ports by name will use {named[name]}"
            yield f"{place}: {told}, {use}"
        elif name:
            named[name] = place


def _go_port(port: JsonObject) -> str:
    """A port as Go prints it with the names of its fields."""
    return (
        f"{{Name:{port.get('name') or ''} HostPort:{port.get('hostPort') or 0}"
        f" ContainerPort:{port.get('containerPort') or 0} Protocol:{port.get('protocol') or ''}"
        f" HostIP:{port.get('hostIP') or ''}}}"
    )
