"""The example controller keeps its promise, also while its server is killed and comes back."""

import asyncio
import contextlib
import importlib.util
import re
import socket
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.commands.command_line import EXAMPLES
from support.waiting import PATIENCE_S, wait_until

import podium.client
from podium.client import ResourceType, SharedInformer

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/default/pods"
EXAMPLE = EXAMPLES / "controllers" / "pods_per_node.py"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def create(server: RunningServer, path: str, name: str, **spec: Any) -> None:
    body = {"metadata": {"name": name}, "spec": spec}
    status, told = server.ask("POST", path, body)
    assert status == 201, told


def create_pod(server: RunningServer, name: str, node: str) -> None:
    create(server, PODS, name, nodeName=node, containers=[{"name": "c", "image": "nginx"}])


def read_counts(server: RunningServer) -> dict[str, Any]:
    _, found = server.ask("GET", NODES)
    return {
        node["metadata"]["name"]: node["metadata"].get("annotations", {}).get("example.com/pods")
        for node in found["items"]
    }


async def until_counted(server: RunningServer, **counts: str) -> None:
    """Until the nodes say so."""
    await asyncio.to_thread(wait_until, lambda: read_counts(server) == counts)


@pytest.mark.slow
def test_pods_are_counted_on_their_nodes_across_a_restart_of_the_server(tmp_path: Path) -> None:
    arguments = ("--data", str(tmp_path / "data"), "--port", str(free_port()))

    async def scenario() -> None:
        with serving(tmp_path, *arguments) as server:
            create(server, NODES, "n1")
            create(server, NODES, "n2")
            create_pod(server, "a", "n1")
            running = asyncio.ensure_future(load(EXAMPLE).main(str(server.kubeconfig)))
            await until_counted(server, n1="1", n2="0")
            create_pod(server, "b", "n1")
            await until_counted(server, n1="2", n2="0")
            await asyncio.to_thread(server.kill)
        with serving(tmp_path, *arguments) as server:
            server.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 0})
            create_pod(server, "c", "n2")
            await until_counted(server, n1="1", n2="1")
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    async def limited() -> None:
        async with asyncio.timeout(PATIENCE_S):
            await scenario()

    asyncio.run(limited())


def test_it_has_thirty_lines_of_code() -> None:
    text = EXAMPLE.read_text()
    after_imports = text[text.index("COUNT = ") :].splitlines()
    assert len([line for line in after_imports if line.strip()]) <= 30


def test_the_page_shows_lines_of_the_example_and_names_what_there_is() -> None:
    page = (EXAMPLES.parent / "docs" / "informers.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert textwrap.indent(blocks[0], "    ") in EXAMPLE.read_text()
    names: dict[str, Any] = {"ResourceType": ResourceType, "SharedInformer": SharedInformer}
    exec(compile(blocks[1], "docs/informers.md", "exec"), names)
    widget = names["Widget"](names["Metadata"]("a", "shop", "uid", "3", {"app": "web"}))
    names["widgets"].put(widget)
    assert names["widgets"].lister.of_namespace("shop").list({"app": "web"}) == [widget]
    rows = re.findall(r"^\| (`.+?) \|", page, re.MULTILINE)
    parts = re.findall(r"`(\w+)`", " ".join(rows))
    assert len(parts) > 8
    assert set(parts) <= set(podium.client.__all__)
