"""Device taints: those that DeviceTaintRules put on devices, and what a request tolerates.

A rule means the devices of a driver, of a pool or of a name, or all of these together; what it does
not name it does not look at, so that a rule without a selector means every device
(`staging/src/k8s.io/dynamic-resource-allocation/resourceslice/tracker`). Gate DRADeviceTaintRules.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import (
    Device,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    ResourceSlice,
)


def with_rules(source: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> Sequence[Device]:
    """The devices of a slice with the taints of all rules that mean them, in the rules' order."""
    devices = source.spec.devices or ()
    meant = [rule for rule in rules if _means_pool(rule, source)]
    if not meant:
        return devices
    return [
        replace(device, taints=(*(device.taints or ()), *_taints(meant, device)))
        for device in devices
    ]


def retaint_slices(
    slices: Iterable[ResourceSlice], old: DeviceTaintRule | None, new: DeviceTaintRule | None
) -> list[ResourceSlice]:
    """The slices with devices whose taints are others since a rule came, changed or went."""
    return [
        source
        for source in slices
        if any(
            _find_taints(old, source, device) != _find_taints(new, source, device)
            for device in source.spec.devices or ()
        )
    ]


def _find_taints(
    rule: DeviceTaintRule | None, source: ResourceSlice, device: Device
) -> tuple[DeviceTaint, ...]:
    if rule is None or not _means_pool(rule, source):
        return ()
    return tuple(_taints([rule], device))


def _means_pool(rule: DeviceTaintRule, source: ResourceSlice) -> bool:
    selector, spec = rule.spec.device_selector, source.spec
    return selector is None or (
        selector.driver in (None, spec.driver) and selector.pool in (None, spec.pool.name)
    )


def _taints(rules: Iterable[DeviceTaintRule], device: Device) -> Iterable[DeviceTaint]:
    for rule in rules:
        selector = rule.spec.device_selector
        if selector is None or selector.device in (None, device.name):
            yield rule.spec.taint


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def all_tolerated(taints: Iterable[DeviceTaint], tolerations: Iterable[DeviceToleration]) -> bool:
    """Whether every taint is tolerated by some toleration."""
    given = tuple(tolerations)
    return all(any(tolerates(toleration, taint) for toleration in given) for taint in taints)
