"""Exceptions of plugins in words that lead to the mistake.

A plugin that raises on purpose has a text for users, and that is all they should read. One that
breaks by accident (a missing key, an attribute of None) has a text that helps nobody without the
line it came from, and its author is often the one who reads it.
"""

import traceback
from typing import Final

from podium.golang.errors import InputError
from podium.scheduler.framework.status import Status

_OURS: Final = __file__.replace("\\", "/").removesuffix("scheduler/framework/faults.py")


class WrongAnswer(Exception):
    """A plugin answered with something that means nothing at its point."""

    def __init__(self, point: str, wanted: str, answer: object) -> None:
        super().__init__(f"{point} must answer with {wanted}, not {_describe_answer(answer)}")


class TookTooLong(Exception):
    """A call into a plugin was ended because it took too long; the text says where that was."""


class QueueOrderBroken(InputError):
    """Pods cannot be ordered: there is no attempt that could fail instead, so that the command
    ends."""


def status_or_none(point: str, answer: object) -> Status | None:
    """What most points answer with; raises WrongAnswer for anything else."""
    if answer is None or isinstance(answer, Status):
        return answer
    raise WrongAnswer(point, "None or a Status", answer)


def _describe_answer(answer: object) -> str:
    if isinstance(answer, bool | int | float | str):
        return f"{answer!r:.60}"
    element = getattr(answer, "dtype", None)
    kind = type(answer).__name__
    return f"{kind} of {element}" if element is not None else kind


_ACCIDENTS = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)


def describe(problem: BaseException) -> str:
    """An exception as a reason: its text, or its type when it has none; an accident with its
    type and place."""
    if isinstance(problem, _ACCIDENTS):
        return locate_problem(problem)
    return str(problem) or type(problem).__name__


def locate_problem(problem: BaseException) -> str:
    """`KeyError: 'zone' (rules.py, line 12)`"""
    text = str(problem)
    if isinstance(problem, TookTooLong):
        return text
    named = type(problem).__name__ + (f": {text}" if text else "")
    place = place_of(problem)
    return f"{named} ({place})" if place else named


def place_of(problem: BaseException) -> str:
    """The line that raised, as short as it can be said; if a function of ours raised, the line of
    the plugin that called it. Empty if there is none."""
    frames = traceback.extract_tb(problem.__traceback__)
    if not frames:
        return ""
    theirs = [frame for frame in frames if not _is_ours(frame.filename)]
    last = (theirs or frames)[-1]
    name = last.filename.replace("\\", "/").rpartition("/")[2]
    return f"{name}, line {last.lineno}"


def _is_ours(filename: str) -> bool:
    return filename.replace("\\", "/").startswith(_OURS)
