"""Starting a simulated cluster: what can go wrong, and what it leaves behind."""

import asyncio
import contextlib
from typing import Any

import pytest
from support.live.scripted_server import ScriptedServer, bookmark, refusal, reply
from support.live.virtual_loop import run_virtually

from podium.client import KubeClient, Unreachable
from podium.golang.errors import InputError
from podium.simulated.clock import ClusterClock
from podium.simulated.cluster import SimulatedCluster, SimulatedClusterOptions, StartProgress
from podium.simulated.nodes.templates import default_template, nodes_from


def cluster(
    server: ScriptedServer, nodes: int = 0, *controllers: str, **more: Any
) -> SimulatedCluster:
    options = SimulatedClusterOptions(
        nodes=tuple(nodes_from([default_template()], nodes)), controllers=controllers
    )
    clock = ClusterClock(wall=lambda: 1_800_000_000)
    return SimulatedCluster(KubeClient(server), options, clock=clock, **more)


def empty_lists(server: ScriptedServer) -> ScriptedServer:
    """Every kind is there, and there is nothing of it."""
    server.on_watch = lambda watch: watch.send(bookmark(1, ends_list=True))
    return server


def test_nodes_that_the_server_does_not_take_are_named() -> None:
    async def main() -> None:
        server = empty_lists(ScriptedServer(refusal(422, "Invalid", "cpu must be a number")))
        with pytest.raises(InputError, match="node node-0 cannot be made: cpu must be a number"):
            await cluster(server, 1).run()

    run_virtually(main())


def test_nodes_that_are_there_already_are_taken_over() -> None:
    async def main() -> None:
        server = empty_lists(ScriptedServer(refusal(409, "AlreadyExists"), reply({})))
        steps: list[StartProgress] = []
        starting = cluster(server, 2, on_progress=steps.append)
        running = asyncio.ensure_future(starting.run())
        await starting.started.wait()
        assert [(step.what, step.total) for step in steps][-1] == ("nodes", 2)
        assert starting.trouble == {}
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    run_virtually(main())


def test_a_kind_that_cannot_be_followed_is_named() -> None:
    async def main() -> None:
        server = ScriptedServer(*[refusal(403, "Forbidden", "not you")] * 100)
        server.watch_refusals = [refusal(403, "Forbidden", "not you")] * 100
        with pytest.raises(InputError, match=r"cannot be followed: not you"):
            await cluster(server).run()

    run_virtually(main())


def test_a_server_that_is_away_when_kinds_are_asked_for_is_told() -> None:
    async def main() -> None:
        server = ScriptedServer(Unreachable("down"))
        with pytest.raises(Unreachable, match="down"):
            await cluster(server, 0, "garbagecollector").run()

    run_virtually(main())
