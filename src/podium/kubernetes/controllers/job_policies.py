"""When failed pods of a job do not count, or end it early, and when some indexes are enough.

Rules are tried in order and the first that matches decides (`pkg/controller/job`,
pod_failure_policy.go and success_policy.go).

Indexes of an indexed job are written as text, in ascending order and with ranges:

>>> written_indexes({0, 2, 3, 4, 7})
'0,2-4,7'
>>> sorted(read_indexes('0,2-4,7'))
[0, 2, 3, 4, 7]
"""

import sys
from collections.abc import Collection, Iterator
from typing import NamedTuple

from podium.kubernetes.controllers.pods import ContainerStatus, Pod
from podium.kubernetes.kinds.meta import KubeStruct


class ExitCodes(KubeStruct, frozen=True):
    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()

    def match(self, exit_code: int) -> bool:
        if self.operator == "In":
            return exit_code in self.values
        return self.operator == "NotIn" and exit_code not in self.values


class PodConditionPattern(KubeStruct, frozen=True):
    type: str = ""
    status: str = "True"


class PodFailureRule(KubeStruct, frozen=True):
    action: str = ""
    on_exit_codes: ExitCodes | None = None
    on_pod_conditions: tuple[PodConditionPattern, ...] | None = None


class PodFailurePolicy(KubeStruct, frozen=True):
    rules: tuple[PodFailureRule, ...] = ()


class SuccessRule(KubeStruct, frozen=True):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(KubeStruct, frozen=True):
    rules: tuple[SuccessRule, ...] = ()


class FailureMatch(NamedTuple):
    """What is done about a failed pod: Ignore, FailIndex, Count or FailJob; empty: no rule."""

    action: str = ""
    message: str = ""
    """Of FailJob: why the job fails."""

    @property
    def counts(self) -> bool:
        return self.action != "Ignore"


def match_failure(policy: PodFailurePolicy | None, pod: Pod) -> FailureMatch:
    for place, rule in enumerate(policy.rules if policy is not None else ()):
        cause = _cause(rule, pod)
        if cause:
            ended = f"{cause} matching {rule.action} rule at index {place}"
            return FailureMatch(rule.action, ended if rule.action == "FailJob" else "")
    return FailureMatch()


def _cause(rule: PodFailureRule, pod: Pod) -> str:
    """What of the pod a rule is about; empty if nothing is."""
    whose = f"{pod.namespace}/{pod.name}"
    if rule.on_exit_codes is not None:
        status = pod.status
        both = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
        for each in both:
            code = _exit_code(each)
            named = rule.on_exit_codes.container_name
            if code and named in (None, each.name) and rule.on_exit_codes.match(code):
                return f"Container {each.name} for pod {whose} failed with exit code {code}"
        return ""
    for condition in pod.status.conditions or ():
        for pattern in rule.on_pod_conditions or ():
            if (condition.type, condition.status) == (pattern.type, pattern.status):
                return f"Pod {whose} has condition {condition.type}"
    return ""


def _exit_code(status: ContainerStatus) -> int:
    ended = status.state.terminated if status.state is not None else None
    return ended.exit_code if ended is not None else 0


def match_success(
    policy: SuccessPolicy | None, completions: int, succeeded: Collection[int]
) -> str | None:
    """Which rule says that enough indexes have succeeded; None if none does.

    >>> rule = SuccessRule(succeeded_indexes="0-2", succeeded_count=1)
    >>> match_success(SuccessPolicy((rule,)), 4, {2, 3})
    'Matched rules at index 0'
    """
    if not succeeded:
        return None
    for place, rule in enumerate(policy.rules if policy is not None else ()):
        if _suffice(rule, completions, succeeded):
            return f"Matched rules at index {place}"
    return None


def _suffice(rule: SuccessRule, completions: int, succeeded: Collection[int]) -> bool:
    count = rule.succeeded_count
    if rule.succeeded_indexes is None:
        return count is not None and len(succeeded) >= count
    required = read_indexes(rule.succeeded_indexes, completions)
    met = sum(index in required for index in succeeded)
    return bool(required) and (met == len(required) or (count is not None and met >= count))


def read_indexes(text: str, below: int = sys.maxsize) -> set[int]:
    """What cannot be read is passed over, and so is what is not below the limit."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found.update(range(int(first), min(int(last or first) + 1, below)))
    return found


def written_indexes(indexes: Collection[int]) -> str:
    parts: list[str] = []
    for first, last in _runs(sorted(indexes)):
        if first == last:
            parts.append(str(first))
        else:
            parts.append(f"{first}-{last}" if last > first + 1 else f"{first},{last}")
    return ",".join(parts)


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for place, index in enumerate(indexes):
        following = indexes[place + 1] if place + 1 < len(indexes) else None
        if following != index + 1:
            yield indexes[start], index
            start = place + 1
