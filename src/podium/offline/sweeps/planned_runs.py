"""Runs as values: what is to be done, with what, and a key that stands for all of it.

A key is a digest of everything that a run's result depends on, Podium's version included. Two runs
with one key have one result, whenever and wherever they are made, and a run with other input has
another key.

Contract: `prepare`, `shared` and `arguments` can be pickled, and `prepare` is a name of a module,
since workers import it. Results are what msgspec can write as JSON and read again as `result`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Generic, TypeVar

import msgspec

from podium import __version__

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """`name` is for people; `arguments` are what `prepare`'s function is called with."""

    key: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Sweep(Generic[R]):
    """A worker calls `prepare(shared)` once, and what that gives once for each run."""

    prepare: Callable[[Any], Callable[[Any], R]]
    shared: Any
    result: type[R]
    runs: tuple[PlannedRun, ...]


def digest_values(*values: object) -> str:
    """The same for equal values in every process. What msgspec cannot write stands by its repr."""
    written = msgspec.json.encode((__version__, values), order="deterministic", enc_hook=repr)
    return sha256(written).hexdigest()
