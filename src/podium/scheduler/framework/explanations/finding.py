"""What one plugin holds against some nodes, in the words that a cause is put together from."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from podium.golang.json_values import JsonValue
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Mask


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The pod without one of its demands, and the words for that ("with that toleration")."""

    words: str
    pod: Pod


@dataclass(frozen=True, slots=True)
class Finding:
    """`clause` reads on after "20 nodes match pool=gpu; " and, with a capital, on its own.

    `nodes` is a mask over the nodes of the examination. `detail` is about any single one of them,
    and `describe` says more about the one at a position, from what is known of it by then. `relax`
    makes the pod that would get past it, where a change of the pod can.
    """

    code: str
    subject: str
    nodes: Mask
    clause: str
    detail: str
    describe: Callable[[int], str] | None = None
    facts: dict[str, JsonValue] = field(default_factory=dict)
    relax: Callable[[], Relaxation] | None = None

    def on(self, position: int) -> str:
        """What there is to say about one node."""
        return self.detail if self.describe is None else self.describe(position)


class NodeRequirement(enum.IntEnum):
    """What a pod asks of nodes that no change of other pods can give it, in the order in which a
    person would look for it."""

    LABELS = enum.auto()
    FEATURES = enum.auto()
    SIZE = enum.auto()
    VOLUMES = enum.auto()
    ZONES = enum.auto()
    DEVICES = enum.auto()
    PODS = enum.auto()


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Where the pod itself wants to be: `plural` reads on after "20 nodes". `explain` says why none
    of some nodes serves it, where that is more than what is held against each of them."""

    plugin: str
    passes: Mask
    plural: str
    singular: str
    explain: Callable[[Mask], list[Finding]] | None = None


class Restated(NamedTuple):
    """Nodes on which a filter objects to the same thing as another one does."""

    plugin: str
    nodes: Mask
