"""The scheduler that `podium gpu defrag` asks about its moves: the one of a file, or GPUShare added
to kube-scheduler's defaults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from podium.commands.options import read_configuration
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates

if TYPE_CHECKING:
    from podium.addons.gpu.dialects.dialect import Dialect
    from podium.commands.gpu_defrag_moves import SimulatedMoves
    from podium.commands.gpu_reading import GPUCluster
    from podium.scheduler.config.types import Configuration


GPU_WEIGHT = 10
"""Of GPUShare's scores if nobody says more: packing is to count more than the rest."""


@contextmanager
def simulated_moves(
    path: str | None, cluster: GPUCluster, dialect: Dialect
) -> Iterator[SimulatedMoves]:
    """Raises InputError."""
    from podium.commands.gpu_defrag_moves import SimulatedMoves
    from podium.offline.simulate.outside_code import asker_of
    from podium.scheduler.config.errors import ConfigurationError
    from podium.scheduler.plugins import in_tree_registry
    from podium.user_code.plugins import equip

    if path is None:
        configuration = default_configuration(cluster, dialect)
    else:
        configuration = read_configuration(path, FeatureGates())
    equipped = equip(configuration, in_tree_registry(), ())
    try:
        moves = SimulatedMoves(
            cluster.scenario,
            equipped.configuration,
            equipped.registry,
            dialect,
            cluster.now,
            gates=FeatureGates(),
        )
        _require_dialect(moves, dialect, path or "")
        with asker_of(moves.engine) as ask:
            moves.ask = ask
            yield moves
    except ConfigurationError as problem:
        raise problem.found_in(path or "") from problem.__cause__


def default_configuration(cluster: GPUCluster, dialect: Dialect) -> Configuration:
    """A profile for each scheduler that pods name, with GPUShare in the dialect of the nodes."""
    from podium.addons.gpu.plugin.gpu_share import GPUShare
    from podium.scheduler.config.load import load_configuration
    from podium.scheduler.config.types import API_VERSION, KIND

    announced = {name for node in cluster.nodes for name in node.status.allocatable or ()}
    silent = [name for name in dialect.resources if name not in announced]
    names = sorted({pod.spec.scheduler_name for pod in cluster.pods if pod.spec.scheduler_name})
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": GPUShare.name, "weight": GPU_WEIGHT}]}},
        "pluginConfig": [
            {"name": GPUShare.name, "args": {"dialect": dialect.name}},
            {"name": "NodeResourcesFit", "args": {"ignoredResources": silent}},
        ],
    }
    profiles = [{"schedulerName": name, **profile} for name in names or ["default-scheduler"]]
    return load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": profiles}, gates=FeatureGates()
    )


def _require_dialect(moves: SimulatedMoves, dialect: Dialect, source: str) -> None:
    from podium.addons.gpu.plugin.gpu_share import GPUShare

    spoken = {
        plugin.args.dialect
        for profile in moves.engine.profiles.values()
        if isinstance(plugin := profile.plugins.get(GPUShare.name), GPUShare)
    }
    if not spoken:
        raise InputError(
            "no profile has GPUShare, so it says nothing about cards",
            source=source,
            remedy="leave --config out for clusters with the GPU extender: it has the same rules",
        )
    if dialect.name not in spoken:
        told = ", ".join(sorted(spoken))
        raise InputError(
            f"GPUShare speaks {told} there, and the agents on the nodes {dialect.name}",
            source=source,
            remedy="choose with --dialect",
        )
