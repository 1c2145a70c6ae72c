"""Whatever happens in a cluster in whatever order, nothing breaks and nobody is lost.

The machine is in `living_cluster.py`; `make soak` (PODIUM_LONG=1) runs it for more than a hundred
thousand transitions.
"""

import pytest
from support.scheduler.engine.living_cluster import FEW_LIVES, LONG, LivingCluster, live


def test_a_few_clusters_survive_whatever_comes() -> None:
    live(LivingCluster, lives=FEW_LIVES, long_lives=FEW_LIVES)


@pytest.mark.slow
def test_a_cluster_survives_whatever_comes_and_places_who_can_be_placed() -> None:
    steps = live(LivingCluster, lives=60, long_lives=800)
    assert not LONG or steps >= 100_000
