"""Amounts of resources as they stand in manifests, for people and for `kubectl` alike."""

from podium.kubernetes.rules.quantity import NANO_PER_MILLI, NANO_PER_UNIT
from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY

_BINARY = (MEMORY, EPHEMERAL_STORAGE)


def is_counted_in_pieces(resource: str) -> bool:
    return resource not in (CPU, *_BINARY)


def describe(resource: str, amount: int) -> str:
    """An amount as the scheduler counts it, for people and for manifests alike."""
    return spell(resource, amount * (NANO_PER_MILLI if resource == CPU else NANO_PER_UNIT))


def spell(resource: str, nanos: int) -> str:
    if resource == CPU:
        milli = nanos // NANO_PER_MILLI
        return f"{milli}m" if milli % 1000 else str(milli // 1000)
    units = nanos // NANO_PER_UNIT
    if resource in _BINARY or resource.startswith("hugepages-"):
        for suffix in ("", "Ki", "Mi", "Gi", "Ti"):
            if suffix == "Ti" or units == 0 or units % 1024:
                return f"{units}{suffix}"
            units //= 1024
    return str(units)
