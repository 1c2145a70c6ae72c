"""Cases of one test, of which `make test` runs a few and `make test-all` runs all."""

from collections.abc import Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def few_of(cases: Iterable[T], every: int) -> list[object]:
    """Arguments for `parametrize`: one case of so many is quick, those between are slow. Cases of a
    table stand in families, so that each family of as many has a quick one."""
    return [
        pytest.param(case, marks=[pytest.mark.slow] if number % every else [])
        for number, case in enumerate(cases)
    ]
