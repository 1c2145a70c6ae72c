"""The class that people who write an extender inherit.

    class QuietHours(Extender):
        def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
            return {node.metadata.name: "asleep" for node in nodes if is_asleep(node)}

Write the verbs you need, as plain or as async methods, and serve them with
`podium extender serve`. What goes in and comes out is typed; the wire is the service's business.
Plain methods run in threads, several at a time if the scheduler asks so.
"""

from collections.abc import Awaitable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

T = TypeVar("T")

VERBS: Final = ("filter", "prioritize", "preempt", "bind")


class ExtenderError(PodiumError):
    """Raise it to refuse a whole call: the text is what users read at the pod."""


class Unresolvable(str):
    """A reason that holds whatever is evicted: preemption will leave such a node alone."""

    __slots__ = ()


class Nodes:
    """The nodes of a call: objects to iterate over, or, if that is all that was sent, names."""

    __slots__ = ("_objects", "names")

    names: tuple[str, ...]

    def __init__(self, names: Sequence[str], objects: Sequence[Node] | None = None) -> None:
        self.names = tuple(names)
        self._objects = None if objects is None else tuple(objects)

    @classmethod
    def of(cls, objects: Sequence[Node]) -> "Nodes":
        return cls([node.metadata.name for node in objects], objects)

    @property
    def names_only(self) -> bool:
        """Whether the scheduler is configured with `nodeCacheCapable: true`."""
        return self._objects is None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Node]:
        return iter(_sent(self._objects, "node names", "nodes.names"))


class Victims:
    """Pods of one node that would have to go, most important first."""

    __slots__ = ("_pods", "uids", "violations")

    uids: tuple[str, ...]
    violations: int

    def __init__(
        self, uids: Sequence[str], violations: int = 0, pods: Sequence[Pod] | None = None
    ) -> None:
        """`violations` counts the disruption budgets that would be broken."""
        self.uids = tuple(uids)
        self.violations = violations
        self._pods = None if pods is None else tuple(pods)

    @property
    def pods(self) -> tuple[Pod, ...]:
        return _sent(self._pods, "UIDs of pods", "victims.uids")


class Extender:
    """Only verbs that a subclass writes are served."""

    def filter(self, pod: Pod, nodes: Nodes) -> "Rejections | Awaitable[Rejections]":
        """The nodes that the pod may not run on, each with the reason; all others pass.

        Make the reason `Unresolvable` if evicting pods from the node would not help.
        """
        raise NotImplementedError

    def prioritize(self, pod: Pod, nodes: Nodes) -> "Scores | Awaitable[Scores]":
        """How good nodes are, 0 to 10 by convention; those left out get 0.

        The scheduler multiplies by the extender's weight, and by 10.
        """
        raise NotImplementedError

    def preempt(
        self, pod: Pod, victims: Mapping[str, Victims]
    ) -> "Mapping[str, Victims] | Awaitable[Mapping[str, Victims]]":
        """The nodes that may be cleared, with their victims: leave out nodes, or change victims to
        other pods of the same node."""
        raise NotImplementedError

    def bind(
        self, pod_name: str, pod_namespace: str, pod_uid: str, node: str
    ) -> "Awaitable[None] | None":
        """Create the Binding; the scheduler will not. Raise if it cannot be done."""
        raise NotImplementedError

    def ready(self) -> bool:
        """Whether calls can be answered now; `/readyz` says so."""
        return True


Rejections = Mapping[str, str]
Scores = Mapping[str, int]


def verbs_of(extender: Extender) -> tuple[str, ...]:
    """The verbs that an extender's class has written."""
    return tuple(v for v in VERBS if getattr(type(extender), v) is not getattr(Extender, v))


def _sent(objects: tuple[T, ...] | None, what: str, instead: str) -> tuple[T, ...]:
    if objects is None:
        raise ExtenderError(
            f"the scheduler sent {what} only (nodeCacheCapable: true); use {instead}, or set "
            "nodeCacheCapable to false in its configuration"
        )
    return objects
