"""From a command line to a simulation that is ready to run, the same way for every command.

Files, the cluster that runs, configuration, feature gates and plugins of one's own belong together:
a gate decides which arguments a configuration may have, a plugin which names it may use. Whatever
is wrong with any of them is told before anything runs.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podium.commands.feature_gate_flags import read_gates
from podium.commands.options import (
    limit_plugins,
    progress_bar,
    read_configuration,
    read_scenario,
    warn_of_unworkable,
)
from podium.commands.printing import print_line
from podium.commands.simulation_options import BY_DEFAULT, InputOptions, SimulationOptions
from podium.golang.errors import closest, did_you_mean
from podium.kubernetes.controllers.workloads import DaemonSet, Deployment, Job
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation, SimulationReport
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.pod_references import find_pod, read_reference
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.engine import Engine
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.events import WatchedKind, unique_kinds
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import GROUP, Equipped, equip

if TYPE_CHECKING:  # a client is loaded when a cluster is read
    from podium.client.connection import FoundContext
    from podium.offline.simulate.live_cluster import LiveCluster


@dataclass(frozen=True, slots=True)
class PreparedSimulation:
    """Everything that a simulation is made of; `config` is the name of the file, if there is
    one."""

    scenario: Scenario
    equipped: Equipped
    gates: FeatureGates
    config: str = ""
    seed: int = 0
    validate: bool = False
    live: "LiveCluster | None" = None
    namespace: str = ""
    """The only one that pods are looked for in."""
    current_namespace: str = ""
    """The one that pods are looked for in first."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What one should know beside the answer: about the cluster, and about plugins."""
        return (*(self.live.notes if self.live else ()), *self.equipped.notes)

    def require_pod(self, reference: str) -> Pod:
        """The pod that a user means; a choice that was made is told. Raises InputError."""
        found = find_pod(
            self.scenario, reference, self.namespace, self.current_namespace, self.gates
        )
        if found.note:
            print_line(f"podium: {found.note}", error=True)
        return found.pod

    def run(
        self,
        *,
        watch: Collection[str] = (),
        until: str = "",
        scenario: Scenario | None = None,
    ) -> SimulationReport:
        """Simulate, with a bar on terminals; `scenario` stands in for the one of the files."""
        with self.open_run(watch=watch, until=until, scenario=scenario) as (report, _, _):
            return report

    @contextmanager
    def open_run(
        self,
        *,
        watch: Collection[str] = (),
        until: str = "",
        scenario: Scenario | None = None,
        on_engine: Callable[[Engine], None] = lambda _: None,
    ) -> Iterator[tuple[SimulationReport, Engine, Asker | None]]:
        """The same for those who have questions afterwards: the report, the engine as it stands at
        the end, and who can ask its extenders. `on_engine` is given the engine before the run."""
        with self.open_simulation(
            watch=watch, until=until, scenario=scenario, on_engine=on_engine
        ) as (
            report,
            run,
            ask,
        ):
            yield report, run.engine, ask

    @contextmanager
    def open_simulation(
        self,
        *,
        watch: Collection[str] = (),
        until: str = "",
        scenario: Scenario | None = None,
        on_engine: Callable[[Engine], None] = lambda _: None,
    ) -> Iterator[tuple[SimulationReport, Simulation, Asker | None]]:
        """The same for those who go on with the simulation itself."""
        chosen = scenario or self.scenario
        simulation = self._simulation(chosen, watch)
        on_engine(simulation.engine)
        try:
            with asker_of(simulation.engine) as ask:
                with progress_bar("placing pods", len(chosen.pending)) as progress:
                    report = simulation.run(
                        until=until,
                        on_attempt=lambda: progress.advance(progress.task_ids[0]),
                        ask=ask,
                    )
                yield report, simulation, ask
        except ConfigurationError as problem:
            raise problem.found_in(self.config) from problem.__cause__

    def _simulation(self, scenario: Scenario, watch: Collection[str]) -> Simulation:
        configuration, registry, notes = self.equipped
        try:
            return Simulation(
                dataclasses.replace(scenario, notes=(*scenario.notes, *notes)),
                configuration,
                registry,
                seed=self.seed,
                gates=self.gates,
                watch=watch,
                validate=self.validate,
            )
        except ConfigurationError as problem:
            raise problem.found_in(self.config, self._remedy()) from problem.__cause__

    def _remedy(self) -> str:
        """What to do about a plugin that nobody knows, if there is one."""
        configuration, registry, _ = self.equipped
        for profile in configuration.profiles:
            for name in sorted(profile.plugins.enabled_names()):
                if name not in registry:
                    guess = did_you_mean(closest(name, list(registry)))
                    return guess or f"--plugin adds one, and so does the entry point group {GROUP}"
        return ""


WORKLOADS: Final = (
    WatchedKind(Deployment, "deployments", optional=True),
    WatchedKind(DaemonSet, "daemonsets", optional=True),
)
"""Kinds that say how pods are replaced, for those who ask what a changed template leads to."""
_TELL_PODS_WANTED: Final = {
    "DaemonSet": WatchedKind(DaemonSet, "daemonsets", optional=True),
    "Job": WatchedKind(Job, "jobs", optional=True),
}
"""Kinds that are read of a cluster only if somebody asks about one of them."""


def workload_kinds(reference: str, also: Sequence[WatchedKind] = ()) -> Sequence[WatchedKind]:
    """The kinds, and that of the workload that a reference names, for how many pods it wants."""
    found = _TELL_PODS_WANTED.get(read_reference(reference)[0])
    return also if found is None else unique_kinds((*also, found))


def prepare_simulation(
    paths: Sequence[str],
    options: SimulationOptions = BY_DEFAULT,
    also: Sequence[WatchedKind] = (),
) -> PreparedSimulation:
    """Read everything, and of a cluster that runs some kinds `also`; raises InputError."""
    return prepare_inputs([paths], options, [options.config], also)[0][0]


def prepare_simulations(
    paths: Sequence[str], options: SimulationOptions, configs: Sequence[str | None]
) -> list[PreparedSimulation]:
    """The same for several configurations, None for the defaults: all have one scenario, with the
    kinds that plugins of any of them watch."""
    return prepare_inputs([paths], options, configs)[0]


def prepare_inputs(
    inputs: Sequence[Sequence[str]],
    options: SimulationOptions,
    configs: Sequence[str | None],
    also: Sequence[WatchedKind] = (),
) -> list[list[PreparedSimulation]]:
    """The same for several inputs, each with all configurations."""
    cluster = options.cluster
    gates, equipped = equip_configurations(options, configs)
    watched = unique_kinds(kind for each in equipped for kind in each.watched_kinds)
    found: FoundContext | None = None
    live: LiveCluster | None = None
    if cluster.is_live(has_files=any(inputs)):
        from podium.commands.cluster_reading import read_cluster

        found = cluster.find()
        # Whoever asks about controllers asks about the pods that they make, which are admitted.
        makes_pods = any(inputs) or bool(also)
        live = read_cluster(found.settings, gates, (*watched, *also), with_files=makes_pods)
    prepared = []
    for paths in inputs:
        scenario = read_scenario(
            paths,
            options.validation,
            gates=gates,
            namespace=cluster.file_namespace(found),
            stored=live.objects if live is not None else (),
            unread=live.unread_kinds if live is not None else {},
            watched=watched,
            strict=options.strict,
        )
        if live is not None:
            scenario = dataclasses.replace(scenario, notes=(*live.notes, *scenario.notes))
        prepared.append(
            [
                PreparedSimulation(
                    scenario,
                    each,
                    gates,
                    config or "",
                    options.seed,
                    options.validate,
                    live,
                    cluster.namespace or "",
                    cluster.file_namespace(found) if found is not None else "",
                )
                for config, each in zip(configs, equipped, strict=True)
            ]
        )
    return prepared


def equip_configurations(
    options: InputOptions, configs: Sequence[str | None]
) -> tuple[FeatureGates, list[Equipped]]:
    """Feature gates, and every configuration under them; plugins have their time from now on."""
    gates = read_gates(options.feature_gates, strict=options.strict)
    limit_plugins(options.plugin_timeout)
    return gates, [equip_configuration(config, options, gates) for config in configs]


def equip_configuration(config: str | None, options: InputOptions, gates: FeatureGates) -> Equipped:
    """A configuration, None for the defaults, with the plugins that it is run with."""
    configuration = read_configuration(config, gates, strict=options.strict)
    equipped = equip(configuration, in_tree_registry(), options.plugin or ())
    warn_of_unworkable(equipped, config or "")
    return equipped


def only(scenario: Scenario, pod: Pod) -> Scenario:
    """The scenario with one pending pod, which if it runs gives its place up first."""
    pending = as_pending(pod)
    running = tuple(other for other in scenario.running if other is not pod)
    return dataclasses.replace(scenario, running=running, pending=(pending,))
