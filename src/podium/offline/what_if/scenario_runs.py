"""Scenario files as inputs of a matrix: days of arrivals in place of one queue of pods.

The file is sent to workers as it was read where runs were planned; files that it names are read
where the run is made, and must be what they were.

A digest of a scenario, so that results of runs can tell which one they came from. Contract: it
follows from the bytes of the file and of all files that it names, directories with all that is in
them, wherever they lie.

The same scenario under several configurations: what arrives and fails is the same for all. Runs
with further seeds have other arrivals, again the same for every configuration, so that what differs
is reported with the probability that chance alone makes it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.offline.scenarios import ScenarioFile, run_scenario
from podium.offline.scenarios.arrivals import find_beside
from podium.offline.scenarios.scenario_file import read_scenario_file, read_scenario_source
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.comparison_answer import ComparisonAnswer
from podium.offline.what_if.measured_runs import InputReview, MeasuredRun, PodPlace, RunOutcome
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import read_written
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
    """A file, or one that comes with Podium, by its name. Raises InputError."""
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
    """One run. Pods are reported with their last node, and how long they waited for the first."""
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


def digest_scenario(data: bytes, source: str, folder: str) -> str:
    """Raises InputError."""
    try:
        written = read_written(data).value
    except ConfigurationError as problem:
        raise problem.found_in(source) from None
    found = sha256(sha256(data).digest())
    for name in sorted({*_named_files(written)}):
        for path in _files_in(find_beside(name, folder)):
            found.update(sha256(read_input(path, MAX_CLUSTER_BYTES)).digest())
    return found.hexdigest()


def _named_files(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "file" and isinstance(inner, str):
                yield inner
            elif key == "files" and isinstance(inner, list):
                yield from (each for each in inner if isinstance(each, str))
            else:
                yield from _named_files(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_files(inner)


def _files_in(path: str) -> list[str]:
    if not Path(path).is_dir():
        return [path]
    return sorted(str(each) for each in Path(path).rglob("*") if each.is_file())


Named = tuple[str, Equipped]
"""A configuration and its name."""


def compare_scenario(
    file: ScenarioFile,
    configurations: Sequence[Named],
    gates: FeatureGates,
    seeds: tuple[int, ...],
    *,
    until_s: float | None = None,
    scale: float = 1.0,
    on_run: Callable[[], None] = lambda: None,
) -> ComparisonAnswer:
    """All runs, one after the other. Raises InputError."""
    runs = []
    for seed in seeds:
        for index, (name, equipped) in enumerate(configurations):
            try:
                ran = run_scenario(
                    file,
                    equipped.configuration,
                    equipped.registry,
                    seed=seed,
                    gates=gates,
                    until_s=until_s,
                    scale=scale,
                )
            except ConfigurationError as problem:
                raise problem.found_in(name) from problem.__cause__
            runs.append(MeasuredRun(index, seed, ran.metrics, (), ran.report.crashes))
            on_run()
    return ComparisonAnswer(tuple(name for name, _ in configurations), seeds, tuple(runs))
