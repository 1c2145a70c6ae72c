"""Nodes with GPUs say so, again and again; whole clusters in virtual time."""

from typing import Any

import pytest
from support.addons.gpu.gpu_placement import (
    annotate,
    now,
    read_node,
)
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster, in_cluster

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.client.resources import CONFIG_MAPS

ALL_DIALECTS = pytest.mark.parametrize("dialect", sorted(DIALECTS))
CLOCKED = pytest.mark.parametrize("dialect", ["gpu-scheduler", "hami"])


# --- registering --------------------------------------------------------------------------------


@ALL_DIALECTS
def test_cards_are_registered_when_a_node_is_made(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        with_cards = await read_node(cluster, "node-0")
        found = find_dialect(dialect).node_cards(with_cards, now())
        assert found.refusal is None
        assert len(found.cards) == 4
        unit = find_dialect(dialect).memory_unit
        assert {card.memory for card in found.cards} == {15360 * (1 << 20) // unit}
        without = await read_node(cluster, "node-1")
        assert not find_dialect(dialect).node_cards(without, now()).cards

    in_cluster(scenario, nodes=2, gpus=["1:4xT4"], gpu_dialect=dialect)


@CLOCKED
def test_agents_go_on_saying_that_they_live(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        before = await read_node(cluster, "node-0")
        await sleep_virtually(600)
        after = await read_node(cluster, "node-0")
        speaks = find_dialect(dialect)
        first, last = (speaks.register((), at).annotations for at in (0.0, 1.0))
        (heartbeat,) = (key for key in first if first[key] != last[key])
        assert before.metadata.annotation(heartbeat) != after.metadata.annotation(heartbeat)
        assert speaks.node_cards(after, now()).refusal is None

    in_cluster(scenario, nodes=1, gpus=["1xT4"], gpu_dialect=dialect)


def test_agents_write_as_often_as_the_calendar_says_whatever_the_speed() -> None:
    async def scenario(cluster: Cluster) -> None:
        versions = set()
        for _ in range(90):
            node = await read_node(cluster, "node-0")
            versions.add(node.metadata.annotation("tydic.io/node-gpu-heartbeat"))
            await sleep_virtually(1)
        assert len(versions) == 4

    in_cluster(scenario, nodes=1, gpus=["1xT4"], gpu_dialect="gpu-scheduler", speed=50)


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"gpu-manager"}))
def test_a_card_that_breaks_is_told_of_and_can_be_mended(dialect: str) -> None:
    speaks = find_dialect(dialect)

    async def health(cluster: Cluster) -> list[bool]:
        cards = speaks.node_cards(await read_node(cluster, "node-0"), now())
        place = speaks.config_map_name("node-0")
        if place is not None and await cluster.exists(CONFIG_MAPS, place[1], place[0]):
            told = await cluster.get(CONFIG_MAPS, place[1], place[0])
            cards = speaks.read_config_map(cards, told["data"])
        return [card.healthy for card in cards.cards]

    async def scenario(cluster: Cluster) -> None:
        assert await health(cluster) == [True] * 4
        whole = (await read_node(cluster, "node-0")).status.allocatable
        await annotate(cluster, "node-0", gpu_unhealthy="1,3")
        await cluster.until(lambda: _is(health(cluster), [True, False, True, False]), within_s=5)
        left = (await read_node(cluster, "node-0")).status.allocatable
        resource = speaks.resources[0]
        assert left is not None
        assert whole is not None
        shrinks = 1 if speaks.gives_broken_devices else 2
        assert int(left[resource]) * shrinks == int(whole[resource])
        await annotate(cluster, "node-0", gpu_unhealthy=None)
        await cluster.until(lambda: _is(health(cluster), [True] * 4), within_s=5)
        assert (await read_node(cluster, "node-0")).status.allocatable == whole

    in_cluster(scenario, nodes=1, gpus=["4xT4"], gpu_dialect=dialect)


async def _is(found: Any, wanted: Any) -> bool:
    result: bool = await found == wanted
    return result


@CLOCKED
def test_a_stopped_agent_is_missed_and_its_devices_are_gone(dialect: str) -> None:
    async def scenario(cluster: Cluster) -> None:
        speaks = find_dialect(dialect)
        await annotate(cluster, "node-0", gpu_agent_failure="stopped")
        await sleep_virtually(400)
        node = await read_node(cluster, "node-0")
        assert speaks.node_cards(node, now()).refusal is Reason.HEARTBEAT_TIMEOUT
        assert node.status.allocatable is not None
        assert node.status.allocatable[speaks.resources[0]] == "0"
        await annotate(cluster, "node-0", gpu_agent_failure=None)
        await sleep_virtually(1)
        back = await read_node(cluster, "node-0")
        assert speaks.node_cards(back, now()).refusal is None

    in_cluster(scenario, nodes=1, gpus=["2xT4"], gpu_dialect=dialect)


def test_nodes_that_come_later_and_say_what_they_have_get_an_agent() -> None:
    async def scenario(cluster: Cluster) -> None:
        await annotate(cluster, "node-0", gpus="2xA100-40GB:mig", gpu_dialect="hami")
        await sleep_virtually(1)
        cards = find_dialect("hami").node_cards(await read_node(cluster, "node-0"), now()).cards
        assert [len(card.profiles) for card in cards] == [6, 6]
        assert [card.numa for card in cards] == [0, 1]

    in_cluster(scenario, nodes=1)


def test_what_cannot_be_read_makes_no_agent_and_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(cluster: Cluster) -> None:
        await annotate(cluster, "node-0", gpus="many")
        await sleep_virtually(60)
        await annotate(cluster, "node-0", gpus=None)

    in_cluster(scenario, nodes=1)
    told = [record.getMessage() for record in caplog.records if "GPU agent" in record.getMessage()]
    assert len(told) == 1
    assert 'node-0 has no GPU agent: "many" says no GPUs' in told[0]
