"""Runs in a test's process leave the suite's objects alone when they look for garbage.

`seldom_collected` looks at every object of the process before a run, which is what a command wants
that has just read its input. The process of a test holds all tests and all packages as well, some
million objects, and looking at them takes half a second, many times what a tiny run or a request
takes. So it looks at young objects here. A test that calls `gc.collect` itself collects everything.
While tests are collected nothing is garbage, and nobody looks.
"""

import gc
from collections.abc import Generator
from functools import partial
from types import SimpleNamespace

import pytest

from podium.scheduler.engine import garbage

YOUNG = 1
"""The oldest generation that a run looks at: what came since the last look."""


def pytest_configure() -> None:
    young_only = SimpleNamespace(**{**vars(gc), "collect": partial(gc.collect, YOUNG)})
    garbage.gc = young_only  # type: ignore[assignment, attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    with garbage.pause_collection():
        return (yield)
