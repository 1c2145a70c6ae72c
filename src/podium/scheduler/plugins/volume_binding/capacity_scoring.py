"""Scoring nodes by how much of their storage a pod would use (gate StorageCapacityScoring).

Claims that get an existing volume count by what they waste of it, claims that have one made by what
they take of the room there. A node's score is the mean over storage classes of a curve over the
percentage used; with the default curve, 25Gi of a 100Gi volume give 75
(`pkg/scheduler/framework/plugins/volumebinding/scorer.go`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.storage import PersistentVolume
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.config.plugin_args import UtilizationShapePoint
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.plugins.resources.allocation import curve
from podium.scheduler.plugins.volume_binding.findings import Findings
from podium.scheduler.plugins.volume_binding.node_reach import NONE
from podium.scheduler.plugins.volume_binding.pod_volumes import STORAGE, requested_bytes


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
