"""What a container would do: how long it runs, and how it ends.

Nothing is ever executed. The few commands that tests of clusters are made of are recognised:
`sleep`, `true`, `false`, `exit`, `echo`, and shells with a line of these joined by `;` or `&&`.
What is not recognised runs for ever, or, where a pod waits for it to end, ends well at once.

>>> recognise(("sh", "-c", "sleep 5 && exit 3"))
Program(seconds=5.0, exit_code=3)
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_SHELLS: Final = frozenset({"sh", "bash", "ash", "dash"})
_SHELL_FLAGS: Final = re.compile(r"-[a-z]*c")
_SEPARATOR: Final = re.compile(r"(&&|;|\n)")
_UNKNOWN: Final = frozenset("|<>()$`{}\\&*?!#")
"""What a line of a shell may hold that is not looked into."""
_DURATION: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MAX_SCRIPT: Final = 4096


class Program(NamedTuple):
    seconds: float | None
    """How long it runs; None: until it is stopped."""
    exit_code: int = 0


FOR_EVER: Final = Program(None)
DONE: Final = Program(0.0)


def recognise(words: Sequence[str]) -> Program | None:
    """What a command does; None if it is none of those that are known."""
    if not words:
        return None
    name, *rest = words
    if name.rsplit("/", 1)[-1] in _SHELLS:
        if len(rest) < 2 or not _SHELL_FLAGS.fullmatch(rest[0]) or len(rest[1]) > _MAX_SCRIPT:
            return None
        return _script(rest[1], stops_at_failure="e" in rest[0])
    if any(character in _UNKNOWN for word in words for character in word):
        return None
    return _simple(words)


def _script(text: str, *, stops_at_failure: bool) -> Program | None:
    steps = list(_steps(text))
    seconds, code = 0.0, 0
    for joint, words in steps:
        program = _simple(words) if words is not None else None
        if program is None:
            return None
        if joint == "&&" and code:
            continue
        if program.seconds is None:
            return FOR_EVER
        seconds += program.seconds
        code = program.exit_code
        if words is not None and words[0] == "exit":
            break
        if code and stops_at_failure:
            break
    return Program(seconds, code) if steps else None


def _steps(text: str) -> Iterator[tuple[str, list[str] | None]]:
    """Each command with what joins it to the one before; None for one that cannot be read."""
    joint = ";"
    for part in _SEPARATOR.split(text):
        if part in ("&&", ";", "\n"):
            joint = part
        elif part.strip():
            yield joint, _words(part)


def _words(text: str) -> list[str] | None:
    if _UNKNOWN.intersection(text):
        return None
    try:
        return shlex.split(text) or None
    except ValueError:
        return None


def _simple(words: Sequence[str]) -> Program | None:
    name, *arguments = words
    match name.rsplit("/", 1)[-1]:
        case "true" | ":" | "echo":
            return DONE
        case "false":
            return Program(0.0, 1)
        case "exit":
            return _exit(arguments)
        case "sleep":
            return _sleep(arguments)
    return None


def _exit(arguments: Sequence[str]) -> Program | None:
    if not arguments:
        return DONE
    if len(arguments) > 1 or not arguments[0].isdecimal() or len(arguments[0]) > 9:
        return None
    return Program(0.0, int(arguments[0]) % 256)


def _sleep(arguments: Sequence[str]) -> Program | None:
    if arguments and all(each in ("infinity", "inf") for each in arguments):
        return FOR_EVER
    found = [_DURATION.fullmatch(each) for each in arguments]
    if not found:
        return None
    seconds = 0.0
    for each in found:
        if each is None:
            return None
        seconds += float(each[1]) * _UNITS[each[2]]
    return Program(seconds)
