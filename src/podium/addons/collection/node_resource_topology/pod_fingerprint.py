"""A short text that stands for the set of pods on a node.

An agent writes it into its report, and a scheduler that works out the same text for the pods it
knows of can tell that the report speaks of those pods. It is an XXH64 over the sorted XXH64 of the
pods' names, each seeded with that of the namespace
(`k8stopologyawareschedwg/podfingerprint`, version v001).

Example: the pod `namespace1/pod1` alone gives `pfp0v0019e0420efb37746c6`.
"""

from collections.abc import Iterable
from typing import Final

PREFIX: Final = "pfp0v001"

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
    return f"{PREFIX}{xxh64(b''.join(each.to_bytes(8, 'little') for each in hashes)):016x}"


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
