"""What a filter holds a placement of many pods to, in numbers that others can reckon with.

`podium optimum` and `podium rebalance` look for placements without trying them one by one. A filter
whose answer moves with the pods that are placed states here what moves it; every placement that the
scheduler can reach keeps to what is stated, though not all that keeps to it can be reached.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from podium.kubernetes.rules.labels import Selector
from podium.scheduler.cluster.growth import Ints, Mask


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
