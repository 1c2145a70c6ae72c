"""PreemptionToleration and CrossNodePreemption: pods that withstand it, and several nodes at once.

PreemptionToleration takes the place of DefaultPreemption and differs from it in whom it may take.
Two annotations of a PriorityClass protect its pods from preemptors whose priority is below a
minimum: for so many seconds after they were scheduled, or for good if the number is negative.
Annotations that do not parse protect nobody (`pkg/preemptiontoleration` of the collection).

Upstream, a pod that waits for a toleration to run out is tried again when something else happens;
here it is tried when that time has come.

CrossNodePreemption: make room by removing pods from several nodes. DefaultPreemption takes victims
from the node that it opens. That is of no use where pods on other nodes stand in the way, as with
anti-affinity or spreading over zones. Upstream tries every subset of all weaker pods, which ends
for a handful of pods only. Here the search is bounded: if no single node can be opened, the weakest
pods of all candidate nodes are taken away together, and for each of some nodes that then fit they
are given back one by one, the most important first, as long as the pod still fits. So victims are
few, though not always the fewest.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
import numpy as np

from podium.golang.arithmetic import INT64_MAX
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PriorityClass
from podium.kubernetes.rules.priorities import SYSTEM_PRIORITIES
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import (
    Code,
    Cycle,
    Diagnosis,
    Handle,
    Pod,
    PodInfo,
    Status,
    WatchedKind,
    error,
    tell_extensions,
)
from podium.plugin.preemption import (
    Candidate,
    DefaultPreemption,
    DefaultPreemptionArgs,
    VictimRules,
    args_problems,
    importance,
    rank,
    split_by_budget,
)

PREFIX: Final = "preemption-toleration.scheduling.x-k8s.io/"
MINIMUM_PREEMPTABLE_PRIORITY: Final = f"{PREFIX}minimum-preemptable-priority"
TOLERATION_SECONDS: Final = f"{PREFIX}toleration-seconds"
RECORDED_ANNOTATIONS: Final = {"read": (MINIMUM_PREEMPTABLE_PRIORITY, TOLERATION_SECONDS)}
"""For those who record clusters."""
CLASS_UNKNOWN: Final = 'priorityclass.scheduling.k8s.io "{}" not found'

_NEVER: Final = "0001-01-01T00:00:00Z"
_NUMBER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


class PreemptionTolerationArgs(DefaultPreemptionArgs, frozen=True):
    def __post_init__(self) -> None:
        problems = args_problems(self, "", {})
        if problems:
            raise ValueError(str(problems[0]))


class PreemptionTolerationPolicy:
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
        self._policies: dict[str, PreemptionTolerationPolicy | Status | None] = {}

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

    def _is_exempt(
        self, policy: PreemptionTolerationPolicy | None, victim: Pod, preemptor: PodInfo
    ) -> bool:
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

    def _policy_of(self, class_name: str) -> PreemptionTolerationPolicy | Status | None:
        """None for pods that nothing protects."""
        if class_name not in self._policies:
            self._policies[class_name] = self._read_policy(class_name)
        return self._policies[class_name]

    def _read_policy(self, class_name: str) -> PreemptionTolerationPolicy | Status | None:
        found = self._handle.get(PriorityClass, class_name) if class_name else None
        if found is None:
            is_known = not class_name or class_name in SYSTEM_PRIORITIES
            return None if is_known else error(CLASS_UNKNOWN.format(class_name))
        try:
            return PreemptionTolerationPolicy(found)
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


_Placed = tuple[PodInfo, int]


class CrossNodePreemptionArgs(PreemptionTolerationArgs, frozen=True):
    """The bounds are Podium's own: at most so many nodes are tried, and so many pods taken away."""

    max_candidate_nodes: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    max_potential_victims: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 200


class CrossNodePreemption(DefaultPreemption):
    name = "CrossNodePreemption"
    Args = CrossNodePreemptionArgs
    args: CrossNodePreemptionArgs

    def find_candidates(
        self, cycle: Cycle, diagnosis: Diagnosis, rules: VictimRules
    ) -> tuple[list[Candidate], Diagnosis]:
        found, nested = super().find_candidates(cycle, diagnosis, rules)
        if not found:
            rows = diagnosis.rows_with(Code.UNSCHEDULABLE, cycle.cluster.node_order())
            found = self._across_nodes(cycle, rows, rules)
        return found, nested

    def _across_nodes(
        self, cycle: Cycle, rows: Sequence[int], rules: VictimRules
    ) -> list[Candidate]:
        weaker = [
            (pod, row)
            for row in rows
            for pod in cycle.usage.pods(row)
            if rules.may_leave(cycle, pod) is True
        ]
        weaker.sort(key=lambda placed: importance(placed[0]), reverse=True)
        weaker = weaker[: self.args.max_potential_victims]
        if not weaker:
            return []
        emptied = _Trial(self, cycle)
        for placed in weaker:
            emptied.take(placed)
        fitting = emptied.find_fitting(rows)[: self.args.max_candidate_nodes]
        return [self._candidate(cycle, row, weaker) for row in fitting]

    def _candidate(self, cycle: Cycle, row: int, weaker: Sequence[_Placed]) -> Candidate:
        """Who has to go so that one node fits; that it does without all of them is known."""
        rows = {pod.uid: at for pod, at in weaker}
        budgets = list(cycle.cluster.catalog.all(PodDisruptionBudget))
        by_importance = sorted((pod for pod, _ in weaker), key=importance)
        protected, others = split_by_budget(by_importance, budgets)
        trial = _Trial(self, cycle)
        for placed in weaker:
            trial.take(placed)
        victims: list[PodInfo] = []
        violations = 0
        for number, pod in enumerate([*protected, *others]):
            placed = (pod, rows[pod.uid])
            trial.give_back(placed)
            if not trial.find_fitting([row]):
                trial.take(placed)
                victims.append(pod)
                violations += number < len(protected)
        victims.sort(key=importance)
        name = cycle.nodes.names[row]
        return Candidate(name, tuple(victims), violations, rank(name, victims, violations))


class _Trial:
    """The cluster without some pods, as the filters see it."""

    def __init__(self, plugin: CrossNodePreemption, cycle: Cycle) -> None:
        self._profile = plugin.handle.profile
        self._cycle = cycle.fork()

    def take(self, placed: _Placed) -> None:
        pod, row = placed
        self._cycle.usage.remove(row, pod)
        tell_extensions(self._profile.extensions, self._cycle, pod, row, added=False)

    def give_back(self, placed: _Placed) -> None:
        pod, row = placed
        self._cycle.usage.add(row, pod)
        tell_extensions(self._profile.extensions, self._cycle, pod, row, added=True)

    def find_fitting(self, rows: Sequence[int]) -> list[int]:
        result = self._profile.filter_rows(self._cycle, np.array(rows, dtype=np.intp))
        return [row for row, fits in zip(rows, result.mask_passed().tolist(), strict=True) if fits]
