"""What extension points answer: a code with the reasons for it, or a value that says more.

The codes, their numbers and their names are kube-scheduler's, because users meet them in messages,
metrics and recorded decisions. Success is the absence of a status (None).

What points answer with that want to say more than a status can. Each refuses what it cannot hold
where it is made, which is where a plugin's author has to look.
"""

import enum
from dataclasses import dataclass, replace
from math import inf

from msgspec import Struct

from podium.scheduler.cluster.pod_info import PodInfo


class Code(enum.IntEnum):
    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """The name users know, such as `UnschedulableAndUnresolvable`."""
        return _LABELS[self]

    @property
    def rejected(self) -> bool:
        return self in _REJECTED


_LABELS = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}
_REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING})


def check_reasons(reasons: object) -> None:
    """Raises TypeError for what is no tuple of texts."""
    if type(reasons) is tuple and all(isinstance(reason, str) for reason in reasons):
        return
    raise TypeError(f"reasons are texts, not {reasons!r:.60}")


@dataclass(frozen=True, slots=True)
class Status:
    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    def __post_init__(self) -> None:
        """Raises TypeError where it is made, which is where a plugin's author has to look."""
        if not isinstance(self.code, Code):
            raise TypeError(f"a status has a Code, not {self.code!r:.60}")
        check_reasons(self.reasons)

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> "Status":
        """The same status with the plugin that gave it."""
        return self if self.plugin else replace(self, plugin=plugin)


def unschedulable(*reasons: str) -> Status:
    """Rejected; removing pods may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Rejected; preemption cannot help."""
    return Status(Code.UNRESOLVABLE, reasons)


def error(text: str) -> Status:
    """Something broke; the attempt ends and is retried."""
    return Status(Code.ERROR, (text,))


SKIP = Status(Code.SKIP)


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What a PostFilter plugin achieved.

    `nominated_node` None leaves the pod's nomination as it is, an empty string clears it. `plugin`
    is set by the framework.
    """

    code: Code
    reasons: tuple[str, ...] = ()
    nominated_node: str | None = None
    victims: tuple[PodInfo, ...] = ()
    plugin: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.code, Code):
            raise TypeError(f"a PostFilterResult has a Code, not {self.code!r:.60}")
        check_reasons(self.reasons)
        if not (self.nominated_node is None or isinstance(self.nominated_node, str)):
            raise TypeError(f"a node is nominated by name, not {self.nominated_node!r:.60}")
        if not all(isinstance(victim, PodInfo) for victim in self.victims):
            raise TypeError(f"victims are PodInfos, not {self.victims!r:.60}")

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)


@dataclass(frozen=True, slots=True)
class PermitResult:
    """Whether a pod may go on to its node. With Code.WAIT it is held for `timeout_s` at most."""

    status: Status
    timeout_s: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.status, Status):
            raise TypeError(f"a PermitResult has a Status, not {self.status!r:.60}")
        if not isinstance(self.timeout_s, int | float) or not 0 <= self.timeout_s < inf:
            raise TypeError(f"a timeout is a number of seconds, not {self.timeout_s!r:.60}")


class PreFlight(Struct, frozen=True):
    """Whether PreBind has work for this pod, and may do it beside its neighbours."""

    status: Status | None = None
    parallel: bool = False

    def __post_init__(self) -> None:
        if not (self.status is None or isinstance(self.status, Status)):
            raise TypeError(f"a PreFlight has a Status, not {self.status!r:.60}")
