"""What all writers of lines have in common, and what they ask of a log."""

from collections.abc import Sequence
from random import Random
from typing import ClassVar, Final, Protocol

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.log import Log, ObjectRef

_NAMED_FROM: Final = 4


class LogOfLines(Log, Protocol):
    def lines(self, text: Sequence[str], *, v: int = 0) -> None:
        """Plain text of several lines."""


class LineWriter(Observer):
    """Writes lines of one verbosity about an engine that it observes."""

    level: ClassVar[int] = 0

    def __init__(self, engine: Engine, log: LogOfLines, randomness: Random) -> None:
        self.engine = engine
        self.log = log
        self.randomness = randomness
        self.pod_groups = engine.gates["GenericWorkload"]

    @classmethod
    def has_work(cls, engine: Engine) -> bool:  # noqa: ARG003
        """Whether there can be such lines at all."""
        return True

    def failed_decision(self, pod: PodInfo) -> Decision | None:
        """The record of an attempt that has just failed; None if it got as far as a node."""
        decision = self.engine.state.pod_log.decision(pod.key)
        return decision if decision is not None and decision.bound is None else None

    def inside(self, plugin: str) -> dict[str, str]:
        """The key of lines that come from within a plugin (`Bind.DefaultBinder`).

        upstream: loggers get such names from verbosity 4 on
        """
        return {"logger": plugin} if self.log.verbosity >= _NAMED_FROM else {}

    def is_member(self, pod: PodInfo) -> bool:
        """Whether a pod is tried with its group."""
        return self.pod_groups and pod.pod.spec.scheduling_group is not None


def group_ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef(name, namespace)


def as_set(names: set[str]) -> dict[str, dict[str, str]]:
    """A set as Go's JSON writes one."""
    return {name: {} for name in sorted(names)}
