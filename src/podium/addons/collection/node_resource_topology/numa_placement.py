"""In which NUMA zone each container of a node runs, as agents write it into their reports.

Containers are not named: they are numbered in the order of the XXH64 of their names, and each zone
but the busiest has the list of its numbers, as differences in a code of printable characters
(`k8stopologyawareschedwg/numaplacement`, version v001). So a reader has to know the very set of
containers that the agent has written of; their count tells whether he may.

Example: `npv0v001::ve=leb89::cc=3::nn=2::bn=0` with the vector `#` in zone 1: of three containers
the one with the second smallest hash is in zone 1, the others in zone 0.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium.addons.collection.node_resource_topology.pod_fingerprint import xxh64
from podium.addons.collection.node_resource_topology.topologies import (
    NodeResourceTopology,
    attribute_of,
    numa_id_of,
)

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
