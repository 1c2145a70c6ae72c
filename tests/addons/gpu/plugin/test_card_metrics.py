"""What GPUShare shows on the scheduler's page of metrics: the extender's numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.addons.gpu.gpu_cluster import (
    NOW,
    cards_of,
    gpu_cluster,
    gpu_node,
    gpu_pod,
    share,
)
from support.addons.gpu.in_process_extender import InProcessExtender
from support.live.watched_metrics import samples_of

from podium.addons.gpu.dialects import find_dialect
from podium.live.metrics import SchedulerMetrics
from podium.testing import FakeCluster


def watched(*objects: Any, **configured: Any) -> tuple[FakeCluster, SchedulerMetrics]:
    cluster = gpu_cluster(**configured)
    metrics = SchedulerMetrics(cluster.engine)
    cluster.put(*objects)
    return cluster, metrics


def read(metrics: SchedulerMetrics, name: str) -> dict[tuple[str, ...], float]:
    return samples_of(metrics.text().decode(), name)


def of_cards(text: str) -> Iterator[str]:
    """Lines about cards, without what only one of two programs has."""
    for line in text.splitlines():
        of_one = "rejected" in line or "packing" in line
        if line.startswith("podium_gpu_") and not of_one:
            yield line


def test_refused_nodes_are_counted_by_the_code_of_the_reason() -> None:
    nodes = [gpu_node("a", cards_of(2)), gpu_node("b", cards_of(1))]
    cluster, metrics = watched(*nodes)
    rejected = "podium_gpu_rejected_nodes_total"
    cluster.schedule(gpu_pod("both", share("hami", 4096, 10, cards=2)))
    assert read(metrics, rejected) == {("InsufficientGPUCards", "filter"): 1}
    cluster.schedule(gpu_pod("large", share("hami", 16000, 10)))
    cluster.schedule(gpu_pod("larger", share("hami", 16000, 10)))
    counts = read(metrics, rejected)
    assert counts["InsufficientVGPUMemory", "filter"] == 3
    cluster.schedule(gpu_pod("wrong", {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "3Gi"}))
    assert read(metrics, rejected)["InvalidGPURequest", "filter"] == 2


def test_a_lock_that_cannot_be_had_is_counted() -> None:
    node = gpu_node("a", cards_of(1))
    cluster, metrics = watched(node, args={"nodeLock": True})
    cluster.schedule(gpu_pod("first", share("hami", 1024, 10)))
    cluster.schedule(gpu_pod("second", share("hami", 1024, 10)))
    assert read(metrics, "podium_gpu_rejected_nodes_total") == {("NodeLocked", "bind"): 1}


def test_cards_are_shown_as_the_extender_shows_them() -> None:
    nodes = [gpu_node("a", cards_of(2)), gpu_node("b", cards_of(1))]
    cluster, metrics = watched(*nodes)
    extender = InProcessExtender(find_dialect("hami"), lambda: NOW)
    extender.put(*nodes)
    for at in range(3):
        cluster.schedule(gpu_pod(f"p{at}", share("hami", 4096, 30)))
        extender.put(cluster.pod(f"p{at}"))
    text = extender.application.service.metrics.text().decode()
    shown = sorted(of_cards(metrics.text().decode()))
    assert shown == sorted(of_cards(text))
    assert any("podium_gpu_card_used_cores" in line and line.endswith(" 60.0") for line in shown)
    page = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text()
    assert all(f"`{line.partition('{')[0].partition(' ')[0]}`" in page for line in shown)
