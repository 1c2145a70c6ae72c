"""What filters answer for many nodes at once, what filtering found out, and the failure message.

Messages, preemption and explanations all ask the same few questions of it (how many nodes for
which reason, which nodes might preemption help, what about this node), so they are answered here
without building a status per node.

A filter's answer for many nodes at once. A verdict holds one small integer per row: 0 passes,
anything else names a status that `describe` can build. Texts are made only for what somebody reads:
a thousand nodes that lack memory share one number. None in place of a verdict means that every row
passes, which is what most filters answer for most pods and costs nothing.

The failure message, composed as upstream composes it. Dashboards, alerts and people match on these
texts, so count, order and punctuation are part of the contract: reasons are counted over nodes and
the finished lines are sorted as plain strings, the number included (`10 x` is before `2 y`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from podium.scheduler.cluster.growth import Mask, Rows, count_of, indices
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.status import Code, Status, error, unresolvable

Values = npt.NDArray[np.int32]


class Verdict(NamedTuple):
    """`broken` says that some status is an error rather than a rejection."""

    values: Values
    describe: Callable[[int], Status]
    broken: bool = False


def check_verdict(answer: object) -> Verdict | None:
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


_MAX_VERDICTS = 100
"""So many verdicts of different kinds have a number; beyond, and for errors, each has its place in
a map."""

Failures = npt.NDArray[np.int8]
Group = tuple[Status, npt.NDArray[np.intp]]

_UNKNOWN = unresolvable()


class FilterResult:
    """First failing plugin and its value for each of some rows.

    `overrides` holds, by position, verdicts of the pass with nominated pods; they win.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.count = count_of(rows)
        self.plugins: list[str] = []
        self.describes: list[Callable[[int], Status]] = []
        self.failed: Failures = np.zeros(self.count, dtype=np.int8)
        self.values: npt.NDArray[np.int32] | None = None
        self.overrides: dict[int, Status] = {}
        self.rejected_any = False
        self.broken = False
        self._shares = False
        self._survivors: Rows | None = None
        self._groups: Sequence[Group] | None = None

    def fork(self) -> "FilterResult":
        """A result that starts where this one ends. Arrays are shared until the twin has to
        change one; this one must not change any more."""
        twin = FilterResult.__new__(FilterResult)
        twin.rows, twin.count = self.rows, self.count
        twin.plugins, twin.describes = self.plugins, self.describes
        twin.failed, twin.values = self.failed, self.values
        twin.overrides = {}
        twin.rejected_any, twin.broken = self.rejected_any, self.broken
        twin._shares = True
        twin._survivors = self.survivors()
        twin._groups = self._groups
        return twin

    def _change(self) -> None:
        """Have arrays of one's own, and no conclusions from what they were."""
        self._survivors = self._groups = None
        if self._shares:
            self._shares = False
            self.plugins, self.describes = list(self.plugins), list(self.describes)
            self.failed = self.failed.copy()
            self.values = None if self.values is None else self.values.copy()

    @property
    def nbytes(self) -> int:
        return self.failed.nbytes + (0 if self.values is None else self.values.nbytes)

    def absorb(self, plugin: str, verdict: Verdict) -> None:
        """Take over a plugin's verdict for rows that no earlier plugin rejected."""
        if len(verdict.values) != self.count:
            raise ValueError(f"gave {len(verdict.values)} answers for {self.count} nodes")
        fresh = (self.failed == 0) & (verdict.values != 0)
        if not fresh.any():
            return
        self._change()
        self.plugins.append(plugin)
        self.describes.append(verdict.describe)
        self.failed[fresh] = len(self.plugins)
        if self.values is None:
            self.values = np.zeros(self.count, dtype=np.int32)
        self.values[fresh] = verdict.values[fresh]
        self.rejected_any = True
        self.broken |= verdict.broken

    def override(self, positions: npt.NDArray[np.intp], status: Status) -> None:
        """Replace the verdicts of positions, whatever they were."""
        self._survivors = self._groups = None
        self.rejected_any = True
        if status.code.rejected and len(self.plugins) < _MAX_VERDICTS and not self.overrides:
            self._change()
            self.plugins.append(status.plugin)
            self.describes.append(lambda _: status)
            if self.values is None:
                self.values = np.zeros(self.count, dtype=np.int32)
            self.failed[positions] = len(self.plugins)
            self.values[positions] = 1
            return
        self.broken |= not status.code.rejected
        for position in positions.tolist():
            self.overrides[position] = status

    def mask_passed(self) -> Mask:
        mask: Mask = self.failed == 0
        for position in self.overrides:
            mask[position] = False
        return mask

    def survivors(self) -> Rows:
        """The rows that passed."""
        if self._survivors is None:
            rows = self.rows
            self._survivors = indices(rows)[self.mask_passed()] if self.rejected_any else rows
        return self._survivors

    def status(self, position: int) -> Status | None:
        """Why a position was rejected; None if it passed."""
        if position in self.overrides:
            return self.overrides[position]
        failed = int(self.failed[position])
        if failed == 0 or self.values is None:
            return None
        return self._describe(failed, int(self.values[position]))

    def groups(self) -> Sequence[Group]:
        """Rejected positions grouped by equal verdict, each group with its status."""
        if self._groups is None:
            self._groups = tuple(self._iterate_groups())
        return self._groups

    def _iterate_groups(self) -> Iterator[Group]:
        if self.values is not None:
            failed = self.failed
            if self.overrides:
                failed = failed.copy()
                failed[list(self.overrides)] = 0
            for number in range(1, len(self.plugins) + 1):
                positions = np.flatnonzero(failed == number)
                if not len(positions):
                    continue
                values = self.values[positions]
                if values.min() == values.max():
                    yield self._describe(number, int(values[0])), positions
                    continue
                for value in np.unique(values).tolist():
                    yield self._describe(number, value), positions[values == value]
        for position, status in self.overrides.items():
            yield status, np.array([position], dtype=np.intp)

    def _describe(self, failed: int, value: int) -> Status:
        plugin = self.plugins[failed - 1]
        try:
            status = self.describes[failed - 1](value)
        except Exception as problem:  # texts are made late, when no attempt is there to fail
            status = error(str(problem) or type(problem).__name__)
        if not status.code.rejected:
            status = error(f'running "{plugin}" filter plugin: {status.message}')
        return status.by(plugin)

    def cut(self, length: int) -> None:
        """Forget what lies behind a position: a search that stopped early never saw it."""
        self._survivors = self._groups = None
        self.rows = self.rows[:length] if not isinstance(self.rows, slice) else slice(0, length)
        self.count = length
        self.failed = self.failed[:length]
        self.values = self.values[:length] if self.values is not None else None
        self.overrides = {p: s for p, s in self.overrides.items() if p < length}


class Diagnosis(Struct):
    """Everything known about why (some) nodes cannot take the pod.

    `results` come from filtering; `own` holds single statuses by row that did not and that win,
    `strangers` those of names that no node has: both are what extenders say, or a dry run.
    `absent` speaks for nodes without an entry, as upstream's node status table does.
    """

    node_count: int
    absent: Status = _UNKNOWN
    results: list[FilterResult] = field(default_factory=list)
    own: dict[int, Status] = field(default_factory=dict)
    strangers: dict[str, Status] = field(default_factory=dict)
    prefilter_message: str = ""
    postfilter_message: str = ""
    rejectors: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def histogram(self) -> tuple[dict[str, int], int]:
        """(reason -> number of nodes, nodes with an entry of their own)."""
        reasons: dict[str, int] = {}
        seen: set[int] = set(self.own)
        explained = len(self.own) + len(self.strangers)
        for status in (*self.own.values(), *self.strangers.values()):
            for reason in status.reasons:
                reasons[reason] = reasons.get(reason, 0) + 1
        for result in self.results:
            rows = indices(result.rows)
            for status, positions in result.groups():
                if len(self.results) > 1 or self.own:
                    fresh = [int(r) for r in rows[positions] if int(r) not in seen]
                    seen.update(fresh)
                    count = len(fresh)
                else:
                    count = len(positions)
                explained += count
                for reason in status.reasons if count else ():
                    reasons[reason] = reasons.get(reason, 0) + count
        return reasons, explained

    def statuses(self) -> dict[int, Status]:
        """Row -> status for every node with an entry of its own."""
        found = dict(self.own)
        for result in self.results:
            rows = indices(result.rows)
            for status, positions in result.groups():
                for row in rows[positions]:
                    found.setdefault(int(row), status)
        return found

    def status_of(self, row: int) -> Status:
        """The effective status of one row that did not pass."""
        if row in self.own:
            return self.own[row]
        for result in self.results:
            position = np.flatnonzero(indices(result.rows) == row)
            status = result.status(int(position[0])) if len(position) else None
            if status is not None:
                return status
        return self.absent

    def rows_with(self, code: Code, order: npt.NDArray[np.intp]) -> list[int]:
        """Rows whose effective status has a code, in snapshot order."""
        if not len(order):
            return []
        codes = np.full(int(order.max()) + 1, int(self.absent.code), dtype=np.int8)
        for result in reversed(self.results):
            rows = indices(result.rows)
            for status, positions in result.groups():
                codes[rows[positions]] = int(status.code)
        for row, status in self.own.items():
            codes[row] = int(status.code)
        found: list[int] = order[codes[order] == int(code)].tolist()
        return found


NO_NODES = "no nodes available to schedule pods"


def fit_error(diagnosis: Diagnosis) -> str:
    """`0/3 nodes are available: 1 Insufficient memory, 2 node(s) were unschedulable. ...`"""
    text = f"0/{diagnosis.node_count} nodes are available:"
    if diagnosis.prefilter_message:
        text += f" {diagnosis.prefilter_message}."
    else:
        lines = reason_lines(diagnosis)
        if lines:
            text += f" {', '.join(lines)}."
    if diagnosis.postfilter_message:
        text += f" {diagnosis.postfilter_message}"
    return text


def reason_lines(diagnosis: Diagnosis) -> list[str]:
    return sorted(f"{count} {reason}" for reason, count in reason_counts(diagnosis).items())


def reason_counts(diagnosis: Diagnosis) -> dict[str, int]:
    """Reason -> number of nodes, those included that were ruled out without a look."""
    counts, explained = diagnosis.histogram()
    silent = diagnosis.node_count - explained
    if silent > 0:
        for reason in diagnosis.absent.reasons:
            counts[reason] = counts.get(reason, 0) + silent
    return counts


def one_node_error(status: Status) -> str:
    """The message when Reserve or Permit refuses the one chosen node."""
    return fit_error(Diagnosis(1, own={0: status}))
