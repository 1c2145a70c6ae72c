"""A reflector over real sockets, and a server that is killed and comes back."""

import asyncio
import contextlib
import socket
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.waiting import PATIENCE_S

from podium.client import KubeClient, LoopClock, ObjectStore, Reflector, last_state
from podium.client.connection import find_settings, transport_for
from podium.client.resources import NODES

pytestmark = pytest.mark.slow


class Names:
    """A handler that knows which objects there are, and lets others wait for them."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._changed = asyncio.Event()

    def on_add(self, obj: Any, /, *, is_in_initial_list: bool) -> None:
        assert obj["metadata"]["name"] not in self.known, "told twice"
        self.known.add(obj["metadata"]["name"])
        self._changed.set()

    def on_update(self, old: Any, new: Any, /) -> None:
        self._changed.set()

    def on_delete(self, obj: Any, /) -> None:
        self.known.remove(last_state(obj)["metadata"]["name"])
        self._changed.set()

    async def until(self, *names: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.known != set(names):
                self._changed.clear()
                await self._changed.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def make_node(server: RunningServer, name: str) -> None:
    status, _ = server.ask("POST", "/api/v1/nodes", {"metadata": {"name": name}})
    assert status == 201


def test_nothing_is_missed_when_the_server_is_killed_and_comes_back(tmp_path: Path) -> None:
    arguments = ("--data", str(tmp_path / "data"), "--port", str(free_port()))

    async def scenario() -> None:
        with serving(tmp_path, *arguments) as server:
            settings = find_settings(str(server.kubeconfig))
            transport = transport_for(settings, user_agent="tests")
            names = Names()
            reflector = Reflector(
                KubeClient(transport),
                NODES,
                ObjectStore(NODES.plural, msgspec.json.decode, names),
                clock=LoopClock(),
                randomness=Random(1),
            )
            running = asyncio.ensure_future(reflector.run())
            await asyncio.to_thread(make_node, server, "first")
            await names.until("first")
            await asyncio.to_thread(make_node, server, "second")
            await names.until("first", "second")
            await asyncio.to_thread(server.kill)
        with serving(tmp_path, *arguments) as server:
            await asyncio.to_thread(make_node, server, "third")
            await asyncio.to_thread(server.ask, "DELETE", "/api/v1/nodes/first")
            await names.until("second", "third")
            assert reflector.trouble == ""
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            await transport.close()

    asyncio.run(scenario())
