"""The scheduler's log as those see it who write to it: messages with a verbosity, keys and values.

What a line looks like and where it goes is the driver's business
(`podium.commands.processes.kube_log`). Whoever would have to work for what it wants to say looks at
`verbosity` first.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from podium.scheduler.cluster.pod_info import PodInfo


class ObjectRef(NamedTuple):
    """An object in a log line: `default/web`, and in JSON its name and namespace."""

    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def pod_ref(pod: "PodInfo") -> ObjectRef:
    metadata = pod.pod.metadata
    return ObjectRef(metadata.name, metadata.namespace)


class Log(Protocol):
    """A line is written if the verbosity is at least its `v`; errors always are."""

    verbosity: int

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None:  # type: ignore[explicit-any]
        """A message with keys and values."""

    def error(self, message: str, **fields: Any) -> None:  # type: ignore[explicit-any]
        """A message with keys and values; the error itself is `err`."""

    def note(self, text: str, *, v: int = 0) -> None:
        """Plain text."""


class SilentLog:
    """Nobody listens."""

    verbosity = -1

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None: ...  # type: ignore[explicit-any]

    def error(self, message: str, **fields: Any) -> None: ...  # type: ignore[explicit-any]

    def note(self, text: str, *, v: int = 0) -> None: ...


SILENT: Final[Log] = SilentLog()
