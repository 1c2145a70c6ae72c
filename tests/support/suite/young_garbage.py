"""Runs that collect the garbage of their own and leave the suite's objects alone.

`seldom_collected` looks at every object of the process before a run, which is what a command wants
that has just read its input. The process of a test holds all tests and all packages as well, some
million objects, and looking at them takes half a second, many times what a tiny run takes. Folders
whose tests make such runs import the fixture into their `conftest.py`.
"""

import gc
from functools import partial

import pytest

YOUNG = 1
"""The oldest generation that a run looks at: what came since the last look."""


@pytest.fixture(autouse=True)
def collect_young_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "collect", partial(gc.collect, YOUNG))
