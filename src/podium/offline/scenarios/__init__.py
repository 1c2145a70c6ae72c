"""Scenario files: days of arrivals, failures and scaling, run on the virtual clock.

A file says which pods arrive when and for how long, on which nodes, what fails and who adds nodes;
`run_scenario` runs it under one configuration with one seed and measures it.
"""

from podium.offline.scenarios.running import ScenarioRun, run_scenario
from podium.offline.scenarios.scenario_file import (
    ScenarioFile,
    find_scenario,
    list_ready_scenarios,
    load_scenario_file,
)

__all__ = [
    "ScenarioFile",
    "ScenarioRun",
    "find_scenario",
    "list_ready_scenarios",
    "load_scenario_file",
    "run_scenario",
]
