"""The offline driver: a cluster from files, the engine on it, and what came of it."""

from podium.simulator.explained_pod import ExplainedPod
from podium.simulator.inputs import Validation
from podium.simulator.problems import InputProblems
from podium.simulator.report import PodOutcome, PodResult, SimulationReport
from podium.simulator.run import Simulation
from podium.simulator.scenario import Scenario, load_scenario

__all__ = [
    "ExplainedPod",
    "InputProblems",
    "PodOutcome",
    "PodResult",
    "Scenario",
    "Simulation",
    "SimulationReport",
    "Validation",
    "load_scenario",
]
