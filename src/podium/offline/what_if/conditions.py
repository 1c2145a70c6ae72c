"""Conditions under which a pipeline is to fail: `pending > 0`, `cost.difference > 0`.

A metric, an operator and a number; nothing is ever evaluated as code. `METRIC.difference` is what
a configuration has more than the first one.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from podium.golang.errors import InputError, closest, did_you_mean

_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
_FORM: Final = re.compile(
    r"\s*([A-Za-z][A-Za-z0-9_./-]{0,300}?)\s*(>=|<=|==|!=|>|<)\s*"
    r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(%?)\s*"
)
_DIFFERENCE: Final = ".difference"


@dataclass(frozen=True, slots=True)
class MetricCondition:
    text: str
    metric: str
    is_difference: bool
    operator: str
    number: float

    def holds(self, value: float) -> bool:
        return _OPERATORS[self.operator](value, self.number)

    def require_metric(self, known: list[str]) -> None:
        """Raises InputError for a metric that there is not."""
        if self.metric not in known:
            raise InputError(
                f"--fail-if {self.text}: no metric {self.metric}",
                remedy=did_you_mean(closest(self.metric, known)) or f"there are {', '.join(known)}",
            )


def parse_condition(text: str) -> MetricCondition:
    """Raises InputError."""
    read = _FORM.fullmatch(text)
    if read is None:
        raise InputError(
            f"--fail-if {text}: no condition",
            remedy="a metric, one of > >= < <= == !=, and a number: pending > 0",
        )
    metric, sign, number, percent = read.groups()
    is_difference = metric.endswith(_DIFFERENCE)
    value = float(number) / 100 if percent else float(number)
    return MetricCondition(
        text.strip(), metric.removesuffix(_DIFFERENCE), is_difference, sign, value
    )
