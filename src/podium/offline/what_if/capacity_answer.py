"""What there is to say about capacity: plain values that tables, JSON and tests read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from podium.offline.what_if.pod_templates import PodTemplate


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """Copies that one node takes, and why it takes no more."""

    node: str
    fits: int
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """How many copies of one template fit. `stopped_by` is the resource that reached the limit of
    utilisation, "" if nodes ran out first; `message` is what the next copy would be told."""

    template: PodTemplate
    fits: int
    message: str = ""
    stopped_by: str = ""
    reasons: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[NodeRoom, ...] = ()


@dataclass(frozen=True, slots=True)
class Mix:
    """Nodes to add by shape, with which `fits` pods fit. `price` is None where shapes have none;
    `proven` says that no mix is cheaper."""

    nodes: Mapping[str, int]
    fits: int
    price: Fraction | None
    proven: bool


@dataclass(frozen=True, slots=True)
class Purchase:
    """What to add, of which shapes; None if no mix of them was found that makes enough room."""

    mix: Mix | None
    shapes: tuple[str, ...]


@dataclass(slots=True)
class CapacityAnswer:
    """`alone` and `together` have one entry a template; `together` is empty where there is only
    one."""

    alone: list[Room]
    together: list[Room]
    wanted: int | None = None
    purchase: Purchase | None = None

    @property
    def is_enough(self) -> bool:
        return all(room.fits >= (self.wanted or 1) for room in self.alone)
