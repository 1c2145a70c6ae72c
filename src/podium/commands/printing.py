"""The one way to a terminal for text that others wrote.

Names, labels, messages, file names and answers of servers come from anywhere and may hold what a
terminal obeys: escape sequences that move the cursor, colour, hide or answer, carriage returns,
controls that turn the direction of writing, and newlines that forge a line of ours. None of that is
printed. It is shown as Go's `%q` writes it (`\\x1b`, `\\u202e`, `\\n`): that is the form that the
log lines of Kubernetes components have, it can be searched for, and it tells one invisible
character from another, which kubectl's `^[` cannot.

Contract: a string is one line; whoever prints several says so. Everything in `podium.commands`
prints through here, through `podium.commands.console` (rich) or logs through
`podium.commands.line_logging`; the linter refuses `print`, rich's `Console` and rich's `Text`
elsewhere.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from podium.golang.errors import InputError
from podium.golang.quoting import escape_unprintable


def print_line(text: str = "", *, error: bool = False) -> None:
    """One line on standard output, or on standard error."""
    print(escape_unprintable(text), file=sys.stderr if error else sys.stdout, flush=True)


def print_lines(lines: Iterable[str], *, error: bool = False) -> None:
    stream = sys.stderr if error else sys.stdout
    stream.write("".join(f"{escape_unprintable(line)}\n" for line in lines))
    stream.flush()


def print_traceback(text: str) -> None:
    """A traceback on standard error, indented: its messages cannot pass for lines of ours."""
    print_lines(indent_lines(text), error=True)


def indent_lines(text: str) -> list[str]:
    return [f"  {line}" for line in text.rstrip("\n").split("\n")]


def write_output(path: Path, text: str) -> None:
    """A file that an option names. Raises InputError."""
    try:
        path.write_text(text)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise InputError(f"cannot be written: {reason}", source=str(path)) from problem
