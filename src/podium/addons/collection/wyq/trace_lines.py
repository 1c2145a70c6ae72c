"""What the trace plugins say at a point, in the words of either generation.

The first wrote `PreFilter: test`, the second put the plugin in front: `Defalut PreFilter: test`.
"""

from typing import Final

import msgspec

from podium.plugin import Cycle, Log, Rows, indices

LEVEL: Final = 3


class TraceArgs(msgspec.Struct, rename="camel"):
    """`prefix` puts the plugin's name in front, as the second generation did."""

    prefix: bool = False


class TraceLines:
    """Lines of one plugin; nothing is made of them that nobody reads."""

    def __init__(self, log: Log, plugin: str, args: TraceArgs) -> None:
        self._log = log
        self._front = f"{plugin[:1].upper()}{plugin[1:]} " if args.prefix else ""

    @property
    def wanted(self) -> bool:
        return self._log.verbosity >= LEVEL

    def at(self, point: str, cycle: Cycle) -> None:
        if self.wanted:
            self._log.note(f"{self._front}{point}: {_name(cycle)}", v=LEVEL)

    def about(self, point: str, cycle: Cycle) -> None:
        if self.wanted:
            self._log.note(f"{self._front}{point}: pod: {_name(cycle)}", v=LEVEL)

    def on(self, point: str, cycle: Cycle, node_name: str, more: str = "") -> None:
        if self.wanted:
            text = f"{self._front}{point}: pod: {_name(cycle)}, node: {node_name}{more}"
            self._log.note(text, v=LEVEL)

    def names(self, point: str, cycle: Cycle, rows: Rows) -> None:
        """The feasible nodes, one a line."""
        for name in node_names(cycle, rows) if self.wanted else ():
            self._log.note(f"{self._front}{point}: {name}", v=LEVEL)


def node_names(cycle: Cycle, rows: Rows) -> list[str]:
    return [cycle.nodes.names[row] for row in indices(rows).tolist()]


def rows_still_in(cycle: Cycle, rows: Rows) -> Rows:
    """The rows that no filter before this one has rejected; all of them if nobody knows."""
    before = cycle.filtered
    numbers = indices(rows)
    if before is None or before.count != len(numbers):
        return rows
    return numbers[before.passed()]


def _name(cycle: Cycle) -> str:
    return cycle.pod.pod.metadata.name
