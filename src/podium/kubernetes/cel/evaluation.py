"""The shape of compiled code: a closure over a frame of variables.

A frame is a list: position 0 counts the cost that is left (or is None when an expression cannot
get expensive), position 1 holds the device, and each variable that a macro introduces has a
position of its own, so that reading a variable is one list access.
"""

from collections.abc import Callable
from typing import Any

from podium.kubernetes.cel.errors import cost_exceeded

Frame = list[Any]
Code = Callable[[Frame], Any]

METER = 0
FIRST_VARIABLE = 1

COST_LIMIT = 1_000_000
"""upstream: `CELSelectorExpressionMaxCost` in staging/src/k8s.io/api/resource/v1/types.go"""


class Meter:
    """What an evaluation may still spend."""

    __slots__ = ("_seen", "left")

    def __init__(self, limit: int = COST_LIMIT) -> None:
        self.left = limit
        self._seen: set[str] = set()

    def charge(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise cost_exceeded()

    def charge_once(self, text: str, cost: Callable[[str], int]) -> None:
        """Pay for preparing a text when it is first met."""
        if text not in self._seen:
            self.charge(cost(text))
            self._seen.add(text)


def meter_code(code: Code, cost: int) -> Code:
    """Code that pays before it runs."""

    def run(frame: Frame) -> Any:
        frame[METER].charge(cost)
        return code(frame)

    return run


def constant(value: Any) -> Code:
    def run(_: Frame) -> Any:
        return value

    return run


_UNSET = object()


def bound(position: int, value: Code) -> Code:
    """A variable whose value is worked out when it is first read, if ever."""

    def run(frame: Frame) -> Any:
        found = frame[position]
        if found is _UNSET:
            found = frame[position] = value(frame)
        return found

    return run


def reserve_variable(position: int, body: Code) -> Code:
    """Code in which a bound variable has no value yet."""

    def run(frame: Frame) -> Any:
        frame[position] = _UNSET
        return body(frame)

    return run


def variable(position: int) -> Code:
    def run(frame: Frame) -> Any:
        return frame[position]

    return run
