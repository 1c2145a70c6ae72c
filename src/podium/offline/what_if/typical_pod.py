"""The pod by which the room that is left is judged: room where it does not fit is fragmented.

Unless one is given, it requests the median of what the arriving pods request, of each resource for
itself and rounded down to a pod's own amount. Example: pods with 1, 1, 2 and 4 cpu have median 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median_low

from podium.golang.errors import InputError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import QuantityError, milli_value, value
from podium.kubernetes.rules.requests import CPU, MEMORY, RequestRules, pod_requests, to_vector

_REMEDY = "cpu=2,memory=4Gi"


@dataclass(frozen=True, slots=True)
class TypicalPod:
    cpu_milli: int = 0
    memory_bytes: int = 0


def median_pod(pods: Iterable[Pod], rules: RequestRules) -> TypicalPod:
    requests = [to_vector(pod_requests(pod, status_resources=False, rules=rules)) for pod in pods]
    if not requests:
        return TypicalPod()
    return TypicalPod(
        *(median_low(each.get(name, 0) for each in requests) for name in (CPU, MEMORY))
    )


def parse_typical_pod(text: str) -> TypicalPod:
    """`cpu=2,memory=4Gi`, either may be left out. Raises InputError."""
    amounts = {CPU: 0, MEMORY: 0}
    for part in text.split(","):
        name, sign, quantity = part.strip().partition("=")
        if not sign or name not in amounts:
            raise InputError(f"{text} is no pod", remedy=_REMEDY)
        try:
            amounts[name] = milli_value(quantity) if name == CPU else value(quantity)
        except QuantityError as problem:
            raise InputError(f"{text} is no pod: {problem}", remedy=_REMEDY) from None
        if amounts[name] < 0:
            raise InputError(f"{text} is no pod: {name} is negative", remedy=_REMEDY)
    return TypicalPod(amounts[CPU], amounts[MEMORY])
