"""How much work one attempt may put into finding devices, counted in steps.

`filterTimeout` bounds the search for one node. A claim can be hard for every node, and its CEL
selectors can be dear for every device, so an attempt as a whole has a bound too: what the timeout
gives to one node, and a little for each node. The engine owns no clock, so both are counted: a step
is a decision of the search, a few devices that it passes over, or a piece of a selector's cost.
What earlier attempts have worked out about a device costs nothing, so a pod that is refused for
lack of time gets further with the next attempt.

Worked example: with the default of 10 s an attempt has 140,000 steps, which take about 0.9 s, and
100 more for each node. An evaluation that uses all of its 1,000,000 cost units takes 33,333 steps:
after the fourth one the attempt is over. Selectors as people write them cost less than a hundred
units, which is four steps.
"""

from typing import Final

STEPS_PER_SECOND: Final = 14_000
"""What one second of `filterTimeout` buys; they take about a twelfth of a second."""
STEPS_PER_NODE: Final = 100
"""What each node adds: pods that ask for a few devices never run out of steps, however many nodes
there are."""
DEVICES_PER_STEP: Final = 8
COST_UNITS_PER_STEP: Final = 30
COMPILED_CHARACTERS_PER_STEP: Final = 3
EVALUATED_CHARACTERS_PER_STEP: Final = 100


class TimedOut(Exception):
    """The search took more steps than the filter timeout allows."""


class BudgetSpent(TimedOut):
    """The attempt has no steps left, for this node and for all others."""


class SearchBudget:
    """The steps that are left to one attempt; without a timeout they do not end."""

    __slots__ = ("_compiled", "_left")

    def __init__(self, timeout_s: float) -> None:
        steps = int(timeout_s * STEPS_PER_SECOND)
        self._left: float = steps or float("inf")
        self._compiled: set[str] = set()

    def begin_node(self) -> None:
        """Raises BudgetSpent."""
        self.charge(0)
        self._left += STEPS_PER_NODE

    def charge(self, steps: int) -> None:
        """Raises BudgetSpent, also if the last step was taken before."""
        self._left -= steps
        if self._left < 0:
            raise BudgetSpent

    def charge_devices(self, count: int) -> None:
        """Pay for devices that were passed over."""
        self.charge(count // DEVICES_PER_STEP)

    def charge_selector(self, expression: str, cost_units: int) -> None:
        """Pay for an expression that was evaluated for a device, and compiled if it is the first
        time."""
        length = len(expression)
        steps = 1 + length // EVALUATED_CHARACTERS_PER_STEP + cost_units // COST_UNITS_PER_STEP
        if expression not in self._compiled:
            self._compiled.add(expression)
            steps += length // COMPILED_CHARACTERS_PER_STEP
        self.charge(steps)
