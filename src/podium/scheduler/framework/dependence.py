"""What plugins promise of their answers, so that others may reckon with them.

`Dependence` says what a plugin's vector depends on, so that the framework may remember it, and
`PlacementLimits` what a filter holds a placement of many pods to, in numbers.

`podium optimum` and `podium rebalance` look for placements without trying them one by one. A filter
whose answer moves with the pods that are placed states here what moves it; every placement that the
scheduler can reach keeps to what is stated, though not all that keeps to it can be reached.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from podium.kubernetes.rules.labels import Selector
from podium.scheduler.cluster.growth import Ints, Mask


class Dependence(NamedTuple):
    """Two pods with equal fragments get equal vectors while the rest stays the same.

    `usage` says that pods on a node matter for that node's answer; without it only changes of node
    objects do. `version` stands for anything else: when it changes, the vector is made anew.
    """

    fragment: Hashable
    usage: bool
    version: Hashable = None
    of_objects: bool = False
    """Set where `version` moves only when a node or another object of the cluster changes, never
    because of pods or of what the cluster does not know."""

    of_shape: bool = False
    """Set where every pod of one template gives this same dependence until a node or another object
    of the cluster changes: it is then not asked for again."""

    @property
    def stands(self) -> bool:
        """Whether the vector stays as it is while only pods come and go."""
        return not self.usage and (self.version is None or self.of_objects)


class Demand(NamedTuple):
    """An amount that must be free; `delegable` where devices serve nodes that have none."""

    resource: str
    amount: int
    delegable: bool


class SpreadLimit(NamedTuple):
    """How unevenly the pods that a selector means may lie over domains, which are numbered from 1.

    Pods of one namespace with equal `constraint` and `eligible` share the limit.
    """

    constraint: Hashable
    selector: Selector
    max_skew: int
    min_domains: int
    domains: Ints
    """The domain of each row; 0 for none."""
    counts: Ints
    """Pods that are there, by domain."""
    eligible: Mask | None
    """Rows whose pods count; None for all."""
    entries: Mask | None
    """Domains that the emptiest one is looked for among; None for all."""


class PlacementLimits(NamedTuple):
    """What a filter counts for one pod. Nothing that is stated may be stricter than the filter."""

    requests: Sequence[Demand] | None = None
    """What must be free of a node's allocatable; a node takes no more pods than it allows either.
    None if it does not look at requests."""
    amounts: Mapping[str, int] | None = None
    """What the pod takes, by names of the plugin's own, of what `count_free` says is left; None if
    the plugin counts nothing itself."""
    host_ports: bool = False
    """Pods that listen on one port of the host are kept apart."""
    affinity: bool = False
    """Required affinity and anti-affinity hold, the pod's own and that of pods that are there."""
    spread: Sequence[SpreadLimit] = ()
    says_all: bool = False
    """It refuses for nothing else: what it says of nodes as they are is not asked for then."""
    leaves_out: str = ""
    """What it also refuses for and these numbers do not say, as answers name it to people."""
