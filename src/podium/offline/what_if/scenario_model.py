"""Scenario files from Python: a week under one configuration, or the same weeks under several.

A model is a value, as those of clusters are (`cluster_model.py`): a file, a configuration and a
seed. Answers are records, under the contract of `records.py`.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from podium.golang.errors import InputError, ObjectError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioFile, ScenarioRun, find_scenario, run_scenario
from podium.offline.scenarios.run_times import parse_positive_duration
from podium.offline.what_if.cluster_model import Comparison, equip_model
from podium.offline.what_if.comparison import DEFAULT, plan_seeds, require_configs
from podium.offline.what_if.comparison_answer import metric_records, run_records
from podium.offline.what_if.records import Record
from podium.offline.what_if.scenario_runs import compare_scenario
from podium.user_code.plugins import Equipped


@dataclass(frozen=True, slots=True)
class ScenarioAnswer:
    """A run: its metrics by name, and records of workloads, of samples over time and of pods."""

    metrics: dict[str, float]
    workloads: tuple[Record, ...]
    samples: tuple[Record, ...]
    pods: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class ScenarioModel:
    """`seed` None is the file's own."""

    file: ScenarioFile
    equipped: Equipped
    gates: FeatureGates
    seed: int | None = None

    def with_config(self, config: str = "", plugins: Sequence[str] = ()) -> "ScenarioModel":
        """The same scenario under another configuration file; "" is kube-scheduler's defaults."""
        return dataclasses.replace(self, equipped=equip_model(config, plugins, self.gates))

    def with_seed(self, seed: int) -> "ScenarioModel":
        return dataclasses.replace(self, seed=seed)

    def run(self, *, until: str = "", scale: float = 1.0) -> ScenarioAnswer:
        """Run it, to the end or `until` such as 2d; raises InputError."""
        ran = run_scenario(
            self.file,
            self.equipped.configuration,
            self.equipped.registry,
            seed=self.seed,
            gates=self.gates,
            until_s=_read_until(until),
            scale=scale,
            keeps_pods=True,
        )
        return ScenarioAnswer(
            ran.metrics, tuple(_workloads(ran)), tuple(_samples(ran)), tuple(_pods(ran))
        )

    def compare(
        self,
        *configs: str,
        seeds: int = 1,
        plugins: Sequence[str] = (),
        until: str = "",
        scale: float = 1.0,
    ) -> Comparison:
        """The same scenario under configuration files, `default` among them, with as many seeds
        from the model's own on; `pods` of the answer is empty. Raises InputError."""
        require_configs(configs)
        first = self.file.seed if self.seed is None else self.seed
        planned = plan_seeds(first, seeds, 1)
        equipped = [
            (name, equip_model("" if name == DEFAULT else name, plugins, self.gates))
            for name in configs
        ]
        answer = compare_scenario(
            self.file, equipped, self.gates, planned, until_s=_read_until(until), scale=scale
        )
        return Comparison(tuple(metric_records(answer)), tuple(run_records(answer)), ())


def load_timed_scenario(
    path: str,
    *,
    config: str = "",
    plugins: Sequence[str] = (),
    seed: int | None = None,
) -> ScenarioModel:
    """A scenario file, or the name of one that comes with Podium; raises InputError."""
    file = find_scenario(path, gates=FeatureGates())
    gates = FeatureGates().with_overrides(file.feature_gates)
    return ScenarioModel(file, equip_model(config, plugins, gates), gates, seed)


def _read_until(text: str) -> float | None:
    try:
        return parse_positive_duration(text, "until") if text else None
    except ObjectError as problem:
        raise InputError(problem.problem, path="until", remedy=problem.remedy) from None


def _workloads(ran: ScenarioRun) -> list[Record]:
    return [
        {
            "workload": each.workload,
            "arrived": each.arrived,
            "placed": each.placed,
            "finished": each.finished,
            "running": each.running,
            "pending": each.pending,
            "gone": each.gone,
            "evictions": each.evictions,
            "node_losses": each.node_losses,
            "wait_p50_s": each.wait_s(50),
            "wait_p99_s": each.wait_s(99),
        }
        for each in ran.workloads
    ]


def _samples(ran: ScenarioRun) -> list[Record]:
    resources = sorted({name for each in ran.report.samples for name in each.utilisation})
    return [
        {
            "at_s": each.at_s,
            "nodes": each.nodes,
            "pending": each.pending,
            "running": each.running,
            **{f"{name}_share": each.utilisation.get(name, 0.0) for name in resources},
        }
        for each in ran.report.samples
    ]


def _pods(ran: ScenarioRun) -> list[Record]:
    found: list[Record] = []
    for pod in ran.report.pods:
        namespace, _, name = pod.key.partition("/")
        found.append(
            {
                "namespace": namespace,
                "name": name,
                "workload": pod.workload,
                "state": pod.state.value,
                "arrived_s": pod.arrived_s,
                "first_attempt_s": pod.first_attempt_s,
                "bound_s": pod.bound_s,
                "waited_s": pod.waited_s,
                "node": pod.node or None,
                "ended_s": pod.ended_s,
                "evictions": pod.evictions,
                "node_losses": pod.node_losses,
                "reason": pod.reason or None,
            }
        )
    return found
