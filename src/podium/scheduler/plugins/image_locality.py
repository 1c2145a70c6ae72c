"""ImageLocality: prefer nodes that already have the pod's images.

An image counts by its size, scaled by the share of nodes that have it, so that a rare large image
does not drag every pod to one node. With images of 250 MiB on n1 and n2 and of 40 MiB on n1, three
nodes and a pod with both: n1 sums up 174762666 + 13981013 bytes and scores 7, n2 7, n3 0.
"""

from collections import Counter

import numpy as np

from podium.kubernetes.rules.nodes import canonical_image
from podium.scheduler.cluster.growth import Ints, Rows, count_of
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.points import ScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE

MIB = 1024 * 1024
LEAST_BYTES = 23 * MIB
MAX_BYTES_PER_CONTAINER = 1000 * MIB


class ImageLocality(ScorePlugin):
    name = "ImageLocality"
    in_range = True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        nodes = cycle.nodes
        images, containers = cycle.pod.shape.images
        local_bytes: Ints | None = None
        for image, uses in Counter(map(canonical_image, images)).items():
            state = nodes.images.state(image)
            if state is None:
                continue
            if local_bytes is None:
                local_bytes = np.zeros(nodes.size, dtype=np.int64)
            spread = state.node_count / nodes.present_count
            local_bytes[state.rows] += int(float(state.size_bytes) * spread) * uses
        if local_bytes is None:
            return np.zeros(count_of(rows), dtype=np.int64)
        return _scores(local_bytes[rows], MAX_BYTES_PER_CONTAINER * containers)

    def score_depends(self, cycle: Cycle) -> Dependence:
        nodes = cycle.nodes
        version = (nodes.images.version, nodes.present_count)
        return Dependence(cycle.pod.shape.images, usage=False, version=version, of_objects=True)


def _scores(local_bytes: Ints, most_bytes: int) -> Ints:
    """0 up to 23 MiB, 100 from 1000 MiB per container on, and linear between."""
    counted = np.where(
        local_bytes < LEAST_BYTES, LEAST_BYTES, np.minimum(local_bytes, most_bytes)
    ).astype(np.int64, copy=False)
    return MAX_SCORE * (counted - LEAST_BYTES) // (most_bytes - LEAST_BYTES)
