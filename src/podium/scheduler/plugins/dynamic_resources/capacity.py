"""Devices that are shared out by amount: how much a request takes, and whether it is left.

A request is rounded to what the device's policy allows, so what is consumed may be more than was
asked for. All amounts are exact, in units of 10^-9.

Source: `calculateConsumedCapacity` and `roundUpRange` in `consumable_capacity.go`, which is in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating`.
Worked example: with a range from 2Gi in steps of 2Gi a request of 3Gi takes 4Gi.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from podium.kubernetes.kinds.devices import CapacityRequestPolicy, DeviceCapacity
from podium.kubernetes.kinds.meta import Quantity, ResourceList
from podium.kubernetes.rules.quantity import NANO_PER_UNIT, nano

Amounts = dict[str, int]
"""Capacity name -> amount in nano units."""

Asked = Mapping[str, tuple[int, Quantity]]
"""Capacity name -> (amount in nano units, as written)."""


@dataclass(frozen=True, slots=True)
class CapacityPolicy:
    """What amounts may be taken: a range with an optional step, or a list of values."""

    default: tuple[int, Quantity] | None
    values: tuple[tuple[int, Quantity], ...] | None
    ranged: bool
    least: tuple[int, Quantity] | None
    most: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class CapacityRule:
    value: int
    written: Quantity
    policy: CapacityPolicy | None

    def use(self, asked: tuple[int, Quantity] | None) -> tuple[int, Quantity]:
        """What a request takes of this capacity: (amount, how to write it)."""
        policy = self.policy
        if asked is None:
            default = policy.default if policy is not None else None
            return default if default is not None else (self.value, self.written)
        if policy is None:
            return asked
        if policy.ranged and policy.least is not None:
            return _in_range(asked, policy.least, policy.step)
        if policy.values is not None:
            return next((value for value in policy.values if asked[0] <= value[0]), asked)
        return asked

    def refuses(self, amount: int) -> bool:
        """Whether an amount is not one of those the policy allows."""
        policy = self.policy
        if policy is None or (policy.default is not None and amount == policy.default[0]):
            return False
        if policy.ranged:
            if policy.most is not None and amount > policy.most:
                return True
            if policy.step is None or policy.least is None:
                return False
            return bool((_whole(amount) - _whole(policy.least[0])) % policy.step)
        if policy.values:
            return all(amount != value for value, _ in policy.values)
        return False


def _in_range(
    asked: tuple[int, Quantity], least: tuple[int, Quantity], step: int | None
) -> tuple[int, Quantity]:
    if asked[0] < least[0]:
        return least
    if step is None:
        return asked
    base = _whole(least[0])
    rounded = base + -(-(_whole(asked[0]) - base) // step) * step
    return rounded * NANO_PER_UNIT, binary_text(rounded)


def _whole(amount: int) -> int:
    return -(-amount // NANO_PER_UNIT)


def binary_text(number: int) -> str:
    """A whole number in the form Kubernetes writes binary quantities: `4294967296` is `4Gi`."""
    suffix = 0
    while number and number % 1024 == 0 and suffix < 6:
        number //= 1024
        suffix += 1
    return f"{number}{('', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei')[suffix]}"


def rules_of(capacity: Mapping[str, DeviceCapacity] | None) -> dict[str, CapacityRule]:
    return {
        name: CapacityRule(nano(given.value), given.value, _policy_of(given.request_policy))
        for name, given in (capacity or {}).items()
    }


def _policy_of(written: CapacityRequestPolicy | None) -> CapacityPolicy | None:
    if written is None:
        return None
    limits = written.valid_range
    return CapacityPolicy(
        default=_pair(written.default),
        values=None
        if written.valid_values is None
        else tuple((nano(value), value) for value in written.valid_values),
        ranged=limits is not None,
        least=_pair(limits.min) if limits is not None else None,
        most=nano(limits.max) if limits is not None and limits.max is not None else None,
        step=_whole(nano(limits.step)) if limits is not None and limits.step is not None else None,
    )


def _pair(written: Quantity | None) -> tuple[int, Quantity] | None:
    return None if written is None else (nano(written), written)


def asked_of(requests: ResourceList | None) -> Asked:
    return {name: (nano(written), written) for name, written in (requests or {}).items()}


def has_room(
    rules: Mapping[str, CapacityRule],
    asked: Asked,
    consumed: Mapping[str, int],
    taking: Mapping[str, int],
) -> bool:
    """Whether a request fits beside what is consumed already and what this attempt takes."""
    for name in asked:
        if name not in rules:
            return False
    for name, rule in rules.items():
        amount, _ = rule.use(asked.get(name))
        if rule.refuses(amount):
            return False
        if consumed.get(name, 0) + taking.get(name, 0) + amount > rule.value:
            return False
    return True


def taken_of(rules: Mapping[str, CapacityRule], asked: Asked) -> dict[str, tuple[int, Quantity]]:
    """What a request consumes of each capacity of a device."""
    return {name: rule.use(asked.get(name)) for name, rule in rules.items()}
