"""The controller of docs/informers.md works, and the page names files that are there."""

import asyncio
import re
from pathlib import Path
from typing import Any

from support.live.virtual_loop import run_virtually

from podium.client import DeleteOptions
from podium.client.resources import PODS
from podium.processes.embedded_cluster import embedded_cluster
from podium.simulated_cluster import SimulatedClusterOptions

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "informers.md").read_text()


def test_the_controller_of_the_page_is_given_the_key_of_each_change() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "documented"}
    exec(compile(code, "docs/informers.md", "exec"), names)
    heard: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        options = SimulatedClusterOptions(nodes=(), controllers=())
        async with embedded_cluster(options, wall=lambda: 1.8e9 + loop.time(), seed=1) as cluster:
            client = cluster.client
            spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
            await client.create(PODS, body, "default")
            changes = names["changes_of_pods"](client)
            heard.append(await anext(changes))
            await client.delete(PODS, "web", "default", options=DeleteOptions(grace_period_s=0))
            while not heard[-1].endswith("is gone"):
                heard.append(await anext(changes))
            await changes.aclose()

    run_virtually(main())
    assert heard[0] == "default/web on n1"
    assert heard[-1] == "default/web is gone"


def test_files_that_the_page_names_are_there() -> None:
    named = re.findall(r"\b(?:client|live|engine|simulated_cluster)/[\w/]+\.py", PAGE)
    assert len(named) > 6
    for name in named:
        assert (ROOT / "src" / "podium" / name).exists(), name
