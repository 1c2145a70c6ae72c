"""Whatever fails, no card is given away twice, and nothing is left over."""

import asyncio
from random import Random

import pytest
from support.addons.gpu.card_judge import CardJudge
from support.addons.gpu.extender_clusters import GPUCluster, equal_cards, in_gpu_cluster
from support.addons.gpu.rough_days import FAILURES, RoughDay
from support.live.virtual_loop import sleep_virtually

from podium.client import DeleteOptions
from podium.client.resources import PODS

PODS_OF_A_DAY, CLIENTS, NODES = 200, 16, 20
REQUESTS = {
    "gpu-manager": lambda r: [
        {"tencent.com/vcuda-core": c, "tencent.com/vcuda-memory": r.randint(1, 6)}
        for c in r.choice(([10], [30], [50, 20], [60], [100], [200], [90]))
    ],
    "gpushare": lambda r: [{"aliyun.com/gpu-mem": r.randint(1, 10)}],
    "hami": lambda r: [
        {
            "nvidia.com/gpu": r.choice((1, 1, 2)),
            "nvidia.com/gpumem": r.randint(1, 8),
            "nvidia.com/gpucores": r.choice((10, 30, 60)),
        }
    ],
    "vgpu-manager": lambda r: [
        {
            "nvidia.com/vgpu-number": r.choice((1, 1, 2)),
            "nvidia.com/vgpu-cores": r.choice((10, 30, 60)),
            "nvidia.com/vgpu-memory": r.randint(1, 8),
        }
    ],
}
OTHERS = sorted({*REQUESTS} - {"gpu-manager"})


@pytest.mark.parametrize(
    ("dialect", "verb", "seed"),
    [
        ("gpu-manager", "bind", 0),
        *(pytest.param(dialect, "bind", 0, marks=pytest.mark.slow) for dialect in OTHERS),
        *(pytest.param(dialect, "bind", 1, marks=pytest.mark.slow) for dialect in REQUESTS),
        *(pytest.param("gpu-manager", "predicates", n, marks=pytest.mark.slow) for n in range(2)),
    ],
)
def test_no_card_is_given_away_twice_on_a_day_when_everything_fails(
    dialect: str, verb: str, seed: int
) -> None:
    async def scenario(cluster: GPUCluster) -> None:
        names = [f"node-{at}" for at in range(NODES)]
        for name in names:
            await cluster.add_node(name, equal_cards(2, 12, slots=5))
        judge = CardJudge(cluster.client, cluster.dialect, cluster.now)
        judging = asyncio.create_task(judge.run())
        day = RoughDay(cluster, judge, seed, decides_in_filter=verb == "predicates")
        await day.start()
        working = asyncio.create_task(day.work_as_agents())
        killing = asyncio.create_task(day.kill_now_and_then())
        chances = Random(seed)
        queue = [(f"pod-{at}", REQUESTS[dialect](chances)) for at in range(PODS_OF_A_DAY)]

        async def client() -> None:
            while queue:
                await day.schedule(*queue.pop(), names)

        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        day.calm_down()
        await killing
        await sleep_virtually(400.0)  # locks expire after five minutes
        assert judge.overbooked == []
        assert judge.versions > 2 * PODS_OF_A_DAY
        assert len(day.bound) > PODS_OF_A_DAY // 4
        assert day.restarts > 2
        if verb == "bind":
            assert set(day.met) == set(FAILURES), day.met
        await _assert_nothing_is_left_over(cluster, day, names)
        judging.cancel()
        working.cancel()

    in_gpu_cluster(scenario, dialect)


async def _assert_nothing_is_left_over(
    cluster: GPUCluster, day: RoughDay, names: list[str]
) -> None:
    ledger, judge = day.extender.ledger, day.judge
    assert ledger.reservations == {}
    assert day.extender.application.decider.doubts == {}
    for pod in judge.pods.values():
        if not pod.spec.node_name:
            assert cluster.dialect.clear_decision(pod).annotations == {}, pod
    for name in names:
        charged = ledger.table.charged[ledger.rows()[name]]
        found = {card: (each.cores, each.memory, each.slots) for card, each in charged.items()}
        assert found == judge.used(name)
    for pod in list(judge.pods.values()):
        options = DeleteOptions(grace_period_s=0)
        await cluster.client.delete(PODS, pod.name, "default", options)
    await sleep_virtually(5.0)
    assert not any(ledger.table.charged)
    assert not ledger.table.used_memory.any()
