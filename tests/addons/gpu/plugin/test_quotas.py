"""Quotas of namespaces on GPUs: ResourceQuotas, and the document of models and pools."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.addons.gpu.gpu_cluster import cards_of, gpu_cluster, gpu_node, gpu_pod, share

from podium.addons.gpu.cards.quota import InvalidQuota
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.addons.gpu.plugin.quotas import QuotaFile
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import assert_placed, assert_promises, assert_rejected

MODEL, POOL = "gaia.tencent.com/gpu-model", "gaia.tencent.com/gpu-pool"


def quota(hard: dict[str, str], namespace: str = "default") -> ResourceQuota:
    raw = {"metadata": {"name": "gpus", "namespace": namespace}, "spec": {"hard": hard}}
    return msgspec.convert(raw, ResourceQuota)


def test_a_namespace_has_no_more_memory_than_its_quota() -> None:
    limited = quota({"limits.nvidia.com/gpumem": "8192"})
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), limited)
    assert_placed(cluster.schedule(gpu_pod("one", share("hami", 4096, 10))), on="a")
    decision = cluster.schedule(gpu_pod("two", share("hami", 5000, 10)))
    assert_rejected(decision, node="a", by="GPUShare", reason="ExceedsGPUQuota")
    assert_placed(cluster.schedule(gpu_pod("other", share("hami", 5000, 10), namespace="free")))
    assert_placed(cluster.schedule(gpu_pod("three", share("hami", 4096, 10))), on="a")


def test_memory_counts_once_for_each_card() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(2)), quota({"requests.nvidia.com/gpumem": "8192"}))
    decision = cluster.schedule(gpu_pod("both", share("hami", 5000, 10, cards=2)))
    assert_rejected(decision, node="a", by="GPUShare", reason="ExceedsGPUQuota")


def test_a_quota_of_zero_blocks_and_a_larger_one_wakes() -> None:
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), quota({"limits.nvidia.com/gpucores": "0"}))
    decision = cluster.schedule(gpu_pod("p", share("hami", 1024, 10)))
    assert_rejected(decision, node="a", by="GPUShare", reason="ExceedsGPUQuota")
    cluster.put(quota({"limits.nvidia.com/gpucores": "100"}))
    cluster.wait(2)
    assert cluster.run() == ["p"]


def test_resource_quotas_can_be_left_alone() -> None:
    nothing = quota({"limits.nvidia.com/gpumem": "0"})
    cluster = gpu_cluster(gpu_node("a", cards_of(1)), nothing, args={"resourceQuota": False})
    assert_placed(cluster.schedule(gpu_pod("p", share("hami", 4096, 10))), on="a")


def document(path: Path, quotas: dict[str, Any]) -> dict[str, Any]:
    path.write_text(json.dumps(quotas))
    return {"quota": {"file": str(path)}}


def refresh(cluster: Any, path: Path) -> None:
    source = QuotaFile(str(path))
    try:
        cluster.answer(source.name, asyncio.run(source.fetch()))
    except InvalidQuota as problem:
        cluster.fail(source.name, str(problem))


def test_a_namespace_uses_the_models_and_pools_of_its_document(tmp_path: Path) -> None:
    path, dialect = tmp_path / "gpu_quota.json", "gpu-manager"
    args = document(path, {"default": {"quota": {"M40": 1, "P100": 1}, "pool": ["public"]}})
    nodes = [
        gpu_node("m40", cards_of(2), dialect, labels={MODEL: "M40", POOL: "public"}),
        gpu_node("private", cards_of(2), dialect, labels={MODEL: "P100", POOL: "private"}),
        gpu_node("v100", cards_of(2), dialect, labels={MODEL: "V100", POOL: "public"}),
    ]
    cluster = gpu_cluster(*nodes, dialect=dialect, args=args)
    refresh(cluster, path)
    decision = cluster.schedule(gpu_pod("one", share(dialect, 1024, 60)))
    assert_placed(decision, on="m40")
    for node in ("private", "v100"):
        assert_rejected(decision, node=node, by="GPUShare", reason="ExceedsGPUQuota")
    decision = cluster.schedule(gpu_pod("two", share(dialect, 1024, 60)))
    assert_rejected(decision, node="m40", by="GPUShare", reason="ExceedsGPUQuota")
    assert_placed(cluster.schedule(gpu_pod("small", share(dialect, 1024, 40))), on="m40")
    free = cluster.schedule(gpu_pod("free", share(dialect, 1024, 60), namespace="unlimited"))
    assert_placed(free)
    path.write_text(json.dumps({"default": {"quota": {"V100": 1}}}))
    refresh(cluster, path)
    cluster.wait(30)
    assert "two" in cluster.run()


def test_a_pod_counts_by_what_it_asks_for_from_the_moment_that_it_has_a_node(
    tmp_path: Path,
) -> None:
    path, dialect = tmp_path / "gpu_quota.json", "gpu-manager"
    args = document(path, {"default": {"quota": {"M40": 1}}})
    node = gpu_node("m40", cards_of(2), dialect, labels={MODEL: "M40"})
    cluster = gpu_cluster(node, dialect=dialect, args=args)
    refresh(cluster, path)
    undecided = gpu_pod("undecided", share(dialect, 1024, 60), nodeName="m40")
    cluster.put(undecided)
    decision = cluster.schedule(gpu_pod("late", share(dialect, 1024, 60)))
    assert_rejected(decision, node="m40", by="GPUShare", reason="ExceedsGPUQuota")
    cluster.change("undecided", phase="Succeeded")
    cluster.wait(30)
    assert cluster.run() == ["late"]


def test_a_broken_document_leaves_the_one_before_in_place(tmp_path: Path) -> None:
    path, dialect = tmp_path / "gpu_quota.json", "gpu-manager"
    args = document(path, {"default": {"quota": {}}})
    cluster = gpu_cluster(gpu_node("a", cards_of(1), dialect), dialect=dialect, args=args)
    refresh(cluster, path)
    path.write_text("{nonsense")
    refresh(cluster, path)
    decision = cluster.schedule(gpu_pod("p", share(dialect, 1024, 10)))
    assert_rejected(decision, node="a", by="GPUShare", reason="ExceedsGPUQuota")
    path.unlink()
    refresh(cluster, path)
    cluster.wait(30)
    assert cluster.run() == ["p"]


def test_promises_are_kept_with_a_quota() -> None:
    nodes = [gpu_node(f"gpu-{at}", cards_of(2), now=0) for at in range(3)]
    pods = [gpu_pod("one", share("hami", 4096, 10)), gpu_pod("two", share("hami", 9000, 10))]
    limited = quota({"limits.nvidia.com/gpumem": "8192"})
    assert_promises(GPUShare, nodes=nodes, pods=pods, objects=[limited])


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"dialect": "esperanto"}, "no GPU dialect is called 'esperanto'"),
        (
            {"dialect": "gpu-manager", "cardPolicy": "spread"},
            "chooses shared cards by its own rule",
        ),
        ({"quota": {}}, "name either a file or a configMap"),
        ({"quota": {"configMap": "gpuquota"}}, "right would be NAMESPACE/NAME"),
        ({"nodePolicy": "best"}, "nodePolicy"),
    ],
)
def test_arguments_that_cannot_be_are_refused(args: dict[str, Any], told: str) -> None:
    with pytest.raises((ConfigurationError, ValueError), match=told):
        gpu_cluster(args=args)
