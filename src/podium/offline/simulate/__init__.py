"""The offline driver: a cluster from files, the engine on it, and what came of it."""

from podium.offline.simulate.input_files import InputProblems
from podium.offline.simulate.inputs import FieldValidation
from podium.offline.simulate.report import ExplainedPod, PodOutcome, PodResult, SimulationReport
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario, load_scenario

__all__ = [
    "ExplainedPod",
    "FieldValidation",
    "InputProblems",
    "PodOutcome",
    "PodResult",
    "Scenario",
    "Simulation",
    "SimulationReport",
    "load_scenario",
]
