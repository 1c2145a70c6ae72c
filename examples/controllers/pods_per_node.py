"""Writes on each node how many pods it has: a controller in thirty lines.

python examples/controllers/pods_per_node.py [kubeconfig]
"""

import asyncio
import sys
from typing import Any

from podium.client import (
    ControlLoop,
    ResourceEventHandlerFuncs,
    SharedInformerFactory,
    connect,
    last_state,
)
from podium.client.resources import NODES, PODS

COUNT = "example.com/pods"


def nodes_of(pod: Any) -> list[str]:
    name = pod.get("spec", {}).get("nodeName")
    return [name] if name else []


async def main(kubeconfig: str = "") -> None:
    async with connect(kubeconfig) as client, SharedInformerFactory(client) as factory:
        nodes, pods = factory.informer(NODES, dict), factory.informer(PODS, dict)
        by_node = pods.indexer.add_index("node", nodes_of)

        async def reconcile(name: str) -> None:
            node, count = nodes.lister.get(name), str(len(by_node.of(name)))
            if node and node["metadata"].get("annotations", {}).get(COUNT) != count:
                await client.patch(NODES, name, {"metadata": {"annotations": {COUNT: count}}})

        loop = ControlLoop("pods-per-node", reconcile)

        def wake_node(*versions: Any) -> None:
            loop.queue.add(versions[-1]["metadata"]["name"])

        def wake_nodes_of(*versions: Any) -> None:
            for name in {name for pod in versions for name in nodes_of(last_state(pod))}:
                loop.queue.add(name)

        nodes.add_event_handler(ResourceEventHandlerFuncs(add=wake_node, update=wake_node))
        told = ResourceEventHandlerFuncs(wake_nodes_of, wake_nodes_of, wake_nodes_of)
        pods.add_event_handler(told)
        await factory.wait_for_cache_sync()
        await loop.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
