"""The corpus of pending pods as input of commands: files, and a simulation of one entry alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.scheduler.explain.pending_corpus import PendingPod

from podium.commands.preparation import PreparedSimulation, only, prepare_simulation
from podium.commands.simulation_options import SimulationOptions
from podium.offline.simulate import Scenario


def write_list(path: Path, items: Sequence[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return str(path)


def prepare_entry(
    entry: PendingPod, cluster: str, folder: Path
) -> tuple[PreparedSimulation, Scenario]:
    """Everything about an entry, and the scenario in which its pod is the only one that waits."""
    pods = write_list(folder / "pods.json", [*entry.extra, entry.pod])
    config = plugin = None
    if entry.plugin:
        path = folder / f"rule_of_{entry.name.replace('-', '_')}.py"
        path.write_text(entry.plugin)
        plugin = [str(path)]
    if entry.config:
        config = str(folder / "scheduler.yaml")
        Path(config).write_text(entry.config)
    prepared = prepare_files([cluster, pods], config, entry.gates, plugin)
    return prepared, only(prepared.scenario, prepared.require_pod(entry.key))


def prepare_files(
    paths: Sequence[str],
    config: str | None = None,
    gates: str = "",
    plugin: Sequence[str] | None = None,
) -> PreparedSimulation:
    chosen = SimulationOptions(
        config=config,
        feature_gates=[gates] if gates else None,
        plugin=list(plugin) if plugin else None,
    )
    return prepare_simulation(paths, chosen)
