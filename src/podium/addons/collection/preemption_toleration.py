"""PreemptionToleration: pods of some priority classes withstand preemption, a while or for good.

It takes the place of DefaultPreemption and differs from it in whom it may take. Two annotations of
a PriorityClass protect its pods from preemptors whose priority is below a minimum: for so many
seconds after they were scheduled, or for good if the number is negative. Annotations that do not
parse protect nobody (`pkg/preemptiontoleration` of the collection).

Upstream, a pod that waits for a toleration to run out is tried again when something else happens;
here it is tried when that time has come.
"""

import re
from typing import Final

from podium.golang.arithmetic import INT64_MAX
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.kubernetes.rules.priorities import SYSTEM_PRIORITIES
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import Cycle, Handle, Pod, Status, error
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.args_validation import args_problems
from podium.scheduler.config.plugin_args import DefaultPreemptionArgs
from podium.scheduler.framework.events import WatchedKind
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.default_preemption.dry_run import VictimRules

PREFIX: Final = "preemption-toleration.scheduling.x-k8s.io/"
MINIMUM_PREEMPTABLE_PRIORITY: Final = f"{PREFIX}minimum-preemptable-priority"
TOLERATION_SECONDS: Final = f"{PREFIX}toleration-seconds"
CLASS_UNKNOWN: Final = 'priorityclass.scheduling.k8s.io "{}" not found'

_NEVER: Final = "0001-01-01T00:00:00Z"
_NUMBER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


class PreemptionTolerationArgs(DefaultPreemptionArgs, frozen=True):
    def __post_init__(self) -> None:
        problems = args_problems(self, "", {})
        if problems:
            raise ValueError(str(problems[0]))


class Policy:
    """What a PriorityClass says of the preemption of its pods. ValueError if it cannot be read."""

    def __init__(self, priority_class: PriorityClass) -> None:
        written = priority_class.metadata.annotations or {}
        minimum = written.get(MINIMUM_PREEMPTABLE_PRIORITY)
        self.minimum_priority = (
            priority_class.value + 1 if minimum is None else _parse(minimum, 2**31 - 1)
        )
        self.toleration_s = _parse(written.get(TOLERATION_SECONDS, "0"), INT64_MAX)


class PreemptionToleration(DefaultPreemption):
    name = "PreemptionToleration"
    Args = PreemptionTolerationArgs
    watched_kinds = (WatchedKind(PriorityClass, "priorityclasses", namespaced=False),)

    def victim_rules(self, cycle: Cycle) -> VictimRules:
        return _ByToleration(self.handle, cycle)


class _ByToleration(VictimRules):
    stable = False

    def __init__(self, handle: Handle, cycle: Cycle) -> None:
        self._handle = handle
        self._cycle = cycle
        self._now = handle.clock()
        self._policies: dict[str, Policy | Status | None] = {}

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool | Status:
        if pod.priority >= trial.pod.priority:
            return False
        policy = self._policy_of(pod.pod.spec.priority_class_name)
        if isinstance(policy, Status):
            return policy
        return not self._is_exempt(policy, pod.pod, trial.pod)

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        # upstream: whoever is leaving counts, not only those that were preempted
        return pod.priority < cycle.pod.priority

    def _is_exempt(self, policy: Policy | None, victim: Pod, preemptor: PodInfo) -> bool:
        if policy is None or preemptor.priority >= policy.minimum_priority:
            return False
        since = _scheduled_at(victim)
        if policy.toleration_s < 0 or since is None:
            return True
        end = since + policy.toleration_s
        if end > self._now:
            self._try_again_at(end)
        return end > self._now

    def _try_again_at(self, end: float) -> None:
        """The preemptor is worth another attempt when the first toleration has run out."""
        retry_at = self._cycle.retry_at
        self._cycle.retry_at = end if retry_at is None else min(retry_at, end)

    def _policy_of(self, class_name: str) -> Policy | Status | None:
        """None for pods that nothing protects."""
        if class_name not in self._policies:
            self._policies[class_name] = self._read_policy(class_name)
        return self._policies[class_name]

    def _read_policy(self, class_name: str) -> Policy | Status | None:
        found = self._handle.get(PriorityClass, class_name) if class_name else None
        if found is None:
            is_known = not class_name or class_name in SYSTEM_PRIORITIES
            return None if is_known else error(CLASS_UNKNOWN.format(class_name))
        try:
            return Policy(found)
        except ValueError:
            return None


def _scheduled_at(pod: Pod) -> float | None:
    """Seconds since 1970; None if nobody says that the pod is scheduled."""
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled":
            since = condition.last_transition_time
            return seconds_of(since or _NEVER) if condition.status == "True" else None
    return None


def _parse(text: str, largest: int) -> int:
    """A whole number as Go's ParseInt reads it in base 10."""
    if not _NUMBER.fullmatch(text) or not -largest - 1 <= int(text) <= largest:
        raise ValueError(f"{text!r} is no number")
    return int(text)
