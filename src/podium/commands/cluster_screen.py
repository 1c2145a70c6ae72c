"""A cluster for somebody who watches: a status line, and with `--watch` its nodes filling up.

On a terminal both stand below the lines that scroll by and change in place; what has landed in the
last seconds is another colour in a node's bar. Anywhere else the status is a line of its own, said
when the cluster has come to rest after a change.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.live import Live

from podium.commands.console import RichText, Text
from podium.commands.tables import Screen, count, percent
from podium.kubernetes.rules.requests import CPU, MEMORY, PODS
from podium.scheduler.cluster.load import Load, load_of
from podium.scheduler.engine import Engine
from podium.scheduler.explain.explanation import Use, Utilisation

LOOK_S: Final = 0.25
REST_LOOKS: Final = 4
"""So many looks without a change, and the cluster is at rest."""
_FRESH_LOOKS: Final = 8
_MAX_BAR, _FEWEST_BAR = 24, 6
_RESERVED_LINES: Final = 6
_NUMBERS_WIDTH: Final = 10


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """A cluster in numbers, as its scheduler sees it; `pending` pods have no node yet, `waiting`
    ones have one that they wait for at Permit."""

    nodes: int
    pods: int
    pending: int
    waiting: int

    def __str__(self) -> str:
        told = f"{count(self.nodes, 'node')}, {count(self.pods, 'pod')}, {self.pending:,} pending"
        return f"{told}, {self.waiting:,} waiting at Permit" if self.waiting else told


def status_of(engine: Engine) -> ClusterStatus:
    cluster = engine.cluster
    cluster.usage.grow()
    placed = int(cluster.usage.pod_count[: cluster.nodes.size].sum())
    pending = len(engine.queue)
    nodes = len(cluster.node_order())
    return ClusterStatus(nodes, placed + pending, pending, len(engine.state.waiting))


class ClusterScreen:
    """Shows a cluster until it is cancelled."""

    def __init__(self, screen: Screen, engine: Callable[[], Engine], *, nodes: bool) -> None:
        """`engine` gives the one at work now; `nodes`: with a bar for each node, where the screen
        is a terminal."""
        self._screen = screen
        self._engine = engine
        self._nodes = nodes
        self._loads: deque[Load] = deque(maxlen=_FRESH_LOOKS)

    async def show(self) -> None:
        if self._screen.console.is_terminal:
            await self._draw()
        else:
            await self._tell()

    async def _tell(self) -> None:
        told, seen, looks = ClusterStatus(0, 0, 0, 0), status_of(self._engine()), 0
        while True:
            await asyncio.sleep(LOOK_S)
            status = status_of(self._engine())
            looks = looks + 1 if status == seen else 0
            seen = status
            if looks == REST_LOOKS and status != told:
                told = status
                self._screen.print(f"podium: {status}")

    async def _draw(self) -> None:
        with Live(
            self.picture(), console=self._screen.console, auto_refresh=False, transient=True
        ) as live:
            while True:
                await asyncio.sleep(LOOK_S)
                live.update(self.picture(), refresh=True)

    def picture(self) -> RenderableType:
        """What stands below the lines that scroll."""
        status = Text(str(status_of(self._engine())), style="bold")
        if not self._nodes:
            return status
        return Group(self._table(), status)

    def _table(self) -> RenderableType:
        screen, now = self._screen, load_of(self._engine().cluster)
        earlier = self._loads[0] if self._loads else now
        self._loads.append(now)
        if earlier.nodes != now.nodes or earlier.resources != now.resources:
            self._loads.clear()
            earlier = now
        use = Utilisation(earlier, now)
        names = list(use.nodes)
        room = max(1, screen.console.height - _RESERVED_LINES)
        if len(names) > room:
            fullest = sorted(names, key=lambda name: (-use.fullness(name), name))
            names = sorted(fullest[:room])
        width = self._bar_width(names)
        table = screen.table("NODE", "CPU", "MEMORY", "PODS", whole=("NODE",))
        for name in names:
            pods = use.of(name, PODS)
            table.add_row(
                name,
                self._bar(use.of(name, CPU), width),
                self._bar(use.of(name, MEMORY), width),
                f"{pods.after:,} of {pods.allocatable:,}",
            )
        return table

    def _bar_width(self, names: list[str]) -> int:
        taken = max(map(len, names), default=0) + 3 * _NUMBERS_WIDTH
        return max(_FEWEST_BAR, min(_MAX_BAR, (self._screen.width - taken) // 2))

    def _bar(self, use: Use, width: int) -> RichText:
        bar = self._screen.bar(use.fraction_before, use.fraction_after, width)
        return Text.assemble(bar, f" {percent(use.fraction_after)}")
