"""What a reader of a walkthrough does, step by step: files to write, commands to type.

A fenced block with a file's name behind its language is that file. In a `console` block a command
stands behind `$ `, the further lines of one that is longer behind `> `, and what follows is what
the command prints.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(\w*) ?(.*)$")
_PROMPT, _CONTINUED = "$ ", "> "


class FileStep(NamedTuple):
    line: int
    name: str
    text: str


class CommandStep(NamedTuple):
    line: int
    command: str
    shown: list[str]

    @property
    def is_background(self) -> bool:
        return self.command.endswith("&")


Step = FileStep | CommandStep


def page_steps(page: Path) -> list[Step]:
    return [
        step for line, words, text in _blocks(page) for step in _steps_of_block(line, words, text)
    ]


def _blocks(page: Path) -> Iterator[tuple[int, tuple[str, str], list[str]]]:
    """(number of its first line, language and file's name, lines) of each fenced block."""
    words: tuple[str, str] | None = None
    start, text = 0, list[str]()
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        found = _FENCE.match(line)
        if found is None:
            text.append(line)
        elif words is None:
            words, start, text = (found[1], found[2]), number + 1, []
        else:
            yield start, words, text
            words = None


def _steps_of_block(start: int, words: tuple[str, str], text: list[str]) -> Iterator[Step]:
    language, name = words
    if name:
        yield FileStep(start, name, "\n".join(text) + "\n")
    elif language == "console":
        yield from _commands(start, text)


def _commands(start: int, text: list[str]) -> Iterator[CommandStep]:
    step: CommandStep | None = None
    for number, line in enumerate(text, start=start):
        if line.startswith(_PROMPT):
            if step is not None:
                yield step
            step = CommandStep(number, line.removeprefix(_PROMPT).rstrip(), [])
        elif step is None:
            raise ValueError(f"line {number}: output before the first command of a block: {line}")
        elif line.startswith(_CONTINUED) and not step.shown:
            longer = f"{step.command}\n{line.removeprefix(_CONTINUED)}"
            step = step._replace(command=longer)
        else:
            step.shown.append(line)
    if step is not None:
        yield step
