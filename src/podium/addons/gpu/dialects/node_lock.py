"""Locks on nodes: one pod at a time is being bound, so that an agent cannot mistake it for another.

The lock is an annotation of the node, set before the pod is bound and removed by the agent when it
has served the pod. Pure: a node, a pod and the time go in; what to write comes out.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final

from msgspec import Struct

from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import pod_group_name
from podium.kubernetes.rules.timestamps import seconds_of, time_text

_NANOSECONDS: Final = 1_000_000_000
_MAX_VALUE: Final = 1024
"""Longer than a moment with the longest namespace and name."""
_MAX_PAUSE_S: Final = 1.0
"""Between the tries of those who have patience."""


class LockFormat(Enum):
    NANOSECONDS = "nanoseconds"  # 1800000000000000000: nobody knows whose it is
    OWNED = "owned"  # 2027-01-15T08:00:00Z,namespace,pod


class NodeLockRule(Struct, frozen=True):
    """Which annotation is the lock, and how it is waited for: `tries` times, at first `backoff_s`
    apart, each time `backoff_factor` longer; members of gangs wait on."""

    key: str
    format: LockFormat
    expires_s: float = 300.0
    tries: int = 5
    backoff_s: float = 0.1
    backoff_factor: float = 1.0


class LockHolder(Struct, frozen=True):
    """Namespace and name are empty where the lock does not say them."""

    locked_at: float
    namespace: str = ""
    name: str = ""

    def is_pod(self, metadata: ObjectMeta) -> bool:
        return bool(self.name) and (self.namespace, self.name) == metadata.key


class LockGranted(Struct, frozen=True):
    """`value` is to be written; None if the pod has the lock already."""

    value: str | None


class LockHeld(Struct, frozen=True):
    """Somebody else is being bound. `message` is what a refused binding says."""

    holder: LockHolder
    message: str


def read_lock(rule: NodeLockRule, node: Node) -> LockHolder | None:
    """Who holds the lock; None if nobody does, or if it cannot be read."""
    text = node.metadata.annotation(rule.key)
    if not text or len(text) > _MAX_VALUE:
        return None
    if rule.format is LockFormat.NANOSECONDS:
        number = parse_int(text)
        return None if number is None else LockHolder(number / _NANOSECONDS)
    at, *owner = text.split(",")
    if len(owner) not in (0, 2):
        return None
    try:
        return LockHolder(seconds_of(at), *owner)
    except (ValueError, OverflowError):
        return None


def write_lock(rule: NodeLockRule, pod: Pod, now: float) -> str:
    """The lock's value when this pod takes it."""
    if rule.format is LockFormat.NANOSECONDS:
        return str(round(now * _NANOSECONDS))
    return f"{time_text(now)},{pod.namespace},{pod.name}"


def acquire_lock(
    rule: NodeLockRule,
    node: Node,
    pod: Pod,
    now: float,
    pod_exists: Callable[[str, str], bool],
) -> LockGranted | LockHeld:
    """Whether the pod may be bound now. A lock is free when it expired, when its owner is gone, or
    when it cannot be read: nobody could ever tell that it expired."""
    holder = read_lock(rule, node)
    if holder is None or abs(now - holder.locked_at) > rule.expires_s:
        return LockGranted(write_lock(rule, pod, now))
    if holder.is_pod(pod.metadata):
        return LockGranted(None)
    if holder.name and not pod_exists(holder.namespace, holder.name):
        return LockGranted(write_lock(rule, pod, now))
    minutes = f"{rule.expires_s / 60:g} minutes"
    return LockHeld(holder, f"node {node.name} has been locked within {minutes}")


def lock_pauses(rule: NodeLockRule, patience_s: float = 0.0) -> Iterator[float]:
    """How long to wait before each further try."""
    pause_s, waited_s, tries = rule.backoff_s, 0.0, 1
    while tries < rule.tries or waited_s < patience_s:
        yield pause_s
        waited_s += pause_s
        tries += 1
        factor = rule.backoff_factor if tries < rule.tries else 2.0
        pause_s = pause_s * factor if tries < rule.tries else min(pause_s * factor, _MAX_PAUSE_S)


def lock_patience(rule: NodeLockRule, pod: Pod) -> float:
    """For how long a pod waits for the lock at least. Members of a gang are bound at the same time,
    several of them to one node: whoever gave up would leave a part of its gang there, with cards
    that other gangs wait for. So each of them waits as long as a lock can last."""
    in_gang = bool(pod_group_name(pod.metadata.labels)) or pod.spec.scheduling_group is not None
    return rule.expires_s if in_gang else 0.0


def may_release_lock(rule: NodeLockRule, node: Node, pod: Pod) -> bool:
    """Whether the lock is there and this pod's to remove: one with an owner is only the owner's."""
    if not node.metadata.annotation(rule.key):
        return False
    holder = read_lock(rule, node)
    return holder is None or not holder.name or holder.is_pod(pod.metadata)
