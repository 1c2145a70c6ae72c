"""Stages: what happens to a pod next, under which conditions, and after how long.

A stage is data. Of all stages the first that matches a pod is its next one; when its delay has
passed, the pod's status is changed as the stage says, which makes another stage match, or the pod
is removed. Chances and jitter come from the pod's uid, so that a pod's fate does not depend on how
often it is looked at.
"""

import zlib
from dataclasses import dataclass
from typing import Any

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.moment import Moment
from podium.simulated.pods.kubelet_facts import FieldPath
from podium.simulated.pods.pod_lives import seconds_of


@dataclass(frozen=True, slots=True)
class Match:
    """One condition on one field."""

    field: FieldPath
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, pod: JsonObject) -> bool:
        found = self.field.of(pod)
        present = found not in (None, "", (), [], {})
        match self.operator:
            case "Exists":
                return present
            case "DoesNotExist":
                return not present
            case "In":
                return present and _text(found) in self.values
            case _:
                return not present or _text(found) not in self.values


@dataclass(frozen=True, slots=True)
class Delay:
    """How long a stage waits: a number, or what a field says, plus some jitter."""

    seconds: float = 0.0
    seconds_from: FieldPath | None = None
    jitter_seconds: float = 0.0
    since: FieldPath | None = None
    """A timestamp from which the time counts; without it, from when the stage was reached."""
    seconds_left: FieldPath | None = None
    """What says how long it takes from now on, whenever it is looked at; nothing else counts."""

    def remaining_s(self, pod: JsonObject, uid: str, stage: str, moment: Moment) -> float:
        if self.seconds_left is not None:
            left = self.seconds_left.of(pod)
            return 0.0 if left is None else seconds_of(_text(left)) or 0.0
        total = self.seconds
        if self.seconds_from is not None:
            written = self.seconds_from.of(pod)
            read = seconds_of(_text(written)) if written is not None else None
            total = self.seconds if read is None else read
        total += self.jitter_seconds * share(uid, stage)
        return max(0.0, total - self._passed_s(pod, moment))

    def _passed_s(self, pod: JsonObject, moment: Moment) -> float:
        """How much of the delay is over already; a field that is no time says nothing."""
        began = self.since.of(pod) if self.since is not None else None
        try:
            return moment.age_s(began) if isinstance(began, str) else 0.0
        except ValueError:
            return 0.0


@dataclass(frozen=True, slots=True)
class ConditionChange:
    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class ContainerChange:
    """What becomes of the containers: they wait, run, end with an exit code, or live on."""

    state: str
    reason: str = ""
    ready: bool = False
    exit_code: int = 0
    exit_code_from: FieldPath | None = None
    restarted: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What a stage does to its pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    reason_from: FieldPath | None = None
    message_from: FieldPath | None = None
    conditions: tuple[ConditionChange, ...] = ()
    containers: ContainerChange | None = None
    removes: bool = False

    @property
    def changes_status(self) -> bool:
        return bool(self.phase or self.reason or self.conditions or self.containers)


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    matches: tuple[Match, ...] = ()
    delay: Delay = Delay()
    chance: float = 1.0
    effect: Effect = Effect()

    def is_next(self, pod: JsonObject, uid: str) -> bool:
        if not all(match.holds(pod) for match in self.matches):
            return False
        return self.chance >= 1 or share(uid, f"{self.name}?") < self.chance


def go_by_kubelet(stages: tuple[Stage, ...]) -> bool:
    """Whether any stage asks for what only a kubelet knows."""
    for stage in stages:
        paths = [match.field for match in stage.matches]
        delay = stage.delay
        times = (delay.seconds_from, delay.since, delay.seconds_left)
        paths += [path for path in times if path]
        if any(path.is_of_kubelet for path in paths):
            return True
    return False


def next_stage(stages: tuple[Stage, ...], pod: JsonObject, uid: str) -> Stage | None:
    return next((stage for stage in stages if stage.is_next(pod, uid)), None)


def share(uid: str, what: str) -> float:
    """A number from 0 up to 1 that is always the same for a pod and a purpose."""
    return zlib.crc32(f"{uid}/{what}".encode()) / 2**32


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
