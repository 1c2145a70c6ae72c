"""What changes of a cluster come to: plain values that tables, JSON and tests read."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.scheduler.explain.cause import Cause


@dataclass(frozen=True, slots=True)
class Moved:
    """A pod on another node than before; `before` is "" if it had none."""

    pod: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Stranded:
    """A pod that had a node, or was made by a change, and gets none."""

    pod: str
    before: str
    message: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True, slots=True)
class Gone:
    """A pod that is not made again: it has no controller."""

    pod: str
    before: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A pod that was to be evicted and may not be."""

    pod: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Preempted:
    """A pod that lost its node to a more important one, whether or not it found another."""

    pod: str
    node: str
    by: str


@dataclass(frozen=True, slots=True)
class Consequences:
    """All of it, sorted by pod; `waiting` are pods that had no node before."""

    changes: tuple[str, ...]
    moved: Sequence[Moved]
    stranded: Sequence[Stranded]
    gone: Sequence[Gone]
    kept: Sequence[Kept]
    preempted: Sequence[Preempted]
    waiting_before: int
    waiting_after: int

    @property
    def is_survived(self) -> bool:
        """Whether every pod that is to run has a place, and every one that was to go has gone."""
        return not (self.stranded or self.gone or self.kept)
