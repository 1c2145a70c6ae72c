"""What an extension point answers: a code and the reasons for it.

The codes, their numbers and their names are kube-scheduler's, because users meet them in messages,
metrics and recorded decisions. Success is the absence of a status (None).
"""

import enum
from dataclasses import dataclass, replace


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
