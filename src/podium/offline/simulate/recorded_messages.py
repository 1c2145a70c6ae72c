"""What a cluster's own scheduler said of a pending pod, beside what is said here.

A pod that waits in a dump carries the message of its last attempt. Where the simulation comes to
another, somebody should look: the input may be incomplete, the configuration another one, the
cluster may have changed since, or Podium may be wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod
from podium.offline.simulate.report import PodOutcome, PodResult

_ATTEMPTED = ("Unschedulable", "SchedulerError")
_DECIDED = (PodOutcome.PLACED, PodOutcome.UNSCHEDULABLE, PodOutcome.PREEMPTED, PodOutcome.ERROR)


@dataclass(frozen=True, slots=True)
class MessageDifference:
    """`node` is where the pod goes here, if it goes anywhere."""

    key: str
    recorded: str
    computed: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class RecordedMessages:
    """How many pods carried a message of the cluster's, and whose is another one here."""

    compared: int = 0
    differences: tuple[MessageDifference, ...] = ()

    def of(self, key: str) -> MessageDifference | None:
        return next((each for each in self.differences if each.key == key), None)


def recorded_message(pod: Pod) -> str:
    """Why the cluster's scheduler found no node; empty if it has not said."""
    for condition in pod.status.conditions or ():
        if condition.type == POD_SCHEDULED and condition.status == "False":
            return (condition.message or "") if condition.reason in _ATTEMPTED else ""
    return ""


def compare_messages(results: Iterable[PodResult]) -> RecordedMessages:
    compared = 0
    differences: list[MessageDifference] = []
    for result in results:
        recorded = recorded_message(result.pod)
        if not recorded or result.outcome not in _DECIDED:
            continue
        compared += 1
        if result.placed or result.message != recorded:
            different = MessageDifference(result.key, recorded, result.message, result.node)
            differences.append(different)
    return RecordedMessages(compared, tuple(differences))
