"""A scheduler's record of a pod, as its `/debug/podium` pages write it.

Fields that a record lacks are empty, so that schedulers of other releases can be asked.
"""

from typing import Any

import msgspec

from podium.scheduler.engine.observer import Line


class _Recorded(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What records are made of."""


class RecordedScore(_Recorded, frozen=True):
    raw: int = 0
    normalized: int = 0
    weighted: int = 0


class RecordedNode(_Recorded, frozen=True):
    name: str = ""
    total: int = 0
    scores: dict[str, RecordedScore] = {}


class DecisionDetails(_Recorded, frozen=True):
    score: int | None = None
    runner_up: str | None = None
    lead: int = 0
    decided_by: str | None = None
    reasons: dict[str, int] = {}
    top_nodes: tuple[RecordedNode, ...] = ()
    evicts: tuple[str, ...] = ()


class RecordedDecision(_Recorded, frozen=True):
    """`details` are gone once the scheduler has decided for many other pods."""

    at: str = ""
    attempt: int = 0
    profile: str = ""
    node: str | None = None
    message: str | None = None
    is_error: bool = False
    examined_nodes: int = 0
    feasible_nodes: int = 0
    nominated_node: str | None = None
    rejected_by: dict[str, int] = {}
    details: DecisionDetails | None = None


class RecordedLine(_Recorded, frozen=True):
    at: str = ""
    what: str = ""
    detail: str = ""
    plugins: tuple[str, ...] = ()
    about: str = ""

    @property
    def line(self) -> Line:
        """As the pod log has it, but for the time."""
        return Line(0.0, self.what, self.detail, self.plugins, self.about)


class QueueEntry(_Recorded, frozen=True):
    attempts: int = 0
    since: str = ""
    ahead: int | None = None
    rejected_by: tuple[str, ...] = ()
    pending_at: tuple[str, ...] = ()
    gated_by: str | None = None
    backoff_until: str | None = None
    retried_at: str | None = None


class PermitWait(_Recorded, frozen=True):
    node: str = ""
    plugins: tuple[str, ...] = ()
    deadline: str = ""


class RecordedPodDocument(_Recorded, frozen=True):
    namespace: str = ""
    name: str = ""
    scheduler_name: str | None = None
    priority: int | None = None
    node: str | None = None
    place: str = ""
    queue: QueueEntry | None = None
    waiting: PermitWait | None = None
    decision: RecordedDecision | None = None
    log: tuple[RecordedLine, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def is_placed(self) -> bool:
        """Whether the pod has a node, or is on its way to one."""
        return bool(self.node or (self.decision is not None and self.decision.node))


def decode_record(body: bytes) -> tuple[RecordedPodDocument, dict[str, Any]]:
    """A record, and the whole document. Raises MsgspecError."""
    return msgspec.json.decode(body, type=RecordedPodDocument), msgspec.json.decode(body)
