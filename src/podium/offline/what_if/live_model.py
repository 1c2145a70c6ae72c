"""A model of a cluster that runs: one snapshot of it is read, and nothing is ever written.

Reading waits for the network, in a thread of its own: notebooks have an event loop running already.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.scenario import load_scenario
from podium.offline.what_if.cluster_model import ClusterModel, equip_model


def read_live_cluster(
    *paths: str,
    kubeconfig: str = "",
    context: str = "",
    config: str = "",
    plugins: Sequence[str] = (),
    feature_gates: Mapping[str, bool] | None = None,
    seed: int = 0,
) -> ClusterModel:
    """The cluster of a kubeconfig, as kubectl finds it; files are what would be applied to it.
    Raises InputError."""
    # A client is loaded when a cluster is read.
    from podium.client.connection import find_context
    from podium.offline.simulate.live_cluster import (
        LiveCluster,
        fetch_snapshot,
        listings_for,
        refusals_told,
    )

    gates = FeatureGates().with_overrides(feature_gates or {})
    equipped = equip_model(config, plugins, gates)
    found = find_context(kubeconfig, context)
    server = found.settings.cluster.server
    listings = listings_for(gates, equipped.watched_kinds, with_files=bool(paths))
    with refusals_told(found.settings.cluster), ThreadPoolExecutor(1) as thread:
        snapshot = thread.submit(asyncio.run, fetch_snapshot(found.settings, listings)).result()
    live = LiveCluster.of(server, snapshot, equipped.watched_kinds)
    if live.missing:
        raise InputError(live.missing, source=server)
    scenario = load_scenario(
        paths,
        gates=gates,
        namespace=found.namespace or "default",
        stored=live.objects,
        unread=live.unread_kinds,
        watched=equipped.watched_kinds,
    )
    scenario = dataclasses.replace(scenario, notes=(*live.notes, *scenario.notes))
    return ClusterModel(scenario, equipped, gates, seed)
