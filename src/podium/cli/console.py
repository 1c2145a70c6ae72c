"""rich for text that others wrote: tables, colours and bars of ours, and nothing of theirs.

What `podium.cli.printing` says of plain lines holds here as well: a string is one line without
controls, escaped before it is measured, so that columns fit. Markup and emoji codes are text like
any other.
"""

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.progress import ProgressColumn, Task
from rich.segment import Segment
from rich.text import Text as RichText

from podium.api.go_quoting import escape_unprintable

__all__ = ["Console", "DescriptionColumn", "RichText", "Text", "stack_lines"]


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
