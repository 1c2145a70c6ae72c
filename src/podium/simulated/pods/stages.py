"""Stages: what happens to a pod next, when, and what is then written into its status.

A stage is data. Of all stages the first that matches a pod is its next one; when its delay has
passed, the pod's status is changed as the stage says, which makes another stage match, or the pod
is removed. Chances and jitter come from the pod's uid, so that a pod's fate does not depend on how
often it is looked at.

What a stage writes into a pod's status, in full. Conditions keep the time of their last change
unless their status changes. Statuses of containers are written for all of them at once, since the
API replaces the list; restarts go on counting.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import changed_condition
from podium.kubernetes.controllers.pods import Container, ContainerStatus, Pod
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.pods.container_lives import ContainerRuns
from podium.simulated.pods.kubelet_facts import FieldPath, plain
from podium.simulated.pods.pod_lives import life_status, live_on, seconds_of, whole_number


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


def status_after(
    effect: Effect,
    pod: Pod,
    values: JsonObject,
    moment: Moment,
    *,
    host_ip: str,
    pod_ip: str,
    runs: ContainerRuns | None = None,
) -> JsonObject:
    """The status to merge into the pod's; `values` is what paths lead into, `runs` is what
    containers have done so far."""
    status: JsonObject = {}
    lives_on = effect.containers is not None and effect.containers.state == "next"
    if lives_on:
        status |= life_status(live_on(pod, moment, runs), moment)
    if effect.phase:
        status["phase"] = effect.phase
    reason = _tell_values(effect.reason_from, values) or effect.reason
    message = _tell_values(effect.message_from, values) or effect.message
    if reason or message:
        status["reason"], status["message"] = reason, message
    conditions = [
        changed_condition(
            pod.status.conditions,
            moment,
            change.type,
            change.status,
            change.reason,
            change.message,
            lastProbeTime=None,
        )
        for change in effect.conditions
    ]
    changed = [condition for condition in conditions if condition is not None]
    if changed:
        status["conditions"] = [*status.get("conditions", ()), *changed]
    if effect.containers is not None and not lives_on:
        status |= _containers(effect.containers, pod, moment)
    if (effect.phase == "Running" or lives_on) and not pod.status.start_time:
        status["startTime"] = moment.timestamp
        status |= _addresses(host_ip, host_ip if pod.spec.host_network else pod_ip)
    return status


def _tell_values(path: FieldPath | None, values: JsonObject) -> str:
    return str(path.of(values) or "") if path is not None else ""


def _addresses(host_ip: str, pod_ip: str) -> JsonObject:
    found: JsonObject = {}
    if host_ip:
        found |= {"hostIP": host_ip, "hostIPs": [{"ip": host_ip}]}
    if pod_ip:
        found |= {"podIP": pod_ip, "podIPs": [{"ip": pod_ip}]}
    return found


def _containers(change: ContainerChange, pod: Pod, moment: Moment) -> JsonObject:
    known = {status.name: status for status in pod.status.container_statuses or ()}
    exit_code = change.exit_code
    if change.exit_code_from is not None:
        read = whole_number(str(change.exit_code_from.of(plain(pod)) or ""))
        exit_code = change.exit_code if read is None else read
    state = _state(change, exit_code, moment)
    found: JsonObject = {
        "containerStatuses": [
            _status(container, known.get(container.name), state, change, moment)
            for container in pod.spec.containers or ()
        ]
    }
    if pod.spec.init_containers:
        found["initContainerStatuses"] = _init_containers(
            pod.spec.init_containers, state, change, moment
        )
    return found


def _state(change: ContainerChange, exit_code: int, moment: Moment) -> JsonObject:
    match change.state:
        case "running":
            return {"running": {"startedAt": moment.timestamp}}
        case "terminated":
            ended = {"exitCode": exit_code, "reason": change.reason or "Completed"}
            return {"terminated": {**ended, "finishedAt": moment.timestamp}}
        case _:
            return {"waiting": {"reason": change.reason or "ContainerCreating"}}


def _status(
    container: Container,
    known: ContainerStatus | None,
    state: JsonObject,
    change: ContainerChange,
    moment: Moment,
) -> JsonObject:
    status: JsonObject = {
        "name": container.name,
        "image": container.image,
        "imageID": container.image,
        "ready": change.ready,
        "started": change.state == "running",
        "restartCount": known.restart_count if known else 0,
        "state": state,
    }
    began = (
        known.state.running.started_at if known and known.state and known.state.running else None
    )
    if change.state == "terminated" and began:
        status["state"] = {"terminated": {**state["terminated"], "startedAt": began}}
    if change.restarted:
        status["restartCount"] += 1
        last = {"exitCode": 0, "reason": "Completed", "finishedAt": moment.timestamp}
        status["lastState"] = {"terminated": last | ({"startedAt": began} if began else {})}
    return status


def _init_containers(
    containers: Iterable[Container], state: JsonObject, change: ContainerChange, moment: Moment
) -> list[JsonObject]:
    """Those that are to go on share the state of the others; the rest are through with it."""
    done = {"exitCode": 0, "reason": "Completed", "finishedAt": moment.timestamp}
    made = []
    for container in containers:
        stays = container.is_sidecar
        waits = change.state == "waiting"
        made.append(
            {
                "name": container.name,
                "image": container.image,
                "imageID": container.image,
                "ready": change.ready if stays else not waits,
                "started": stays and change.state == "running",
                "restartCount": 0,
                "state": state if stays or waits else {"terminated": done},
            }
        )
    return made
