"""A whole cluster without sockets: an API server in memory with simulated nodes and controllers.

    async with embedded_cluster(SimulatedClusterOptions(...)) as cluster:
        await cluster.client.create(...)

A room of its own, because it takes a second to load and few tests need it.
"""

from podium.processes.embedded_cluster import EmbeddedCluster, embedded_cluster
from podium.simulated.cluster import SimulatedClusterOptions

__all__ = ["EmbeddedCluster", "SimulatedClusterOptions", "embedded_cluster"]
