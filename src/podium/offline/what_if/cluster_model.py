"""Clusters in memory for scripts and notebooks: load one, ask, change it, run it, compare.

A model is a value: a cluster from files or from one that runs, a configuration and a seed. It never
changes; `with_...` gives another one. Every question is put to a new simulation, so questions do
not disturb each other, and the same model gives the same answer each time. Answers are records:
lists of flat dicts, which pandas and polars take as they are.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.files.bounded_files import read_input
from podium.offline.simulate.inputs import FieldValidation
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.pod_references import find_pod
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario, load_scenario
from podium.offline.sweeps.executors import LocalProcesses
from podium.offline.what_if.capacity import CapacityQuestion
from podium.offline.what_if.capacity_answer import room_node_records, room_records
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Change
from podium.offline.what_if.comparison import (
    DEFAULT,
    plan_seeds,
    require_configs,
    run_comparison,
)
from podium.offline.what_if.comparison_answer import (
    difference_records,
    metric_records,
    run_records,
)
from podium.offline.what_if.failures import fail_each_node, fail_each_zone
from podium.offline.what_if.node_selection import prices_of
from podium.offline.what_if.node_shapes import (
    NodePurchase,
    mix_records,
    nodes_of,
    read_shapes,
)
from podium.offline.what_if.optimum import (
    DEFAULT_TIME_LIMIT_S,
    OptimumQuestion,
    cluster_without_pending,
    find_optimum,
)
from podium.offline.what_if.optimum_answer import measure_records, placement_records
from podium.offline.what_if.pod_templates import (
    TemplatePod,
    require_templates,
    split_templates,
    templates_of,
)
from podium.offline.what_if.rebalance import RebalanceQuestion, find_rebalance, fresh_simulations
from podium.offline.what_if.rebalance_answer import goal_record, step_records
from podium.offline.what_if.rebalance_goals import Goal
from podium.offline.what_if.records import (
    Record,
    change_records,
    failure_records,
    node_records,
    pod_records,
    summarise,
)
from podium.offline.what_if.run_matrix import NamedConfiguration, NamedInput, RunMatrix, RunPlace
from podium.offline.what_if.run_metrics import choose_yardstick
from podium.offline.what_if.utilisation_limit import NO_LIMIT, parse_limit
from podium.scheduler.config.load import load_configuration, load_file
from podium.scheduler.framework.asking import Asker
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import Equipped, equip


@dataclass(frozen=True, slots=True)
class ClusterModel:
    """Made by `load_cluster` and `read_live_cluster`."""

    scenario: Scenario
    equipped: Equipped
    gates: FeatureGates
    seed: int = 0

    # other models

    def with_config(self, config: str = "", plugins: Sequence[str] = ()) -> "ClusterModel":
        """The same cluster under another configuration file; "" is kube-scheduler's defaults."""
        return dataclasses.replace(self, equipped=equip_model(config, plugins, self.gates))

    def with_seed(self, seed: int) -> "ClusterModel":
        """The same with other choices between equal nodes."""
        return dataclasses.replace(self, seed=seed)

    def without_pending(self) -> "ClusterModel":
        """The same without pods that wait for a node."""
        return dataclasses.replace(self, scenario=dataclasses.replace(self.scenario, pending=()))

    # questions

    def run(self) -> "Run":
        """Place the pending pods, as `podium simulate` does."""
        with self._open_simulation() as (simulation, ask):
            report = simulation.run(ask=ask)
            return Run(tuple(pod_records(report)), tuple(node_records(report)), summarise(report))

    def capacity(self, *of: str, until: str = "") -> "Capacity":
        """How many more copies fit of the pods from files that no server has stored, or of those
        that `of` names (`web-0`, `deployment/web`); `until` as `podium capacity` has it."""
        templates, scenario = self._templates(of)
        limit = parse_limit(until) if until else NO_LIMIT
        with self._open_simulation(scenario) as (simulation, ask):
            simulation.run(ask=ask)
            question = CapacityQuestion(simulation.engine, scenario.objects, ask, limit)
            alone = [question.alone(template) for template in templates]
            together = question.together(templates) if len(templates) > 1 else alone
        return Capacity(tuple(room_records(alone, together)), tuple(room_node_records(alone)))

    def nodes_to_add(self, wanted: int, shapes: str, of: str = "") -> list[Record]:
        """The cheapest mix of the shapes in a file with which so many copies fit, one record a
        shape; none if enough fit already. Raises InputError if no mix makes enough room."""
        templates, scenario = self._templates((of,) if of else ())
        offered = read_shapes(nodes_of(shapes, self.gates))
        if len(templates) > 1:
            raise InputError("nodes are added for one pod", remedy="name it with of=")
        with self._open_simulation(scenario) as (simulation, ask):
            simulation.run(ask=ask)
            question = CapacityQuestion(simulation.engine, scenario.objects, ask)
            if question.fits_at_least(templates[0], wanted) >= wanted:
                return []
            daemons = NodeDaemons(scenario, self.gates)
            buying = NodePurchase(simulation.engine, question, daemons.pods_for)
            mix = buying.find(templates[0], wanted, offered)
        if mix is None:
            raise InputError(f"no mix of {shapes} makes room for {wanted} of {templates[0].name}")
        return mix_records(mix, offered)

    def what_if(self, *changes: Change) -> list[Record]:
        """What changes would do, made in order: a record for each pod that something happens to."""
        with self._apply_changes(changes) as (_, changed):
            return change_records(changed.consequences())

    def each_node(self, *changes: Change) -> list[Record]:
        """Every node failing by itself, after the changes, a record each."""
        with self._apply_changes(changes) as (simulation, _):
            return failure_records(fail_each_node(simulation, self.scenario))

    def each_zone(self, *changes: Change) -> list[Record]:
        """Every zone failing by itself, after the changes, a record each."""
        with self._apply_changes(changes) as (simulation, _):
            return failure_records(fail_each_zone(simulation, self.scenario))

    def compare(
        self,
        *configs: str,
        seeds: int = 1,
        jobs: int = 1,
        plugins: Sequence[str] = (),
        typical_pod: str = "",
        prices: Sequence[str] = (),
    ) -> "Comparison":
        """The pending pods under several configuration files, "default" for the defaults, as
        `podium compare` has it. `jobs` are processes, 0 for one a core; scripts that ask for
        several need the guard of `__main__`."""
        require_configs(configs)
        yardstick = choose_yardstick(self.scenario, self.gates, typical_pod, prices)
        matrix = RunMatrix(
            (NamedInput("", self.scenario, yardstick),),
            tuple(self._load_configuration(config, plugins) for config in configs),
            self.gates,
            plan_seeds(self.seed, seeds, jobs),
        )
        answer = run_comparison(matrix, RunPlace(LocalProcesses(jobs))).answer
        return Comparison(
            tuple(metric_records(answer)),
            tuple(run_records(answer)),
            tuple(difference_records(answer)),
        )

    def optimum(
        self,
        objective: str = "pods",
        *,
        time_limit_s: float = DEFAULT_TIME_LIMIT_S,
        prices: Sequence[str] = (),
    ) -> "Optimum":
        """How good the scheduler's placement of the pending pods is, as `podium optimum` has it.
        Raises InputError where the solver is not installed."""
        priced = prices_of(self.scenario.nodes, prices)
        with self._open_simulation() as (simulation, ask):
            report = simulation.run(ask=ask)
            alone = cluster_without_pending(self.scenario, simulation)
        with self._open_simulation(alone) as (simulation, ask):
            simulation.run(ask=ask)
            question = OptimumQuestion(objective, time_limit_s, priced)
            answer = find_optimum(simulation.engine, report, question)
        return Optimum(
            tuple(measure_records(answer)),
            tuple(placement_records(answer)),
            answer.proven,
            answer.checked,
            answer.bound_ignores,
        )

    def rebalance(
        self,
        goal: Goal,
        *,
        max_moves: int | None = None,
        delete_emptydir_data: bool = False,
        time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    ) -> "Rebalance":
        """The fewest moves that reach a goal, as `podium rebalance` has it. Raises InputError where
        the solver is not installed."""
        question = RebalanceQuestion(goal, max_moves, delete_emptydir_data, time_limit_s)
        with fresh_simulations(self.scenario, self.equipped, self.gates, self.seed) as begin:
            answer = find_rebalance(begin, self.scenario, question)
        return Rebalance(goal_record(answer), tuple(step_records(answer)), answer.commands)

    def _load_configuration(self, config: str, plugins: Sequence[str]) -> NamedConfiguration:
        file = "" if config == DEFAULT else config
        equipped = equip_model(file, plugins, self.gates)
        return NamedConfiguration(config, equipped.configuration, tuple(plugins))

    def _templates(self, of: Iterable[str]) -> tuple[list[TemplatePod], Scenario]:
        named = list(of)
        if named:
            found = [find_pod(self.scenario, reference).pod for reference in named]
            return templates_of(found), self.scenario
        templates, pending, _ = split_templates(self.scenario)
        require_templates(templates)
        return templates, dataclasses.replace(self.scenario, pending=tuple(pending))

    @contextmanager
    def _apply_changes(
        self, changes: Iterable[Change]
    ) -> Iterator[tuple[Simulation, ChangedCluster]]:
        with self._open_simulation() as (simulation, ask):
            simulation.run(ask=ask)
            changed = ChangedCluster(simulation, self.scenario)
            for change in changes:
                changed.apply(change)
            yield simulation, changed

    @contextmanager
    def _open_simulation(
        self, scenario: Scenario | None = None
    ) -> Iterator[tuple[Simulation, Asker | None]]:
        configuration, registry, _ = self.equipped
        simulation = Simulation(
            scenario or self.scenario, configuration, registry, seed=self.seed, gates=self.gates
        )
        with asker_of(simulation.engine) as ask:
            yield simulation, ask


@dataclass(frozen=True, slots=True)
class Run:
    """Where pods go: a record for each pending pod and for each node, and figures of the whole."""

    pods: tuple[Record, ...]
    nodes: tuple[Record, ...]
    summary: Record


@dataclass(frozen=True, slots=True)
class Comparison:
    """Configurations on the same pods: a record for each of them and metric, for each run, and for
    each pod that one of them treats differently from the first."""

    metrics: tuple[Record, ...]
    runs: tuple[Record, ...]
    pods: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best placement beside the scheduler's: a record for each measure and for each pod, and
    whether no placement is better, whether the scheduler's filters let every pod of it in, and what
    the bound leaves out."""

    measures: tuple[Record, ...]
    pods: tuple[Record, ...]
    proven: bool
    checked: bool
    bound_ignores: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Moves that reach a goal: what they come to, a record for each move, and all commands."""

    summary: Record
    moves: tuple[Record, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many copies fit: a record for each pod, and one for each pod and node."""

    pods: tuple[Record, ...]
    nodes: tuple[Record, ...]


def load_cluster(
    *paths: str,
    config: str = "",
    plugins: Sequence[str] = (),
    feature_gates: Mapping[str, bool] | None = None,
    seed: int = 0,
    validation: str = "strict",
) -> ClusterModel:
    """A cluster and pods from files, directories and kubectl dumps. Raises InputError."""
    gates = FeatureGates().with_overrides(feature_gates or {})
    equipped = equip_model(config, plugins, gates)
    scenario = load_scenario(
        paths, gates=gates, validation=FieldValidation(validation), watched=equipped.watched_kinds
    )
    return ClusterModel(scenario, equipped, gates, seed)


def compare_runs(first: Run, second: Run) -> list[Record]:
    """Pods that the two runs treat differently, a record each."""
    others = {(pod["namespace"], pod["name"]): pod for pod in second.pods}
    found: list[Record] = []
    for pod in first.pods:
        other = others.get((pod["namespace"], pod["name"]))
        if other is not None and (pod["node"], pod["outcome"]) != (other["node"], other["outcome"]):
            found.append(
                {
                    "namespace": pod["namespace"],
                    "name": pod["name"],
                    "first_node": pod["node"],
                    "second_node": other["node"],
                    "first_outcome": pod["outcome"],
                    "second_outcome": other["outcome"],
                }
            )
    return found


def equip_model(config: str, plugins: Sequence[str], gates: FeatureGates) -> Equipped:
    """A configuration file and plugins of one's own; raises InputError."""
    configuration = (
        load_file(read_input(config), source=config, gates=gates)
        if config
        else load_configuration(None, gates=gates)
    )
    return equip(configuration, in_tree_registry(), plugins)
