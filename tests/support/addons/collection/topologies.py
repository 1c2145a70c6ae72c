"""NodeResourceTopologies in a few words."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from podium.addons.collection.node_resource_topology.topologies import NodeResourceTopology

GIB = 1 << 30


def topology(
    name: str,
    *zones: Mapping[str, Any],
    policy: str = "single-numa-node",
    scope: str = "container",
    costs: Sequence[Sequence[int]] | None = None,
    attributes: Mapping[str, str] | None = None,
    **fields: Any,
) -> NodeResourceTopology:
    """Zones are what is available in each; `costs` are distances, zone by zone."""
    given = {"topologyManagerPolicy": policy, "topologyManagerScope": scope, **(attributes or {})}
    raw = {
        "metadata": {"name": name},
        "attributes": [{"name": key, "value": value} for key, value in given.items()],
        "zones": [
            {
                "name": f"node-{number}",
                "type": "Node",
                "costs": [
                    {"name": f"node-{other}", "value": value}
                    for other, value in enumerate(costs[number] if costs else ())
                ],
                "resources": [
                    {"name": key, "capacity": value, "allocatable": value, "available": value}
                    for key, value in zone.items()
                ],
            }
            for number, zone in enumerate(zones)
        ],
        **fields,
    }
    return msgspec.convert(raw, NodeResourceTopology)


def container(**requests: Any) -> dict[str, Any]:
    """A container that limits what it requests."""
    return {
        "name": "c",
        "image": "app:v1",
        "resources": {"requests": requests, "limits": requests},
    }
