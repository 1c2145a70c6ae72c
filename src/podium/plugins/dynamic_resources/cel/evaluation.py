"""The shape of compiled code: a closure over a frame of variables.

A frame is a list: position 0 counts the cost that is left (or is None when an expression cannot
get expensive), position 1 holds the device, and each variable that a macro introduces has a
position of its own, so that reading a variable is one list access.
"""

from collections.abc import Callable
from typing import Any

from podium.plugins.dynamic_resources.cel.errors import CelError

Frame = list[Any]
Code = Callable[[Frame], Any]

METER = 0
FIRST_VARIABLE = 1

COST_LIMIT = 1_000_000


class Meter:
    """What an evaluation may still spend (spec 9.4)."""

    __slots__ = ("left",)

    def __init__(self, limit: int = COST_LIMIT) -> None:
        self.left = limit

    def charge(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise CelError("operation cancelled: actual cost limit exceeded")


def metered(code: Code, cost: int) -> Code:
    """Code that pays before it runs."""

    def run(frame: Frame) -> Any:
        frame[METER].charge(cost)
        return code(frame)

    return run


def constant(value: Any) -> Code:
    def run(_: Frame) -> Any:
        return value

    return run


def variable(position: int) -> Code:
    def run(frame: Frame) -> Any:
        return frame[position]

    return run
