"""SelectorSpread: spread the pods of a service or controller over nodes and zones.

The default for pods without constraints of their own until PodTopologySpread's system constraints
took its place. A node's raw score is the number of its pods that the same services and controller
select; few are better, and where nodes have zones, the zone counts for two thirds
(`pkg/scheduler/framework/plugins/selectorspread/selector_spread.go` at v1.22).

Worked example: 3 pods on n1 and 1 on n2, both of which are in zones of their own: by node 0 and
66.7 points, by zone the same, so 0 and 66.
"""

from typing import Final

import numpy as np

from podium.scheduler.cluster.growth import Ints, Rows, count_of, indices
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import Arguments, PreScorePlugin, ScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import SKIP, Status
from podium.scheduler.plugins.topology.owner_selectors import OwnerSelectors

_ZONE_SHARE: Final = 2 / 3
_NODE_SHARE: Final = 1 - _ZONE_SHARE
_REGIONS: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONES: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class SelectorSpread(PreScorePlugin, ScorePlugin):
    name = "SelectorSpread"
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._selectors = OwnerSelectors(handle.cluster.catalog)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        return SKIP if cycle.pod.pod.spec.topology_spread_constraints else None

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        selector = self._selectors.of(cycle.pod)
        if selector.empty or cycle.pod.pod.spec.topology_spread_constraints:
            return np.zeros(count_of(rows), dtype=np.int64)
        condition = (frozenset({cycle.pod.shape.namespace}), selector)
        counts = cycle.cluster.classes.counts(PodQuery((condition,), terminating=False))
        return counts[rows].copy()

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        if cycle.pod.pod.spec.topology_spread_constraints:
            return np.zeros_like(scores)
        zones = [_zone(cycle, int(row)) for row in indices(rows)]
        in_zone: dict[str, int] = {}
        for zone, raw in zip(zones, scores.tolist(), strict=True):
            if zone:
                in_zone[zone] = in_zone.get(zone, 0) + raw
        most, most_in_zone = int(scores.max(initial=0)), max(in_zone.values(), default=0)
        normalized = []
        for zone, raw in zip(zones, scores.tolist(), strict=True):
            points = _points(raw, most)
            if zone:
                points = points * _NODE_SHARE + _ZONE_SHARE * _points(in_zone[zone], most_in_zone)
            normalized.append(int(points))
        return np.array(normalized, dtype=np.int64)


def _points(pods: int, most: int) -> float:
    return MAX_SCORE * ((most - pods) / most) if most > 0 else float(MAX_SCORE)


def _zone(cycle: Cycle, row: int) -> str:
    labels = cycle.nodes.labels.labels_of(row)
    region = next((labels[key] for key in _REGIONS if labels.get(key)), "")
    zone = next((labels[key] for key in _ZONES if labels.get(key)), "")
    return f"{region}:\x00:{zone}" if region or zone else ""
