"""A filter's answer for many nodes at once.

A verdict holds one small integer per row: 0 passes, anything else names a status that `describe`
can build. Texts are made only for what somebody reads: a thousand nodes that lack memory share one
number. None in place of a verdict means that every row passes, which is what most filters answer
for most pods and costs nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.status import Status

Values = npt.NDArray[np.int32]


class Verdict(NamedTuple):
    """`broken` says that some status is an error rather than a rejection."""

    values: Values
    describe: Callable[[int], Status]
    broken: bool = False


def checked(answer: object) -> Verdict | None:
    """A filter's answer, if it is one."""
    if answer is None or isinstance(answer, Verdict):
        return answer
    raise WrongAnswer("filter", "None or a Verdict (from rejecting, choosing or per_row)", answer)


def rejecting(mask: Mask | None, status: Status) -> Verdict | None:
    """Reject the rows of a mask with one status."""
    if mask is None or not mask.any():
        return None
    return Verdict(mask.astype(np.int32), lambda _: status, not status.code.rejected)


def choosing(  # type: ignore[explicit-any]  # integers of any width
    values: npt.NDArray[np.integer], statuses: Sequence[Status]
) -> Verdict | None:
    """Reject by number: value k > 0 stands for `statuses[k - 1]`."""
    if not values.any():
        return None
    return Verdict(
        values.astype(np.int32, copy=False),
        lambda value: statuses[value - 1],
        any(not status.code.rejected for status in statuses),
    )


def per_row(statuses: Mapping[int, Status], count: int) -> Verdict | None:
    """Reject single positions, each with a status of its own."""
    if not statuses:
        return None
    values = np.zeros(count, dtype=np.int32)
    table: dict[Status, int] = {}
    for position, status in statuses.items():
        values[position] = table.setdefault(status, len(table) + 1)
    return choosing(values, list(table))
