"""GPUs of dynamic resource allocation: which devices there are, and who has them.

Their drivers publish devices in ResourceSlices and the scheduler writes into ResourceClaims who
gets which, so that no dialect is needed to look.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from podium.kubernetes.kinds.devices import Device, ResourceClaim, ResourceSlice

_NAMES: Final = ("productName", "model", "type")


class DeviceHolder(Struct, frozen=True):
    """A claim that was given the device, and the pods that it is reserved for."""

    namespace: str
    claim: str
    pods: tuple[str, ...] = ()


class DeviceView(Struct, frozen=True):
    """`node` is empty of a device that is of no single node."""

    driver: str
    pool: str
    name: str
    node: str = ""
    model: str = ""
    capacity: tuple[tuple[str, str], ...] = ()
    tainted: bool = False
    holders: tuple[DeviceHolder, ...] = ()


class DevicesView(Struct, frozen=True):
    """`others` counts devices of drivers that are for no GPUs; `unknown` are devices of claims that
    no slice has: driver/pool/device."""

    devices: tuple[DeviceView, ...] = ()
    others: int = 0
    unknown: tuple[tuple[str, DeviceHolder], ...] = ()


def view_devices(slices: Iterable[ResourceSlice], claims: Iterable[ResourceClaim]) -> DevicesView:
    holders = _holders(claims)
    devices: list[DeviceView] = []
    others = 0
    known: set[tuple[str, str, str]] = set()
    for each in _newest(slices):
        spec = each.spec
        for device in spec.devices or ():
            key = (spec.driver, spec.pool.name, device.name)
            known.add(key)
            if not _is_for_gpus(spec.driver):
                others += 1
                continue
            node = spec.node_name or device.node_name or ""
            devices.append(_view(key, node, device, tuple(holders.get(key, ()))))
    lost = [
        ("/".join(key), holder)
        for key, found in holders.items()
        if key not in known and _is_for_gpus(key[0])
        for holder in found
    ]
    devices.sort(key=lambda view: (view.driver, view.node, view.pool, view.name))
    return DevicesView(tuple(devices), others, tuple(lost))


def _is_for_gpus(driver: str) -> bool:
    return "gpu" in driver.lower()


def _newest(slices: Iterable[ResourceSlice]) -> list[ResourceSlice]:
    """Of each pool the slices of its newest generation: older ones are on their way out."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in slices:
        pools.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
    return [
        each
        for found in pools.values()
        for each in found
        if each.spec.pool.generation == max(other.spec.pool.generation for other in found)
    ]


def _holders(claims: Iterable[ResourceClaim]) -> dict[tuple[str, str, str], list[DeviceHolder]]:
    holders: dict[tuple[str, str, str], list[DeviceHolder]] = {}
    for claim in claims:
        allocation = claim.status.allocation
        if allocation is None:
            continue
        consumers = claim.status.reserved_for or ()
        pods = tuple(each.name for each in consumers if each.resource == "pods")
        holder = DeviceHolder(claim.namespace, claim.name, pods)
        for result in allocation.devices.results or ():
            if not result.admin_access:  # who watches a device does not have it
                key = (result.driver, result.pool, result.device)
                holders.setdefault(key, []).append(holder)
    return holders


def _view(
    key: tuple[str, str, str], node: str, device: Device, holders: tuple[DeviceHolder, ...]
) -> DeviceView:
    capacity = sorted((device.capacity or {}).items())
    return DeviceView(
        *key,
        node=node,
        model=_model(device),
        capacity=tuple((name, str(amount.value)) for name, amount in capacity),
        tainted=bool(device.taints),
        holders=holders,
    )


def _model(device: Device) -> str:
    attributes = {
        name.rpartition("/")[2]: value for name, value in (device.attributes or {}).items()
    }
    found = (attributes[name].string for name in _NAMES if name in attributes)
    return next((text for text in found if text), "")
