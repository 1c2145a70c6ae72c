"""A scheduler with GPUShare that plans of moves are checked with, and plans of small clusters."""

from collections.abc import Sequence

from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.packing.defragmentation import Defragmenter
from podium.addons.gpu.packing.moves import Defragmentation, MoveTable
from podium.commands.gpu_defrag_moves import SimulatedMoves
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip

PACKING = {"nodePolicy": "binpack", "cardPolicy": "binpack"}


def asked_scheduler(
    nodes: Sequence[Node], pods: Sequence[Pod], now: float, args: dict[str, str] | None = None
) -> SimulatedMoves:
    ignored = ["nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"]
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"multiPoint": {"enabled": [{"name": "GPUShare", "weight": 10}]}},
        "pluginConfig": [
            {
                "name": "GPUShare",
                "args": {"dialect": "hami", **(PACKING if args is None else args)},
            },
            {"name": "NodeResourcesFit", "args": {"ignoredResources": ignored}},
        ],
    }
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    equipped = equip(load_configuration(raw, gates=FeatureGates()), in_tree_registry(), ())
    running = tuple(pod for pod in pods if pod.spec.node_name)
    pending = tuple(pod for pod in pods if not pod.spec.node_name)
    scenario = Scenario(tuple(nodes), running, pending)
    return SimulatedMoves(
        scenario,
        equipped.configuration,
        equipped.registry,
        find_dialect("hami"),
        now,
        gates=FeatureGates(),
    )


def checked_plan(
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    now: float,
    *budgets: PodDisruptionBudget,
    free: int | None = None,
    max_moves: int = 10,
    args: dict[str, str] | None = None,
) -> Defragmentation:
    """A plan of which each step was carried out by the scheduler."""
    scheduler = asked_scheduler(nodes, pods, now, args)
    table = MoveTable(find_dialect("hami"), nodes, pods, now, read_request=scheduler.read_request)
    return Defragmenter(table, budgets, scheduler).plan(free, max_moves)
