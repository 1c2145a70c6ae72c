"""Runs that take no time: squares, some of which fail, and some of which take their process along.

Workers import this module, so what they need stands here rather than in a test.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from podium.offline.sweeps.executors import PlannedRun, Sweep, digest_values


@dataclass(frozen=True)
class Squared:
    number: int
    square: int | float


@dataclass(frozen=True)
class Toy:
    """`log` gets a line for each run. Numbers of `fails` raise; those of `kills` end their process,
    those of `kills_once` only the first time."""

    log: Path
    fails: frozenset[int] = frozenset()
    kills: frozenset[int] = frozenset()
    kills_once: frozenset[int] = frozenset()


class OddError(Exception):
    """Cannot be made again from what it says."""

    def __init__(self, number: int, *, reason: str) -> None:
        super().__init__(f"{number} {reason}")


def prepare_squares(toy: Toy) -> Callable[[int], Squared]:
    def square(number: int) -> Squared:
        tried = read_log(toy.log).count(number)
        with toy.log.open("a") as log:
            log.write(f"{number}\n")
        if number in toy.kills or (number in toy.kills_once and not tried):
            os._exit(9)
        if number in toy.fails:
            raise OddError(number, reason="is odd")
        return Squared(number, number * number)

    return square


def read_log(path: Path) -> list[int]:
    """The runs that were begun."""
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


def plan_squares(toy: Toy, numbers: int, salt: str = "") -> Sweep[Squared]:
    return Sweep(
        prepare_squares,
        toy,
        Squared,
        tuple(
            PlannedRun(digest_values("square", number, salt), f"square of {number}", number)
            for number in range(numbers)
        ),
    )
