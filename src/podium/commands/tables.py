"""How tables, bars and lists look, the same in every command.

Colour and line drawing belong to terminals: rich leaves colours out elsewhere and where NO_COLOR is
set, and an output that knows no Unicode gets plain characters. Output that goes into a pipe is not
squeezed into the 80 columns that nobody asked for.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import OverflowMethod
from rich.table import Table

from podium.commands.console import Console, RichText, Text
from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY

WIDTH_IN_PIPES = 140
TITLE_WIDTH = 10
"""What the titles of facts take, so that the facts stand below one another."""
COLUMN_GAP = 3
"""Spaces between two columns of a table."""
MAX_NAMES = 3
LEVELS = "▁▂▃▄▅▆▇█"
PLAIN_LEVELS = "12345678"

Heading = str | RichText


@dataclass(frozen=True, slots=True)
class Signs:
    """Characters that say something at a glance."""

    yes: str = "✓"
    no: str = "✗"
    nothing: str = "·"
    arrow: str = "→"
    full: str = "█"
    added: str = "▓"
    removed: str = "▒"
    free: str = "░"


PLAIN = Signs("y", "x", ".", "->", "#", "+", "-", ".")


class Screen:
    """Standard output with its signs."""

    def __init__(self) -> None:
        console = Console(soft_wrap=False)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console = Console(width=WIDTH_IN_PIPES)
        self.console = console
        self.signs = PLAIN if console.options.ascii_only else Signs()

    @property
    def width(self) -> int:
        return self.console.width

    def print(self, *parts: Any, style: str | None = None) -> None:
        """Print something; what goes into a pipe has no spaces at the ends of its lines."""
        if self.console.is_terminal:
            self.console.print(*parts, style=style)
            return
        with self.console.capture() as captured:
            self.console.print(*parts, style=style)
        lines = captured.get().split("\n")
        sys.stdout.write("\n".join(line.rstrip() for line in lines))

    def print_heading(self, title: str, remark: str = "") -> None:
        text = Text(title, style="bold")
        if remark:
            text.append(f"  {remark}", style="not bold dim")
        self.print()
        self.print(text)

    def print_titled(self, title: str, text: RichText) -> None:
        """A fact with its title in front; what does not fit goes on below the text."""
        grid = Table.grid()
        grid.add_column(style="dim", min_width=TITLE_WIDTH, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(title, text)
        self.print(grid)

    def notes(self, notes: Sequence[str]) -> None:
        """What one should know beside the answer."""
        if notes:
            self.print_heading("Notes")
            for note in notes:
                self.print(f"{self.signs.nothing} {note}", style="dim")

    def table(
        self, *headings: Heading, right: Sequence[Heading] = (), whole: Sequence[Heading] = ()
    ) -> Table:
        """An empty table; columns in `right` hold numbers, those in `whole` are never wrapped, and
        end with an ellipsis where they have to be cut."""
        cut: OverflowMethod = "crop" if self.console.options.ascii_only else "ellipsis"
        table = Table(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            header_style="dim",
            padding=(0, 1),
        )
        for heading in headings:
            table.add_column(
                heading,
                justify="right" if heading in right else "left",
                overflow=cut if heading in whole else "fold",
                no_wrap=heading in whole,
            )
        return table

    def curve(self, shares: Sequence[float | None]) -> RichText:
        """Fractions one after the other, each as a character of its height; None leaves a gap."""
        levels = PLAIN_LEVELS if self.console.options.ascii_only else LEVELS
        text = Text()
        for share in shares:
            level = " "
            if share is not None:
                level = levels[max(0, min(len(levels) - 1, int(share * len(levels))))]
            text.append(level, style="blue")
        return text

    def bar(self, before: float, after: float, width: int) -> RichText:
        """Fractions as a bar: what was there, what came or went, what is free."""
        low, high = sorted((_cells(before, width), _cells(after, width)))
        grows = after >= before
        return Text.assemble(
            (self.signs.full * low, "blue"),
            (
                (self.signs.added if grows else self.signs.removed) * (high - low),
                "green" if grows else "yellow",
            ),
            (self.signs.free * (width - high), "dim"),
        )


def _cells(fraction: float, width: int) -> int:
    """How many cells of a bar a fraction fills; whatever there is shows, if only as one cell."""
    if fraction <= 0:
        return 0
    return max(1, min(width, round(fraction * width)))


def percent(fraction: float) -> str:
    """`0.374` -> `37%`; never 100 % unless full, never 0 % unless empty."""
    number = round(100 * fraction)
    if number == 100 and fraction < 1:
        number = 99
    if number == 0 and fraction > 0:
        number = 1
    return f"{number}%"


def amount(resource: str, number: int) -> str:
    """A count of a resource as people write it: `1500m`, `16Gi`, `4`."""
    if resource == CPU:
        return f"{number // 1000}" if number % 1000 == 0 else f"{number}m"
    if resource not in (MEMORY, EPHEMERAL_STORAGE):
        return f"{number:,}"
    for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
        if abs(number) >= size:
            return f"{number / size:.1f}".removesuffix(".0") + unit
    return f"{number}"


def some(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """`a, b, c and 40 more`"""
    listed = ", ".join(names[:most])
    left = len(names) - most
    return f"{listed} and {left:,} more" if left > 0 else listed


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
