"""Scores that are remembered are those that would be worked out now, whatever has happened."""

from random import Random
from typing import Any

import pytest
from support.addons.gpu.gpu_cluster import cards_of, gpu_cluster, gpu_node, gpu_pod, share

from podium.addons.gpu.plugin.gpu_packing import PackingPlugin, PackingScores
from podium.testing import make_pod, score_answers
from podium.user_code.plugins import find_plugin


@pytest.mark.parametrize("policy", ["FGDStranded", "GpuClustering"])
def test_scores_follow_pods_nodes_and_cards(policy: str) -> None:
    found = find_plugin(policy)
    assert found is not None
    assert issubclass(found, PackingPlugin)
    randomness = Random(7)
    cluster = gpu_cluster(*(gpu_node(f"n{at}", cards_of(4)) for at in range(4)), plugins=[found])
    plugin: Any = cluster.plugin(policy)
    asked = [
        gpu_pod("ask-share", share("hami", 4096, 30)),
        gpu_pod("ask-whole", {"nvidia.com/gpu": "2"}),
        make_pod("ask-cpu", requests={"cpu": "3"}),
    ]
    placed: list[str] = []
    for step in range(80):
        match randomness.randrange(8):
            case 0 if placed:
                cluster.delete(placed.pop(randomness.randrange(len(placed))))
            case 1:
                name, count = f"n{randomness.randrange(8)}", randomness.choice((2, 8))
                cluster.put(gpu_node(name, cards_of(count)))
            case 2:
                broken = cards_of(4, healthy=randomness.random() < 0.5)
                cluster.put(gpu_node(f"n{randomness.randrange(4)}", broken))
            case 3:
                name = f"n{randomness.randrange(8)}"
                if cluster.engine.cluster.nodes.is_present(name):
                    cluster.engine.intake.node_deleted(name)
            case _:
                limits = {"cpu": "2", **share("hami", 1024 * randomness.randrange(1, 12), 20)}
                name = f"p{step}"
                if cluster.schedule(gpu_pod(name, limits)).chosen is not None:
                    placed.append(name)
        remembered = [score_answers(plugin, pod, cluster.engine.cluster) for pod in asked]
        plugin._scores = PackingScores(cluster.engine.cluster, plugin._score_rows)
        fresh = [score_answers(plugin, pod, cluster.engine.cluster) for pod in asked]
        assert remembered == fresh, step
