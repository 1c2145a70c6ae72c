"""A placement problem in plain numbers: kinds of pods, nodes, what pods ask of each other.

Pods of a kind are alike in everything that counts. Nodes and kinds are named by their position.
What is said here of one moment holds of the final placement: whoever states a problem leaves out
what depends on the order in which pods come, or says what is lost by that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Domain = tuple[int, ...]
"""Nodes that have one value of a topology key."""


@dataclass(frozen=True, slots=True)
class EqualPodDemand:
    """So many pods. `demands` are what must be free of each resource, `fits` the nodes where
    nothing but other pods of the problem can be in the way. `held` are pods that have a node
    already and may stay there: they count among the others, and have to be somewhere."""

    count: int
    demands: Mapping[str, int]
    fits: frozenset[int]
    priority: int = 0
    held: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_waiting(self) -> bool:
        return not self.held


@dataclass(frozen=True, slots=True)
class Exclusion:
    """No pod of `carriers` shares a domain with another pod of `meant`."""

    carriers: tuple[int, ...]
    meant: tuple[int, ...]
    domains: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class Attraction:
    """Pods of `carriers` go only where pods of `matched` are. `lacking` are the domains where none
    is yet, for each topology key; with `begins` the first carrier may go anywhere."""

    carriers: tuple[int, ...]
    matched: tuple[int, ...]
    lacking: tuple[tuple[Domain, ...], ...]
    begins: bool


@dataclass(frozen=True, slots=True)
class SpreadDomain:
    """`count` pods count there without those of the problem; `counted` are the nodes on which more
    of them would, `is_entry` says whether the emptiest domain may be this one."""

    nodes: Domain
    counted: Domain
    count: int
    is_entry: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """Carriers go only to domains that are at most `max_skew` ahead of the emptiest. `matched` are
    the kinds that count; `needs_zero` has the emptiest count as 0."""

    carriers: tuple[int, ...]
    matched: tuple[int, ...]
    max_skew: int
    domains: tuple[SpreadDomain, ...]
    needs_zero: bool


@dataclass(frozen=True, slots=True)
class PlacementProblem:
    nodes: tuple[str, ...]
    kinds: tuple[EqualPodDemand, ...]
    free: Sequence[Mapping[str, int]]
    """What each node has left of each resource, without the pods of the problem; a resource that
    is not there has no limit."""
    exclusions: tuple[Exclusion, ...] = ()
    attractions: tuple[Attraction, ...] = ()
    spreads: tuple[Spread, ...] = ()


Assignment = dict[tuple[int, int], int]
"""(kind, node) -> pods."""
