"""The offline driver: a cluster from files, the engine on it, and what came of it."""

from podium.simulator.explained_pod import ExplainedPod
from podium.simulator.inputs import Validation
from podium.simulator.problems import InputProblems
from podium.simulator.report import Outcome, PodResult, Report
from podium.simulator.run import Simulation, find_pods
from podium.simulator.scenario import Scenario, load_scenario

__all__ = [
    "ExplainedPod",
    "InputProblems",
    "Outcome",
    "PodResult",
    "Report",
    "Scenario",
    "Simulation",
    "Validation",
    "find_pods",
    "load_scenario",
]
