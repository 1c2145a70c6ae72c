"""rich for text that others wrote: tables, colours and bars of ours, and nothing of theirs.

What `podium.commands.printing` says of plain lines holds here as well: a string is one line without
controls, escaped before it is measured, so that columns fit. Markup and emoji codes are text like
any other.
"""

import sys
from collections.abc import Iterable
from typing import Any, ClassVar

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.progress import Progress as RichProgress
from rich.progress import ProgressColumn, Task
from rich.segment import Segment
from rich.text import Text as RichText

from podium.golang.quoting import escape_unprintable

__all__ = [
    "Console",
    "DescriptionColumn",
    "Progress",
    "RateColumn",
    "RichText",
    "Text",
    "stack_lines",
]

_ASKS = ("builtins.breakpoint", "builtins.input", "pdb.Pdb")
"""Audit events of Python: somebody is about to talk with the user."""


class Text(RichText):
    """rich's text, of one line and without controls."""

    def __init__(self, text: str = "", style: str = "", **how: Any) -> None:
        super().__init__(escape_unprintable(text), style, **how)

    def append(self, text: RichText | str, style: Any = None) -> RichText:
        return super().append(escape_unprintable(text) if isinstance(text, str) else text, style)


def stack_lines(lines: Iterable[str | RichText]) -> RichText:
    """Several lines in one text."""
    return RichText("\n").join(Text(line) if isinstance(line, str) else line for line in lines)


class Console(RichConsole):
    """rich's console, which takes no string for markup and lets no control through but its own."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    def render_str(self, text: str, **how: Any) -> RichText:
        return super().render_str(escape_unprintable(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Texts that rich makes by itself pass here too."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text == "\n" or segment.text.isprintable():
                yield segment
            else:
                lines = map(escape_unprintable, segment.text.split("\n"))
                yield Segment("\n".join(lines), segment.style)


class DescriptionColumn(ProgressColumn):
    """What a bar is about; rich's own column takes it for markup."""

    def render(self, task: Task) -> RichText:
        return Text(task.description)


class RateColumn(ProgressColumn):
    """How fast a bar goes."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> RichText:
        return Text(f"{task.speed:,.1f} {self._unit}" if task.speed else "")


class Progress(RichProgress):
    """rich's bar, which ends as soon as code of the user's wants the terminal for itself: a
    debugger's prompt under a bar that is drawn again and again cannot be read."""

    _running: ClassVar[list["Progress"]] = []
    _hooked: ClassVar[bool] = False
    _streams: ClassVar[list[object]] = []
    """What stood for standard output while a bar was there. Python's `input` has borrowed it when
    the bar ends, and must not find it gone."""

    def start(self) -> None:
        super().start()
        if not self.disable:
            self._running.append(self)
            _end_bars_when_asked()

    def stop(self) -> None:
        if self in self._running:
            self._running.remove(self)
        super().stop()

    @classmethod
    def stop_all(cls) -> None:
        if cls._running:
            cls._streams += (sys.stdout, sys.stderr)
        for bar in tuple(cls._running):
            bar.stop()


def _end_bars_when_asked() -> None:
    """Audit hooks stay for ever, so there is one."""
    if not Progress._hooked:
        Progress._hooked = True
        sys.addaudithook(lambda event, _: Progress.stop_all() if event in _ASKS else None)
