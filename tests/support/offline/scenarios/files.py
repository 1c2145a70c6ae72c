"""Scenario files in tests: a small one, with parts exchanged."""

from typing import Any

import yaml

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioFile, ScenarioRun, run_scenario
from podium.offline.scenarios.scenario_file import read_scenario_file
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry

CONFIGURATION = load_configuration(
    {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"},
    gates=FeatureGates(),
)
WORKERS = {"name": "workers", "count": 2, "allocatable": {"cpu": 4, "memory": "8Gi"}}
WEB = {
    "name": "web",
    "arrivals": {"poisson": {"rate": "30/h"}},
    "runTime": {"constant": "10m"},
    "workloads": [{"name": "pod", "requests": {"cpu": 1}}],
}


def document(**spec: Any) -> dict[str, Any]:
    fields = {"duration": "6h", "cluster": {"pools": [WORKERS]}, "tenants": [WEB], **spec}
    return {
        "apiVersion": "podium.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "test"},
        "spec": fields,
    }


def read(folder: str = "", gates: FeatureGates | None = None, **spec: Any) -> ScenarioFile:
    text = yaml.safe_dump(document(**spec), sort_keys=False)
    gates = gates or FeatureGates()
    return read_scenario_file(text.encode(), "test.yaml", folder, gates=gates)


def run(scenario: ScenarioFile, **more: Any) -> ScenarioRun:
    more = {"keeps_pods": True, "gates": FeatureGates(), **more}
    return run_scenario(scenario, CONFIGURATION, in_tree_registry(), **more)
