"""Completion for `kubectl podium`: the program `kubectl_complete-podium`, which kubectl runs.

kubectl gives it the words so far, the last of them unfinished, and expects what cobra's programs
print: a suggestion a line, then a colon and a number that says whether files may be meant as well.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from podium.commands.app import COMMANDS, build_app
from podium.commands.exit_codes import OK
from podium.commands.printing import print_line, print_lines

_FILES_TOO: Final = ":0"
_NO_FILES: Final = ":4"


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    *before, unfinished = words or [""]
    suggested = _options(before[0]) if before else (name for name, *_ in COMMANDS)
    fitting = [each for each in suggested if each.startswith(unfinished)]
    if not before or unfinished.startswith("-"):
        print_lines(fitting)
    print_line(_FILES_TOO if before and not unfinished.startswith("-") else _NO_FILES)
    return OK


def _options(command: str) -> Iterator[str]:
    """The long options of a command, none if there is no such command."""
    if command in (name for name, *_ in COMMANDS):
        for argument in build_app()[command].assemble_argument_collection():
            yield from (name for name in argument.names if name.startswith("--"))
