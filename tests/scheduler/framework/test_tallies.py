"""Totals that stand from pod to pod, held against totals made anew.

Pods come in batches of any size, so that tallies are a row, some rows or most of the table behind;
after each batch pods of several kinds are ranked with what is remembered and without it. What was
handed out before must still read as it did.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.growth import indices
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.caches.totals import Tallies, Totals
from podium.scheduler.framework.caches.vectors import VectorCache
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.scoring import PluginScores
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

COUNT = 48
KINDS: list[dict[str, Any]] = [
    {"requests": {"cpu": "100m", "memory": "128Mi"}},
    {"requests": {"cpu": "100m", "memory": "128Mi"}, "labels": {"app": "other"}},
    {"requests": {"cpu": "500m"}, "tolerations": [{"operator": "Exists"}]},
    {"requests": {"memory": "1Gi"}, "nodeSelector": {"zone": "a"}},
]
SOFT = ("k", "v", "PreferNoSchedule")
batches = st.lists(
    st.lists(st.integers(0, COUNT - 1), min_size=1, max_size=20), min_size=2, max_size=12
)

Ranked = tuple[list[PluginScores], Totals]


def cluster_of_many() -> Engine:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    for number in range(COUNT):
        node = make_node(
            f"n{number}",
            labels={"zone": "ab"[number % 3 == 0]},
            taints=[SOFT] if number % 7 == 0 else [],
            allocatable={"cpu": "4", "memory": "8Gi", "pods": 6},
        )
        engine.cluster.put_node(node)
    return engine


def ranked(engine: Engine, kind: dict[str, Any]) -> tuple[Ranked, list[Any]]:
    """What one attempt hands out, and the same as plain values."""
    cluster, profile = engine.cluster, engine.first_profile
    cycle = Cycle(cluster.infos.of(make_pod("pending", **kind)), cluster)
    profile.run_pre_filters(cycle)
    rows = profile.filter_rows(cycle, cluster.nodes.all_rows()).survivors()
    profile.run_pre_scores(cycle, rows)
    scores, totals = profile.score_rows(cycle, rows)
    best = totals.best(indices(rows)).tolist()
    return (scores, totals), [best, *values((scores, totals))]


def values(made: Ranked) -> list[Any]:
    scores, totals = made
    by_plugin = {s.plugin: (s.raw.tolist(), s.normalized.tolist()) for s in scores}
    return [by_plugin, totals.read().tolist()]


@settings(max_examples=60, deadline=None)
@given(batches, st.sampled_from((2**20, COUNT * 8)), st.sampled_from((2**20, COUNT * 8 * 3)))
def test_however_far_behind_a_tally_catches_up(
    sequence: list[list[int]], tally_bytes: int, memory_bytes: int
) -> None:
    engine = cluster_of_many()
    profile = engine.first_profile
    profile.templates.tallies = Tallies(tally_bytes)
    remembering = profile.vectors = VectorCache(memory_bytes)
    kept: list[tuple[Ranked, list[Any]]] = []
    for number, batch in enumerate(sequence):
        for place, row in enumerate(batch):
            name = f"p{number}-{place}"
            engine.cluster.add_pod(make_pod(name, node=f"n{row}", **KINDS[place % len(KINDS)]))
        for kind in KINDS[: 1 + number % len(KINDS)]:
            profile.vectors = None
            _, fresh = ranked(engine, kind)
            profile.vectors = remembering
            made, found = ranked(engine, kind)
            assert found == fresh
            kept.append((made, fresh[1:]))
        assert profile.templates.tallies.nbytes <= tally_bytes
        assert remembering.nbytes <= memory_bytes
    for made, was in kept:
        assert values(made) == was
