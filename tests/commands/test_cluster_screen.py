"""A cluster for somebody who watches: its status, and its nodes as they fill up."""

import io

import pytest
from support.live.live_clusters import in_live_cluster, is_bound, pod
from support.live.virtual_loop import sleep_virtually
from support.simulated.simulated_clusters import Cluster

from podium.client.resources import PODS
from podium.commands.cluster_screen import (
    LOOK_S,
    REST_LOOKS,
    ClusterScreen,
    ClusterStatus,
    status_of,
)
from podium.commands.console import Console
from podium.commands.tables import Screen
from podium.live.assembly import Assembly
from podium.live.tasks import running_part
from podium.scheduler.engine import Engine


def terminal(height: int = 30) -> Screen:
    screen = Screen()
    screen.console = Console(
        file=io.StringIO(), force_terminal=True, width=100, height=height, color_system=None
    )
    return screen


def drawn(screen: Screen, engine: Engine, *, nodes: bool = True) -> list[str]:
    with screen.console.capture() as captured:
        screen.console.print(ClusterScreen(screen, lambda: engine, nodes=nodes).picture())
    return [line.rstrip() for line in captured.get().splitlines()]


async def place(cluster: Cluster) -> None:
    await cluster.create(PODS, pod("large", "100"))
    await cluster.create(PODS, pod("small", "2"))
    await cluster.until(lambda: is_bound(cluster, "small"))


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (ClusterStatus(1, 1, 0, 0), "1 node, 1 pod, 0 pending"),
        (ClusterStatus(3, 1200, 5, 0), "3 nodes, 1,200 pods, 5 pending"),
        (ClusterStatus(3, 12, 0, 2), "3 nodes, 12 pods, 0 pending, 2 waiting at Permit"),
    ],
)
def test_a_status_is_one_line(status: ClusterStatus, told: str) -> None:
    assert str(status) == told


def test_pods_with_and_without_a_node_are_counted() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await place(cluster)
        assert status_of(assembly.engine) == ClusterStatus(3, 2, 1, 0)

    in_live_cluster(scenario)


def test_nodes_are_bars_with_the_status_below() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await place(cluster)
        lines = drawn(terminal(), assembly.engine)
        assert lines[0].split() == ["NODE", "CPU", "MEMORY", "PODS"]
        (full,) = [line for line in lines if "50%" in line]
        assert "████████████░" in full
        assert full.endswith("1 of 110")
        assert lines[-1] == "3 nodes, 2 pods, 1 pending"
        assert drawn(terminal(), assembly.engine, nodes=False) == [lines[-1]]

    in_live_cluster(scenario)


def test_what_has_just_landed_looks_different() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        screen = terminal()
        watched = ClusterScreen(screen, lambda: assembly.engine, nodes=True)
        watched.picture()
        await place(cluster)
        with screen.console.capture() as captured:
            screen.console.print(watched.picture())
        assert "▓▓▓▓▓▓▓▓▓▓▓▓░" in captured.get()

    in_live_cluster(scenario)


def test_of_more_nodes_than_fit_on_the_screen_the_fullest_are_shown() -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        await place(cluster)
        lines = drawn(terminal(height=8), assembly.engine)
        shown = [line for line in lines if line.startswith("node-")]
        assert len(shown) == 2
        assert any("50%" in line for line in shown)

    in_live_cluster(scenario, nodes=12)


def test_in_a_pipe_the_status_is_said_once_the_cluster_is_at_rest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def scenario(cluster: Cluster, assembly: Assembly) -> None:
        watched = ClusterScreen(Screen(), lambda: assembly.engine, nodes=True)
        async with running_part(watched.show()):
            await sleep_virtually(LOOK_S * (REST_LOOKS + 2))
            await place(cluster)
            await sleep_virtually(LOOK_S * (REST_LOOKS + 2) * 10)

    in_live_cluster(scenario)
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "podium: 3 nodes, 0 pods, 0 pending"
    assert told[-1] == "podium: 3 nodes, 2 pods, 1 pending"
    assert len(told) == len(set(told))
