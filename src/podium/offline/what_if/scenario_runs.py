"""Scenario files as inputs of a matrix: days of arrivals in place of one queue of pods.

The file is sent to workers as it was read where runs were planned; files that it names are read
where the run is made, and must be what they were.
"""

from dataclasses import dataclass

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.scenarios import ScenarioFile, run_scenario
from podium.offline.scenarios.file_digest import digest_scenario
from podium.offline.scenarios.ready_scenarios import read_scenario_source
from podium.offline.scenarios.scenario_file import read_scenario_file
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.measured_runs import InputReview, PodPlace, RunOutcome
from podium.user_code.plugins import Equipped


@dataclass(frozen=True, slots=True)
class NamedScenario:
    """`cluster` stands in for that of the file, if there is one."""

    name: str
    source: str
    data: bytes
    folder: str
    digest: str
    gates: FeatureGates
    cluster: Scenario | None = None

    def read(self) -> ScenarioFile:
        """Raises InputError if a file that it names is not what it was."""
        found = read_scenario_file(self.data, self.source, self.folder, gates=self.gates)
        if digest_scenario(self.data, self.source, self.folder) != self.digest:
            raise InputError(
                "names files that are not those with which runs were planned", source=self.source
            )
        return found


def name_scenario(
    source: str, name: str = "", cluster: Scenario | None = None, *, gates: FeatureGates
) -> NamedScenario:
    """A file, or one that Podium brings along, by its name. Raises InputError."""
    data, folder = read_scenario_source(source)
    digest = digest_scenario(data, source, folder)
    named = NamedScenario(name or source, source, data, folder, digest, gates, cluster)
    named.read()
    return named


def measure_scenario(
    file: ScenarioFile,
    cluster: Scenario | None,
    equipped: Equipped,
    *,
    seed: int,
    gates: FeatureGates,
    validate: bool,
    all_places: bool,
) -> RunOutcome:
    """One run. Pods are told with their last node, and how long they waited for the first."""
    ran = run_scenario(
        file,
        equipped.configuration,
        equipped.registry,
        seed=seed,
        gates=gates,
        cluster=cluster,
        keeps_pods=all_places,
        validate=validate,
    )
    report = ran.report
    return RunOutcome(
        dict(ran.metrics),
        tuple(
            PodPlace(pod.key, pod.state.value, pod.node, pod.first_wait_s) for pod in report.pods
        ),
        report.crashes,
        InputReview((*equipped.notes, *report.notes)),
    )
