"""Waiting for what no watch tells: asked for again and again, with a deadline."""

import time
from collections.abc import Callable

PATIENCE_S = 60
LOOK_S = 0.1


def wait_until(holds: Callable[[], bool], describe: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, describe()
        time.sleep(LOOK_S)
