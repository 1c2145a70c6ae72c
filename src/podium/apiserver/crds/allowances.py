"""How many single checks one object may cause.

A schema and an object of a few kilobytes each can ask for millions of checks: a list whose items
have a hundred alternatives, or lack a thousand required fields, or get a long default each. Within
`bounded_checks` they are counted, and TooManyChecks ends the work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

MAX_CHECKS: Final = 150_000
"""In one validation; an object of the most values there may be needs two thirds of them."""

_left: ContextVar[list[int] | None] = ContextVar("checks", default=None)


class TooManyChecks(Exception):
    def __init__(self) -> None:
        super().__init__(f"exceeded max number of checks ({MAX_CHECKS})")


@contextmanager
def bounded_checks() -> Iterator[None]:
    token = _left.set([MAX_CHECKS])
    try:
        yield
    finally:
        _left.reset(token)


def spend_checks(count: int) -> None:
    """Raises TooManyChecks; outside of `bounded_checks` nothing is counted."""
    left = _left.get()
    if left is not None:
        left[0] -= count
        if left[0] < 0:
            raise TooManyChecks
