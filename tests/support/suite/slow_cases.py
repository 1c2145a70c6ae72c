"""Cases of one test, of which `make test` runs a few and `make test-all` runs all."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings

T = TypeVar("T")
Test = Callable[..., None]


def few_of(cases: Iterable[T], every: int) -> list[object]:
    """Arguments for `parametrize`: one case of so many is quick, those between are slow. Cases of a
    table stand in families, so that each family of as many has a quick one."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if number % every else [])
        for number, case in enumerate(cases)
    ]


def given_examples(few: int, many: int, *strategies: Any, **named: Any) -> Callable[[Test], Test]:
    """Hypothesis' `given` with two numbers of examples: the test is run with a few of them, and as
    a slow one with many."""

    def decorate(test: Test) -> Test:
        @pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])
        def run(examples: int) -> None:
            draw: Callable[[Test], Test] = given(*strategies, **named)
            settings(max_examples=examples)(draw(test))()

        run.__name__, run.__qualname__ = test.__name__, test.__qualname__
        run.__doc__, run.__module__ = test.__doc__, test.__module__
        return run

    return decorate
