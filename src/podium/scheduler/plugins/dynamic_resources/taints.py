"""Device taints: which of them a request must tolerate, and whether it does."""

from collections.abc import Iterable

from podium.kubernetes.kinds.devices import DeviceTaint, DeviceToleration


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
