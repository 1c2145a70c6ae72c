"""Questions about a cluster that is not there: how much more fits, what a change would do.

Everything is asked of the scheduling engine on a cluster in memory (`podium.offline.simulate`);
nothing is estimated and nothing real is touched. What is named here is for scripts and notebooks
and stays from release to release (docs/python-api.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from podium.golang.errors import InputError
    from podium.offline.what_if.changes import (
        AddNodes,
        Cordon,
        Drain,
        Fail,
        Remove,
        Scale,
        SetTaint,
        ZoneOutage,
        parse_taint,
    )
    from podium.offline.what_if.cluster_model import (
        Capacity,
        ClusterModel,
        Comparison,
        Optimum,
        Rebalance,
        Run,
        compare_runs,
        load_cluster,
    )
    from podium.offline.what_if.live_model import read_live_cluster
    from podium.offline.what_if.node_shapes import load_nodes
    from podium.offline.what_if.rebalance_goals import FitPending, FreeNodes, LimitSkew
    from podium.offline.what_if.scenario_model import (
        ScenarioAnswer,
        ScenarioModel,
        load_timed_scenario,
    )

__all__ = [
    "AddNodes",
    "Capacity",
    "ClusterModel",
    "Comparison",
    "Cordon",
    "Drain",
    "Fail",
    "FitPending",
    "FreeNodes",
    "InputError",
    "LimitSkew",
    "Optimum",
    "Rebalance",
    "Remove",
    "Run",
    "Scale",
    "ScenarioAnswer",
    "ScenarioModel",
    "SetTaint",
    "ZoneOutage",
    "compare_runs",
    "load_cluster",
    "load_nodes",
    "load_timed_scenario",
    "parse_taint",
    "read_live_cluster",
]

_MODULES: Final = {
    "podium.golang.errors": ("InputError",),
    "podium.offline.what_if.changes": (
        "AddNodes",
        "Cordon",
        "Drain",
        "Fail",
        "Remove",
        "Scale",
        "SetTaint",
        "ZoneOutage",
        "parse_taint",
    ),
    "podium.offline.what_if.cluster_model": (
        "Capacity",
        "ClusterModel",
        "Comparison",
        "Optimum",
        "Rebalance",
        "Run",
        "compare_runs",
        "load_cluster",
    ),
    "podium.offline.what_if.live_model": ("read_live_cluster",),
    "podium.offline.what_if.node_shapes": ("load_nodes",),
    "podium.offline.what_if.rebalance_goals": (
        "FitPending",
        "FreeNodes",
        "LimitSkew",
    ),
    "podium.offline.what_if.scenario_model": (
        "ScenarioAnswer",
        "ScenarioModel",
        "load_timed_scenario",
    ),
}
"""Where the names are. A module is loaded when one of its names is requested: whoever imports one
module of this package pays for no other."""


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
