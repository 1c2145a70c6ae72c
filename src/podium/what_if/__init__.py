"""Questions about a cluster that is not there: how much more fits, what a change would do.

Everything is asked of the scheduling engine on a cluster in memory (`podium.simulator`); nothing is
estimated and nothing real is touched. What is named here is for scripts and notebooks and stays
from release to release (docs/python-api.md).
"""

from podium.golang.errors import InputError
from podium.what_if.changes import (
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
from podium.what_if.cluster_model import (
    Capacity,
    ClusterModel,
    Comparison,
    Optimum,
    Rebalance,
    Run,
    compare_runs,
    load_cluster,
)
from podium.what_if.live_model import read_live_cluster
from podium.what_if.node_shapes import load_nodes
from podium.what_if.rebalance_goals import FitPending, FreeNodes, LimitSkew
from podium.what_if.scenario_model import ScenarioAnswer, ScenarioModel, load_timed_scenario

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
