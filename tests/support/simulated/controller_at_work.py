"""A controller by name in a cluster with one node: prints the node's labels once it has set one."""

import json
import sys

from support.simulated.simulated_clusters import Cluster, in_cluster

from podium.client.resources import NODES
from podium.simulated.controller_registry import ALL


def main(controller: str, label: str) -> None:
    async def see_label(cluster: Cluster) -> None:
        async def has_label() -> bool:
            return label in (await labels_of(cluster))

        await cluster.until(has_label)
        print(json.dumps({"labels": await labels_of(cluster), "known": ALL}))

    in_cluster(see_label, nodes=1, controllers=(controller,))


async def labels_of(cluster: Cluster) -> dict[str, str]:
    (node,) = await cluster.all(NODES)
    found: dict[str, str] = node["metadata"]["labels"]
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
