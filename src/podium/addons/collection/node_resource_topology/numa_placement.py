"""In which NUMA zone containers run, as agents write it, and what zones would have without some.

Containers are not named: they are numbered in the order of the XXH64 of their names, and each zone
but the busiest has the list of its numbers, as differences in a code of printable characters
(`k8stopologyawareschedwg/numaplacement`, version v001). So a reader has to know the very set of
containers that the agent has written of; their count tells whether he may.

Example: `npv0v001::ve=leb89::cc=3::nn=2::bn=0` with the vector `#` in zone 1: of three containers
the one with the second smallest hash is in zone 1, the others in zone 0.

A short text that stands for the set of pods on a node. An agent writes it into its report, and a
scheduler that works out the same text for the pods it knows of can tell that the report speaks of
those pods. It is an XXH64 over the sorted XXH64 of the pods' names, each seeded with that of the
namespace (`k8stopologyawareschedwg/podfingerprint`, version v001).

Example: the pod `namespace1/pod1` alone gives `pfp0v0019e0420efb37746c6`.

What zones would have if pods left a node: the trials of preemption (`preemptionMode: Enabled`). A
report counts what runs now, and preemption asks what would be if some of it did not. The zone of
each container says where its cpus, memory and devices would become free. What
a container shares with others is in no zone's account, and so only what it has to itself is given
back (`preemption/preemption.go` of the collection).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from podium.addons.collection.node_resource_topology.topologies import (
    NodeResourceTopology,
    NumaZone,
    attribute_of,
    exclusive_amounts,
    numa_id_of,
    zone_requests_of,
)
from podium.kubernetes.kinds.pod import Container
from podium.plugin import PodInfo

METADATA: Final = "topology.node.k8s.io/numaplacement-metadata"
VECTOR: Final = "topology.node.k8s.io/numaplacement-vector"
PREFIX: Final = "npv0v001"

_SEPARATOR: Final = "::"
_ENCODING: Final = "leb89"
_COUNT: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_ALPHABET: Final = {
    chr(code): number
    for number, code in enumerate(code for code in range(0x21, 0x7F) if chr(code) not in '"&<>\\')
}
_LAST_CHARACTERS: Final = 64
"""The first characters of the alphabet end a number; the others begin one or carry it on."""
_MORE_CHARACTERS: Final = len(_ALPHABET) - _LAST_CHARACTERS

ContainerName = tuple[str, str, str]
"""Namespace, pod, container."""
Placement = Mapping[ContainerName, int]
UNKNOWN: Final[Placement] = {}


class _Metadata(NamedTuple):
    containers: int
    zones: int
    busiest: int


def placement_of(topology: NodeResourceTopology, containers: Iterable[ContainerName]) -> Placement:
    """The zone of each container; empty where the report does not tell, makes no sense, or speaks
    of other containers."""
    hashes = sorted((_hash(name), name) for name in set(containers))
    metadata = _read_metadata(attribute_of(topology.attributes, METADATA))
    if metadata is None or metadata.containers != len(hashes):
        return UNKNOWN
    vectors: dict[int, str] = {}
    for zone in topology.zones or ():
        vector = attribute_of(zone.attributes, VECTOR)
        if vector is not None:
            numa_id = numa_id_of(zone.name)
            if numa_id is None or numa_id == metadata.busiest or numa_id >= metadata.zones:
                return UNKNOWN
            vectors[numa_id] = vector
    zones: dict[int, int] = {}
    for numa_id, vector in vectors.items():
        for number in decode_numbers(vector) or (-1,):
            if not 0 <= number < len(hashes) or number in zones:
                return UNKNOWN
            zones[number] = numa_id
    return {name: zones.get(n, metadata.busiest) for n, (_, name) in enumerate(hashes)}


def decode_numbers(vector: str) -> list[int] | None:
    """The ascending numbers that a vector stands for; None for what is none."""
    numbers: list[int] = []
    carried, begun = 0, False
    for character in vector:
        digit = _ALPHABET.get(character)
        if digit is None:
            return None
        if digit >= _LAST_CHARACTERS:
            carried, begun = carried * _MORE_CHARACTERS + digit - _LAST_CHARACTERS, True
            continue
        step = _LAST_CHARACTERS * (1 + carried) + digit if begun else digit
        numbers.append(step + (numbers[-1] if numbers else 0))
        carried, begun = 0, False
    return None if begun else numbers


def _read_metadata(text: str | None) -> _Metadata | None:
    if text is None or not text.startswith(PREFIX + _SEPARATOR):
        return None
    fields: dict[str, str] = {}
    for pair in text.removeprefix(PREFIX + _SEPARATOR).split(_SEPARATOR):
        name, given, value = pair.partition("=")
        if not (name and given and value):
            return None
        fields[name] = value
    if fields.pop("ve", "") != _ENCODING or fields.keys() != {"cc", "nn", "bn"}:
        return None
    if not all(map(_COUNT.fullmatch, fields.values())):
        return None
    found = _Metadata(int(fields["cc"]), int(fields["nn"]), int(fields["bn"]))
    return found if found.containers >= 0 and 0 <= found.busiest < found.zones else None


def _hash(name: ContainerName) -> int:
    return xxh64("\0".join(name).encode())


FINGERPRINT_PREFIX: Final = "pfp0v001"

_PRIMES: Final = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_MASK: Final = (1 << 64) - 1
_STRIPE_BYTES: Final = 32


def pod_fingerprint(pods: Iterable[tuple[str, str]]) -> str:
    """The fingerprint of pods given as (namespace, name)."""
    hashes = sorted(xxh64(name.encode(), xxh64(namespace.encode())) for namespace, name in pods)
    return (
        f"{FINGERPRINT_PREFIX}{xxh64(b''.join(each.to_bytes(8, 'little') for each in hashes)):016x}"
    )


def xxh64(data: bytes, seed: int = 0) -> int:
    """XXH64 of a text; the algorithm's specification names the steps."""
    p1, p2, p3, p4, p5 = _PRIMES
    at = 0
    if len(data) >= _STRIPE_BYTES:
        lanes = [seed + p1 + p2, seed + p2, seed, seed - p1]
        while at + _STRIPE_BYTES <= len(data):
            for lane in range(4):
                lanes[lane] = _round(lanes[lane], _read(data, at, 8))
                at += 8
        turned = (_rotate(lane & _MASK, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        total = sum(turned) & _MASK
        for lane in lanes:
            total = ((total ^ _round(0, lane)) * p1 + p4) & _MASK
    else:
        total = (seed + p5) & _MASK
    total = (total + len(data)) & _MASK
    while at + 8 <= len(data):
        total = (_rotate(total ^ _round(0, _read(data, at, 8)), 27) * p1 + p4) & _MASK
        at += 8
    if at + 4 <= len(data):
        total = (_rotate(total ^ (_read(data, at, 4) * p1 & _MASK), 23) * p2 + p3) & _MASK
        at += 4
    for byte in data[at:]:
        total = _rotate(total ^ (byte * p5 & _MASK), 11) * p1 & _MASK
    total = (total ^ (total >> 33)) * p2 & _MASK
    total = (total ^ (total >> 29)) * p3 & _MASK
    return total ^ (total >> 32)


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _PRIMES[1]) & _MASK, 31) * _PRIMES[0] & _MASK


def _rotate(word: int, by: int) -> int:
    return ((word << by) | (word >> (64 - by))) & _MASK


def _read(data: bytes, at: int, count: int) -> int:
    return int.from_bytes(data[at : at + count], "little")


NOTHING_FREED: Final = "no resources to add, cannot process eviction simulation"
TOO_MUCH_FREED: Final = "resource release request exceeds NUMA allocatable"

Freed = Mapping[int, Mapping[str, int]]
"""Zone -> resource -> amount."""


class EvictionRefused(Exception):
    """The zones cannot be imagined without the victims; the text says why."""


class TrialVictims:
    """The pods that a trial has taken off nodes, by row."""

    def __init__(self, pods: Mapping[int, Mapping[str, PodInfo]] | None = None) -> None:
        self._pods = {row: dict(of_row) for row, of_row in (pods or {}).items()}

    def clone(self) -> "TrialVictims":
        return TrialVictims(self._pods)

    def take(self, row: int, pod: PodInfo) -> None:
        self._pods.setdefault(row, {})[pod.uid] = pod

    def give_back(self, row: int, pod: PodInfo) -> None:
        self._pods.get(row, {}).pop(pod.uid, None)

    def rows(self) -> list[int]:
        return [row for row, pods in self._pods.items() if pods]

    def on(self, row: int) -> Iterable[PodInfo]:
        return self._pods.get(row, {}).values()


def pinned_containers(pods: Iterable[PodInfo], reported: Iterable[str]) -> list[ContainerName]:
    """The containers that agents tell the zone of: those that have something to themselves for the
    whole life of their pod."""
    known = frozenset(reported)
    found: list[ContainerName] = []
    for pod in pods:
        guaranteed = zone_requests_of(pod).guaranteed
        spec, metadata = pod.pod.spec, pod.pod.metadata
        sidecars = [c for c in spec.init_containers or () if c.restart_policy == "Always"]
        found += [
            (metadata.namespace, metadata.name, container.name)
            for container in (*sidecars, *(spec.containers or ()))
            if exclusive_amounts(container, guaranteed, known)
        ]
    return found


def freed_by(victims: Iterable[PodInfo], placement: Placement, zones: Sequence[NumaZone]) -> Freed:
    """What the zones of a node gain. Raises EvictionRefused."""
    reported = frozenset(name for zone in zones for name in zone.available)
    freed: dict[int, dict[str, int]] = {}
    for victim in victims:
        requests = zone_requests_of(victim)
        for container in victim.pod.spec.containers or ():  # upstream: not those of sidecars
            numa_id = placement.get(_name(victim, container))
            if numa_id is None:
                continue
            amounts = exclusive_amounts(container, requests.guaranteed, reported)
            for resource, amount in amounts.items():
                of_zone = freed.setdefault(numa_id, {})
                of_zone[resource] = of_zone.get(resource, 0) + amount
    if not freed:
        raise EvictionRefused(NOTHING_FREED)
    for zone in zones:
        for resource, amount in freed.get(zone.numa_id, {}).items():
            free = zone.available.get(resource)
            if free is not None and free + amount > zone.allocatable[resource]:
                raise EvictionRefused(TOO_MUCH_FREED)
    return freed


def _name(pod: PodInfo, container: Container) -> ContainerName:
    metadata = pod.pod.metadata
    return metadata.namespace, metadata.name, container.name
