"""What a search for a pod's volumes found out, for every node at once.

One search answers for the whole node table: which reasons speak against each node, and for the
others which volume each claim would get there or where it would be made. Only the plan of the node
that is finally chosen is ever written out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.storage import CSIStorageCapacity, PersistentVolumeClaim
from podium.scheduler.cluster.growth import Codes, Ints, Mask, Rows
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.volume_binding.node_reach import NONE
from podium.scheduler.plugins.volume_binding.pod_volumes import PodVolumes, Provision, StaticBinding
from podium.scheduler.plugins.volume_binding.volume_index import IndexedVolume

NODE_CONFLICT, BIND_CONFLICT, NO_SPACE, NO_VOLUME = 1, 2, 4, 8
REASONS = {
    NODE_CONFLICT: "node(s) didn't match PersistentVolume's node affinity",
    BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    NO_SPACE: "node(s) did not have enough free storage",
    NO_VOLUME: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_REASON_BITS = 4


@dataclass(frozen=True, slots=True)
class Match:
    """The volume found for a claim on each row, by its number in the index, or NONE."""

    claim: PersistentVolumeClaim
    chosen: Ints


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a claim's volume has to be made, and which capacity (or NONE) has room for it."""

    claim: PersistentVolumeClaim
    wanted: Mask
    picks: Codes
    capacities: Sequence[CSIStorageCapacity]


@dataclass(slots=True)
class Findings:
    """Over all rows: reason bits, the number of an error text, and what to do about each claim.

    `volumes` is the index that was searched, good until the next search.
    """

    size: int
    volumes: Mapping[int, IndexedVolume]
    reasons: Codes = field(init=False)
    failed: Codes = field(init=False)
    texts: list[str] = field(default_factory=list)
    matches: list[Match] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reasons = np.zeros(self.size, dtype=np.int32)
        self.failed = np.zeros(self.size, dtype=np.int32)

    def object_to(self, mask: Mask, reason: int) -> None:
        self.reasons[mask] |= reason

    def fail(self, mask: Mask, text: str) -> None:
        """The search breaks off on some rows, which ends the attempt."""
        self.texts.append(text)
        self.failed[mask & (self.failed == 0)] = len(self.texts)

    def verdict(self, rows: Rows) -> Verdict | None:
        values: npt.NDArray[np.int32] = self.reasons[rows] + (self.failed[rows] << _REASON_BITS)
        return Verdict(values, self._describe) if values.any() else None

    def _describe(self, value: int) -> Status:
        if value >> _REASON_BITS:
            return error(self.texts[(value >> _REASON_BITS) - 1])
        return unresolvable(*(text for bit, text in REASONS.items() if value & bit))

    def volumes_on(self, row: int) -> PodVolumes | None:
        """The plan for one row; None if it was rejected."""
        if row >= self.size or self.reasons[row] or self.failed[row]:
            return None
        return PodVolumes(
            bindings=[
                StaticBinding(match.claim, self.volumes[int(match.chosen[row])].volume)
                for match in self.matches
                if match.chosen[row] != NONE
            ],
            provisions=[
                Provision(plan.claim, _capacity(plan, row))
                for plan in self.plans
                if plan.wanted[row]
            ],
        )


def _capacity(plan: Plan, row: int) -> CSIStorageCapacity | None:
    pick = int(plan.picks[row])
    return plan.capacities[pick] if pick != NONE else None
