"""What a search for a pod's volumes found out, for every node at once, and the score from it.

One search answers for the whole node table: which reasons speak against each node, and for the
others which volume each claim would get there or where it would be made. Only the plan of the node
that is finally chosen is ever written out.

Scoring nodes by how much of their storage a pod would use (gate StorageCapacityScoring). Claims
that get an existing volume count by what they waste of it, claims that have one made by what they
take of the room there. A node's score is the mean over storage classes of a curve over the
percentage used; with the default curve, 25Gi of a 100Gi volume give 75
(`pkg/scheduler/framework/plugins/volumebinding/scorer.go`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.storage import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
)
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.growth import Codes, Ints, Mask, Rows, count_of
from podium.scheduler.config.plugin_args import UtilizationShapePoint
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.resources.allocation import curve
from podium.scheduler.plugins.volume_binding.node_reach import NONE
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    STORAGE,
    PodVolumes,
    Provision,
    StaticBinding,
    requested_bytes,
)
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
class VolumeMatch:
    """The volume found for a claim on each row, by its number in the index, or NONE."""

    claim: PersistentVolumeClaim
    chosen: Ints


@dataclass(frozen=True, slots=True)
class ProvisioningPlan:
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
    matches: list[VolumeMatch] = field(default_factory=list)
    plans: list[ProvisioningPlan] = field(default_factory=list)

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


def _capacity(plan: ProvisioningPlan, row: int) -> CSIStorageCapacity | None:
    pick = int(plan.picks[row])
    return plan.capacities[pick] if pick != NONE else None


class _Part(NamedTuple):
    """One claim's share on the rows where it counts: bytes wanted and bytes there are."""

    class_name: str
    counts: Mask
    requested: int
    capacity: Ints


class CapacityScorer:
    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        self._points = np.array(curve(shape), dtype=np.int64)

    def score(self, findings: Findings, rows: Rows) -> Ints:
        """Scores of rows; those that the search rejected or that need no volume get 0."""
        count = count_of(rows)
        passed = (findings.reasons[rows] == 0) & (findings.failed[rows] == 0)
        static = _any_match(findings, rows) & passed
        total: Ints = np.zeros(count, dtype=np.int64)
        classes: Ints = np.zeros(count, dtype=np.int64)
        for where, parts, summed in (
            (static, _static_parts(findings, rows), True),
            (passed & ~static, _provision_parts(findings, rows), False),
        ):
            if where.any():
                self._add(total, classes, where, list(parts), summed)
        # Scores are never negative, so half away from zero is half up.
        return (2 * total + classes) // np.maximum(2 * classes, 1)

    def _add(
        self, total: Ints, classes: Ints, where: Mask, parts: Sequence[_Part], summed: bool
    ) -> None:
        for name in dict.fromkeys(part.class_name for part in parts):
            used: Mask = np.zeros(len(where), dtype=np.bool_)
            requested: Ints = np.zeros(len(where), dtype=np.int64)
            capacity: Ints = np.zeros(len(where), dtype=np.int64)
            for part in parts:
                if part.class_name != name:
                    continue
                counts = part.counts & where
                used |= counts
                requested += counts * part.requested
                # upstream: capacities of volumes add up, of places the last one counts.
                grown = capacity + part.capacity if summed else part.capacity
                capacity = np.where(counts, grown, capacity)
            total += used * self._points[_utilization(requested, capacity)]
            classes += used


def _utilization(requested: Ints, capacity: Ints) -> Ints:
    full = (capacity == 0) | (requested > capacity)
    return np.where(full, MAX_SCORE, requested * MAX_SCORE // np.where(full, 1, capacity))


def _any_match(findings: Findings, rows: Rows) -> Mask:
    found: Mask = np.zeros(count_of(rows), dtype=np.bool_)
    for match in findings.matches:
        found |= match.chosen[rows] != NONE
    return found


def _static_parts(findings: Findings, rows: Rows) -> Iterator[_Part]:
    """Each claim with a volume, once per class that its volumes name."""
    for match in findings.matches:
        chosen, where = np.unique(match.chosen[rows], return_inverse=True)
        volumes = [findings.volumes[n].volume if n != NONE else None for n in chosen.tolist()]
        classes = [volume.spec.storage_class_name if volume else None for volume in volumes]
        sizes = np.array([_size(volume) if volume else 0 for volume in volumes], dtype=np.int64)
        for name in dict.fromkeys(classes):
            if name is not None:
                counts = np.array([found == name for found in classes])[where]
                yield _Part(name, counts, requested_bytes(match.claim) or 0, sizes[where])


def _provision_parts(findings: Findings, rows: Rows) -> Iterator[_Part]:
    for plan in findings.plans:
        picks = plan.picks[rows]
        sizes = [value(c.capacity) if c.capacity is not None else 0 for c in plan.capacities]
        yield _Part(
            plan.claim.spec.storage_class_name or "",
            plan.wanted[rows] & (picks != NONE),
            requested_bytes(plan.claim) or 0,
            np.array(sizes or [0], dtype=np.int64)[picks],
        )


def _size(volume: PersistentVolume) -> int:
    return value((volume.spec.capacity or {}).get(STORAGE, 0))
