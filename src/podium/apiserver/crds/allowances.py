"""How many single checks one object may cause.

A schema and an object of a few kilobytes each can ask for millions of checks: a list whose items
have a hundred alternatives, or lack a thousand required fields, or get a long default each. Within
`bounded_checks` they are counted, and TooManyChecks ends the work.

Regular expressions of schemas, and how much matching one request may ask for. Whoever may
create a definition chooses the expressions, and whoever may create an object the texts. A
character of text costs up to 20 nanoseconds for each instruction of an expression, so the
instructions of a definition and the products of a validation are counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from podium.golang.regexp import PatternError, TooLarge, compile_pattern

MAX_CHECKS: Final = 150_000
"""In one validation; an object of the most values there may be needs two thirds of them."""

_checks_left: ContextVar[list[int] | None] = ContextVar("checks", default=None)


class TooManyChecks(Exception):
    def __init__(self) -> None:
        super().__init__(f"exceeded max number of checks ({MAX_CHECKS})")


@contextmanager
def bounded_checks() -> Iterator[None]:
    token = _checks_left.set([MAX_CHECKS])
    try:
        yield
    finally:
        _checks_left.reset(token)


def spend_checks(count: int) -> None:
    """Raises TooManyChecks; outside of `bounded_checks` nothing is counted."""
    left = _checks_left.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise TooManyChecks


BadPattern = PatternError

MAX_INSTRUCTIONS: Final = 200_000
"""In the expressions of one definition."""
MAX_WORK: Final = 20_000_000
"""Characters times instructions in the validation of one object."""

_REFUSED: Final = 20_000
"""Instructions that compiling an expression takes until it is found to be too large."""

_matching_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def bounded_matching(limit: int) -> Iterator[None]:
    """Everything within shares an allowance: of work, or of instructions."""
    token = _matching_left.set([limit])
    try:
        yield
    finally:
        _matching_left.reset(token)


def matches(pattern: str, text: str) -> bool:
    """Whether the text has a part that the expression describes; raises BadPattern.

    A text that is too long for what is left counts as one that does not match.
    """
    compiled = compile_pattern(pattern)
    return _take(len(text) * compiled.instructions) and compiled.matches(text)


def check_pattern(pattern: str) -> None:
    """Raises BadPattern; once the allowance is used up, without compiling anything."""
    try:
        instructions = compile_pattern(pattern).instructions if _take(0) else 0
    except TooLarge:
        _take(_REFUSED)
        raise
    if not _take(instructions):
        told = f"more than {MAX_INSTRUCTIONS} instructions in the expressions of a definition"
        raise BadPattern(f"error parsing regexp: expression too large: {told}")


def _take(amount: int) -> bool:
    left = _matching_left.get()
    if left is None:
        return amount <= MAX_WORK
    left[0] -= amount
    return left[0] >= 0
