"""What the engine asks its driver to do.

The engine writes nothing itself. Each request is a value that says exactly what has to reach the
API server; a live driver sends it, the simulator applies it to an in-memory cluster.
"""

from msgspec import Struct

from podium.kubernetes.kinds.pod_groups import PodGroup, PodGroupCondition
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding

NOTE_LIMIT = 1024
_CUT = " ..."


def shorten_note(note: str) -> str:
    """A note that fits an event: at most 1024 bytes, cut with dots."""
    data = note.encode()
    if len(data) <= NOTE_LIMIT:
        return note
    return data[: NOTE_LIMIT - len(_CUT)].decode(errors="ignore") + _CUT


class Event(Struct, frozen=True):
    """An event about a pod; `related` is the preemptor of a victim."""

    pod: PodInfo
    type: str
    reason: str
    action: str
    note: str
    related: PodInfo | PodGroup | None = None


class PatchStatus(Struct, frozen=True):
    """Set the PodScheduled condition to False and, unless None, the nominated node. A nomination
    that was `announced` before may not show in the pod yet."""

    pod: PodInfo
    reason: str
    message: str
    nominated_node: str | None = None
    announced: bool = False


class Nominate(Struct, frozen=True):
    """Say where a pod is about to be bound, before a binding that takes its time.

    Others (a cluster autoscaler, say) read it; if it fails, the binding goes on all the same.
    """

    pod: PodInfo
    node_name: str


class Evict(Struct, frozen=True):
    """Mark a victim with the DisruptionTarget condition, then delete it."""

    victim: PodInfo
    message: str


class Preempt(Struct, frozen=True):
    """Make room for a pod: clear weaker nominations, then evict, the last victim last.

    Each eviction and the end of it all are reported; after a failed one the last is left alone.
    """

    preemptor: PodInfo
    node_name: str
    clear: tuple[PodInfo, ...]
    evict: tuple[Evict, ...]


class GroupPreemptor(Struct, frozen=True):
    """A pod group that makes room for its members; has what a pod has that preempts."""

    group: PodGroup
    members: tuple[PodInfo, ...]

    @property
    def uid(self) -> str:
        return self.group.uid

    @property
    def key(self) -> str:
        return self.group.key

    @property
    def priority(self) -> int:
        return self.group.priority


Preemptor = PodInfo | GroupPreemptor


class PreemptForGroup(Struct, frozen=True):
    """The same for a pod group, whose victims may be on any node."""

    preemptor: GroupPreemptor
    node_name: str
    clear: tuple[PodInfo, ...]
    evict: tuple[Evict, ...]


class PatchPodGroupStatus(Struct, frozen=True):
    """Set a condition of a PodGroup; the time of its last transition is the driver's to fill in."""

    group: PodGroup
    condition: PodGroupCondition


class PluginWrite(Struct, frozen=True):
    """A write that a plugin asks for where it must not wait: after a failed attempt, or when a node
    is given back.

    `write` is a `DeferredWrite`; drivers pass over what else a plugin may have left. Nobody waits
    for the outcome: if it fails, the next attempt finds things as they are.
    """

    pod: PodInfo
    write: object


class Bind(Struct, frozen=True):
    """Run a binding cycle and report how it ended."""

    binding: Binding


Request = (
    Event
    | PatchStatus
    | Nominate
    | Preempt
    | PreemptForGroup
    | PatchPodGroupStatus
    | PluginWrite
    | Bind
)
