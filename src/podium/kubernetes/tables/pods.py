"""What `kubectl get pods` shows: how many containers are ready, and one word for how it goes.

The word is the phase unless something says it better: the reason of a waiting or ended container,
the progress of init containers, a gate, a deletion. Later containers are looked at first, so the
first container with something to say has the last word.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    age,
    age_of,
    columns_of,
    is_terminating,
    name_of,
    seconds_or_none,
    spec_of,
    status_of,
)

_ENDED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


class _Sight:
    """What the containers of one pod add up to."""

    def __init__(self, pod: JsonObject) -> None:
        spec, status = spec_of(pod), status_of(pod)
        self.sidecars = {
            container.get("name")
            for container in spec.get("initContainers") or ()
            if container.get("restartPolicy") == "Always"
        }
        self.total = len(spec.get("containers") or ()) + len(self.sidecars)
        self.ready = 0
        self.restarts = 0
        self.last_restart = ""
        self.reason = status.get("reason") or status.get("phase") or ""
        conditions: list[JsonObject] = status.get("conditions") or []
        if any(
            each.get("type") == "PodScheduled" and each.get("reason") == "SchedulingGated"
            for each in conditions
        ):
            self.reason = "SchedulingGated"
        first = status.get("initContainerStatuses") or []
        waits = self._look_at_first(first, len(spec.get("initContainers") or ()))
        if not waits or _holds(conditions, "Initialized"):
            self._forget_finished(first)
            self._look_at_containers(status.get("containerStatuses") or [], conditions)

    def _look_at_first(self, statuses: list[JsonObject], count: int) -> bool:
        """Whether the pod is still at its init containers."""
        for index, container in enumerate(statuses):
            self._count_restarts(container)
            state = container.get("state") or {}
            ended, waiting = state.get("terminated"), state.get("waiting")
            if ended is not None and not ended.get("exitCode"):
                continue
            if container.get("name") in self.sidecars and container.get("started"):
                self.ready += bool(container.get("ready"))
                continue
            if ended is not None:
                self.reason = f"Init:{_end_reason(ended)}"
            elif waiting and waiting.get("reason") not in (None, "", "PodInitializing"):
                self.reason = f"Init:{waiting['reason']}"
            else:
                self.reason = f"Init:{index}/{count}"
            return True
        return False

    def _forget_finished(self, statuses: list[JsonObject]) -> None:
        """Of the init containers only those count that stay."""
        self.restarts, self.last_restart = 0, ""
        for container in statuses:
            if container.get("name") in self.sidecars:
                self._count_restarts(container)

    def _look_at_containers(self, statuses: list[JsonObject], conditions: list[JsonObject]) -> None:
        running, failure = False, ""
        for container in reversed(statuses):
            self._count_restarts(container)
            state = container.get("state") or {}
            waiting, ended = state.get("waiting"), state.get("terminated")
            if waiting and waiting.get("reason"):
                self.reason = waiting["reason"]
            elif ended is not None:
                self.reason = _end_reason(ended)
                if ended.get("exitCode"):
                    failure = self.reason
            elif container.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed":
            if running and _holds(conditions, "Ready"):
                self.reason = "Running"
            elif failure:
                self.reason = failure
            elif running:
                self.reason = "NotReady"

    def _count_restarts(self, container: JsonObject) -> None:
        self.restarts += container.get("restartCount") or 0
        ended = (container.get("lastState") or {}).get("terminated") or {}
        finished = ended.get("finishedAt") or ""
        if finished and _is_later(finished, self.last_restart):
            self.last_restart = finished


def _is_later(one: str, other: str) -> bool:
    return not other or (seconds_or_none(one) or 0) > (seconds_or_none(other) or 0)


def _end_reason(ended: JsonObject) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode') or 0}"


def _holds(conditions: list[JsonObject], kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in conditions)


def _cells(pod: JsonObject, now: float) -> Cells:
    spec, status = spec_of(pod), status_of(pod)
    sight = _Sight(pod)
    reason = sight.reason
    if is_terminating(pod):
        if status.get("reason") == "NodeLost":
            reason = "Unknown"
        elif status.get("phase") not in _ENDED:
            reason = "Terminating"
    restarts = str(sight.restarts)
    if sight.restarts and sight.last_restart:
        restarts = f"{restarts} ({age(sight.last_restart, now)} ago)"
    addresses = status.get("podIPs") or ()
    return [
        name_of(pod),
        f"{sight.ready}/{sight.total}",
        reason,
        restarts,
        age_of(pod, now),
        (addresses[0].get("ip") if addresses else "") or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(spec, status),
    ]


def _readiness_gates(spec: JsonObject, status: JsonObject) -> str:
    gates = spec.get("readinessGates") or ()
    if not gates:
        return NONE
    known = {}
    for condition in reversed(status.get("conditions") or ()):
        known[condition.get("type")] = condition.get("status")
    open_gates = sum(known.get(gate.get("conditionType")) == "True" for gate in gates)
    return f"{open_gates}/{len(gates)}"


def _row_conditions(pod: JsonObject) -> list[JsonObject]:
    phase = status_of(pod).get("phase")
    message = _ENDED.get(phase or "")
    if message is None:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


POD: Final = Printer(
    columns_of(
        "Name",
        "Ready",
        "Status",
        "Restarts",
        "Age",
        wide=("IP", "Node", "Nominated Node", "Readiness Gates"),
    ),
    _cells,
    _row_conditions,
)
