"""What became of each pod in a recorded cluster: when it came, who gave it a node, when it went.

Contract: times are seconds since the beginning that the reader has chosen. A pod that came back
under its name is another pod. `pod` is as it was before it had a node, so that somebody else can
decide about it.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod, PodCondition
from podium.kubernetes.rules.nodes import is_bound_to_node
from podium.kubernetes.rules.timestamps import parse_time
from podium.offline.traces.recorded_annotations import DECISIONS

PREEMPTED: Final = "PreemptionByScheduler"


class PlacedBy(StrEnum):
    """Who gave a pod its node."""

    NOBODY = "nobody"
    SCHEDULER = "scheduler"
    CREATOR = "creator"
    """It had one when it appeared: a kubelet's own pod, or one with `nodeName` in its manifest."""


@dataclass(slots=True)
class RecordedPod:
    key: str
    pod: Pod
    last: Pod
    """As it was seen last."""
    arrived_s: float
    """When it could first be scheduled: when it came, or when its last scheduling gate went."""
    is_there_first: bool = False
    """Whether it had a node before the beginning."""
    placed_by: PlacedBy = PlacedBy.NOBODY
    bound_s: float | None = None
    bound_number: int = 0
    """Which binding of the recording it was: several have one time."""
    node: str = ""
    ended_s: float | None = None
    was_preempted: bool = False
    was_unschedulable: bool = False
    """Whether its scheduler has said that there was no node for it."""


class RecordedPods:
    """Builds the histories from what a trace says, in its order."""

    def __init__(self) -> None:
        self.pods: list[RecordedPod] = []
        self._there: dict[str, RecordedPod] = {}
        self._bindings = 0
        self.started: datetime | None = None
        """The wall time of the beginning, if somebody knows it."""

    def put(self, at: float, pod: Pod) -> None:
        """A pod is there, or has changed."""
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        held = self._there.get(key)
        if held is not None and held.pod.metadata.uid != pod.metadata.uid:
            self.remove(at, key)
            held = None
        if held is None:
            self._begin(at, key, pod)
        else:
            self._follow(held, at, pod)

    def remove(self, at: float, key: str) -> None:
        """A pod is gone, or has finished."""
        held = self._there.pop(key, None)
        if held is not None:
            held.ended_s = at

    def forget_past(self) -> None:
        """Make now the beginning: who has gone is not in the recording, who has a node is there."""
        self.pods = [each for each in self.pods if each.ended_s is None]
        for each in self.pods:
            each.arrived_s = 0.0
            if each.bound_s is not None:
                each.pod, each.is_there_first, each.bound_s = each.last, True, 0.0

    def _begin(self, at: float, key: str, pod: Pod) -> None:
        made = RecordedPod(key, _without_decision(pod), pod, at)
        self.pods.append(made)
        self._there[key] = made
        scheduled = _condition(pod, "PodScheduled")
        if pod.spec.node_name and (scheduled is None or is_bound_to_node(pod)):
            made.placed_by, made.bound_s, made.node = PlacedBy.CREATOR, at, pod.spec.node_name
        elif pod.spec.node_name:
            # Nobody watched when it came; its own clock readings say when that was.
            made.arrived_s = self._moment(pod.metadata.creation_timestamp, at)
            self._bind(made, self._moment(_since(scheduled), at), pod)
        self._note_conditions(made, pod)

    def _follow(self, held: RecordedPod, at: float, pod: Pod) -> None:
        held.last = pod
        if not pod.spec.node_name:
            if held.pod.spec.scheduling_gates and not pod.spec.scheduling_gates:
                held.arrived_s = at
            held.pod = _without_decision(pod)
        elif held.bound_s is None:
            self._bind(held, at, pod)
        self._note_conditions(held, pod)

    def _bind(self, held: RecordedPod, at: float, pod: Pod) -> None:
        held.placed_by, held.node = PlacedBy.SCHEDULER, pod.spec.node_name
        held.bound_s = max(at, held.arrived_s)
        self._bindings += 1
        held.bound_number = self._bindings

    def _note_conditions(self, held: RecordedPod, pod: Pod) -> None:
        scheduled, target = _condition(pod, "PodScheduled"), _condition(pod, "DisruptionTarget")
        if scheduled is not None and scheduled.status == "False":
            held.was_unschedulable = True
        if target is not None and target.reason == PREEMPTED:
            held.was_preempted = True

    def _moment(self, written: str | None, latest: float) -> float:
        """A time of the API as seconds since the beginning, never later than it was learnt."""
        if self.started is None or not written:
            return latest
        try:
            moment = (parse_time(written) - self.started).total_seconds()
        except (ValueError, TypeError):
            return latest
        return min(max(moment, 0.0), latest)


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((each for each in pod.status.conditions or () if each.type == kind), None)


def _since(condition: PodCondition | None) -> str | None:
    return None if condition is None else condition.last_transition_time


def _without_decision(pod: Pod) -> Pod:
    """The pod as it was before any scheduler had looked at it."""
    annotations = pod.metadata.annotations
    if annotations and not DECISIONS.isdisjoint(annotations):
        kept = {key: text for key, text in annotations.items() if key not in DECISIONS}
        pod = replace(pod, metadata=replace(pod.metadata, annotations=kept))
    status = replace(
        pod.status, phase="Pending", conditions=None, nominated_node_name="", start_time=None
    )
    return replace(pod, spec=replace(pod.spec, node_name=""), status=status)
