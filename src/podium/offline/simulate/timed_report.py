"""What came of a timed run: plain values that tables, JSON and tests read.

All times are seconds from the start of the run, exact to a microsecond.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from podium.kubernetes.kinds.node import Node
from podium.offline.simulate.timed_series import Sample


class TimedPodState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    """It has run for as long as it was to run."""
    REMOVED = "removed"
    """Somebody deleted it."""
    GONE = "gone"
    """It lost its node and no controller makes it again."""


@dataclass(slots=True)
class TimedPod:
    """A pod and those that its controller made in its place, as one life."""

    key: str
    workload: str
    arrived_s: float
    state: TimedPodState = TimedPodState.PENDING
    first_attempt_s: float | None = None
    bound_s: float | None = None
    """When it was bound last."""
    first_wait_s: float | None = None
    """From its arrival until it was bound first."""
    waited_s: float = 0.0
    """All the time in which it was to run and had no node."""
    node: str = ""
    """The last node that it had."""
    ended_s: float | None = None
    evictions: int = 0
    """How often it was preempted."""
    node_losses: int = 0
    """How often its node was gone."""
    reason: str = ""
    """Why it is pending."""


@dataclass(frozen=True, slots=True)
class TimedNode:
    """A node for as long as it was there; one that comes back is another."""

    node: Node
    from_s: float
    until_s: float | None = None
    """None: to the end of the run."""


@dataclass(slots=True)
class TimedTotals:
    """`placed` pods had a node at least once. Waiting times are those until the first binding, of
    pods that were bound."""

    arrived: int = 0
    placed: int = 0
    finished: int = 0
    running: int = 0
    pending: int = 0
    removed: int = 0
    gone: int = 0
    attempts: int = 0
    evictions: int = 0
    node_losses: int = 0
    """Pods whose node was gone, each time."""
    nodes_added: int = 0
    nodes_removed: int = 0
    node_hours: float = 0.0
    wait_mean_s: float = 0.0
    wait_p50_s: float = 0.0
    wait_p99_s: float = 0.0
    wait_max_s: float = 0.0


@dataclass(frozen=True, slots=True)
class TimedReport:
    """`pods` are in the order in which their lives ended, then those that are there in the end in
    order of arrival. They are missing where somebody else was told of them during the run."""

    seed: int
    duration_s: float
    totals: TimedTotals
    samples: Sequence[Sample]
    pods: Sequence[TimedPod] = ()
    nodes: Sequence[TimedNode] = ()
    pending_reasons: dict[str, int] = field(default_factory=dict)
    """Why pods are pending in the end, and how many."""
    notes: tuple[str, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    """Pods that met a bug and are in the end without a node, with the traceback."""
