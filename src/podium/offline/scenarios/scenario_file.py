"""Reading scenario files: everything that is wrong is reported at once, with its line and a remedy.

A file is data: nothing in it is run, and files that it names are read from its own folder.

Scenarios that come with Podium, as the files that they are (`library/`).
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError, ObjectError, closest, did_you_mean
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.reading import read_raw
from podium.kubernetes.releases.feature_gates import FeatureGateError, FeatureGates
from podium.kubernetes.rules.labels import value_problems
from podium.kubernetes.rules.nodes import zone_of
from podium.net.files.bounded_files import read_input
from podium.net.files.versioned_documents import API_VERSION, OLD_API_VERSION
from podium.offline.scenarios.arrivals import find_beside, read_arrivals
from podium.offline.scenarios.autoscaler import AutoscaledPool, AutoscalerRule
from podium.offline.scenarios.file_format import (
    KIND,
    WrittenAutoscaler,
    WrittenNodeFailure,
    WrittenScenario,
    WrittenSpec,
    WrittenTenant,
    WrittenWorkload,
    choose_one,
)
from podium.offline.scenarios.pools import MAX_NODES, NodeFailure, NodePool, read_pool
from podium.offline.scenarios.run_times import (
    parse_duration,
    parse_positive_duration,
    read_run_time,
)
from podium.offline.scenarios.tenants import Tenant, WorkloadShape, read_workload
from podium.offline.simulate.input_files import Problems
from podium.offline.simulate.scenario import Scenario, load_scenario, read_inline_scenario
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import WrittenFile, read_written

S = TypeVar("S")
T = TypeVar("T")
MAX_DURATION_S = 400 * 86_400.0


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario that can be run. `cluster` has what files and objects bring, without pools."""

    name: str
    description: str
    source: str
    duration_s: float
    seed: int
    feature_gates: dict[str, bool]
    cluster: Scenario
    pools: Sequence[NodePool]
    tenants: Sequence[Tenant]
    failures: Sequence[NodeFailure]
    autoscaler: AutoscalerRule | None


def load_scenario_file(path: str, *, gates: FeatureGates) -> ScenarioFile:
    """A scenario in a cluster with these gates, but for those that it sets itself. Raises
    InputError with everything that is wrong."""
    return read_scenario_file(read_input(path), path, str(Path(path).parent), gates=gates)


def read_scenario_file(
    data: bytes, source: str, folder: str = "", *, gates: FeatureGates
) -> ScenarioFile:
    """The same from the bytes of a file; files that it names are found from `folder`."""
    try:
        written = read_written(data)
    except ConfigurationError as problem:
        raise problem.found_in(source) from None
    return _Reader(written, source, folder, gates).read()


class _Reader:
    def __init__(self, written: WrittenFile, source: str, folder: str, gates: FeatureGates) -> None:
        self._written = written
        self._source = source
        self._folder = folder
        self._gates = gates
        self._problems = Problems()
        self._notes: list[str] = []

    def read(self) -> ScenarioFile:
        document = self._decode()
        spec = document.spec
        duration_s = self._try(lambda: _read_length(spec.duration))
        gates = self._try(lambda: _read_gates(spec.feature_gates or {}))
        opened = self._gates.with_overrides(gates or {})
        cluster = self._try(lambda: self._read_cluster(spec, opened))
        pools = self._read_each(
            spec.cluster.pools,
            "spec.cluster.pools",
            lambda each, path: read_pool(each, path, self._source, gates=opened),
        )
        objects = _objects_of(cluster) if cluster is not None else ()
        tenants = [
            tenant
            for at, each in enumerate(spec.tenants or ())
            if (tenant := self._read_tenant(each, f"spec.tenants[{at}]", objects, opened))
            is not None
        ]
        known = {pool.name: pool for pool in pools}
        failures = self._read_each(
            spec.node_failures,
            "spec.nodeFailures",
            lambda each, path: _read_failure(each, path, known, cluster),
        )
        autoscaler = self._try(lambda: _read_autoscaler(spec.autoscaler, known))
        self._try(lambda: _require_unique(pools, tenants, failures))
        if not spec.tenants:
            self._add(
                ObjectError(
                    "spec.tenants", "is missing", "a scenario needs a tenant that creates pods"
                )
            )
        self._problems.raise_if_any()
        assert duration_s is not None
        assert gates is not None
        assert cluster is not None
        return ScenarioFile(
            document.metadata.name,
            spec.description,
            self._source,
            duration_s,
            spec.seed,
            gates,
            dataclasses.replace(cluster, notes=(*self._notes, *cluster.notes)),
            pools,
            tenants,
            failures,
            autoscaler,
        )

    # parts

    def _decode(self) -> WrittenScenario:
        raw = self._written.value
        if not isinstance(raw, dict):
            raise InputError("is no scenario", source=self._source, remedy=_HEADER)
        version = raw.get("apiVersion")
        if version not in (API_VERSION, OLD_API_VERSION) or raw.get("kind") != KIND:
            named = f"{raw.get('kind')} ({version})"
            raise InputError(f"{named} is no scenario", source=self._source, remedy=_HEADER)
        for repeated in self._written.repeated_keys:
            self._problems.add(InputError(repeated, source=self._source))
        found = read_raw(raw, WrittenScenario)
        for each in (*found.wrong, *found.unknown):
            self._add(each)
        self._problems.raise_if_any()
        if version == OLD_API_VERSION:
            self._notes.append(
                f"{self._source}: apiVersion: {version} is an old spelling: write {API_VERSION}"
            )
        decoded: WrittenScenario = msgspec.convert(found.settled, WrittenScenario)
        if not decoded.metadata.name:
            self._add(ObjectError("metadata.name", "is missing"))
        return decoded

    def _read_cluster(self, spec: WrittenSpec, gates: FeatureGates) -> Scenario:
        cluster = spec.cluster
        found = Scenario((), (), ())
        if cluster.files:
            paths = [find_beside(each, self._folder) for each in cluster.files]
            found = load_scenario(paths, gates=gates)
        documents = [
            SourceDocument(self._source, 1, 1, raw, item=f"spec.cluster.objects[{at}]")
            for at, raw in enumerate(cluster.objects or ())
        ]
        if not documents:
            return found
        added = read_inline_scenario(documents, gates=gates, stored=_objects_of(found))
        return dataclasses.replace(
            added,
            nodes=(*found.nodes, *added.nodes),
            running=(*found.running, *added.running),
            pending=(*found.pending, *added.pending),
            notes=(*found.notes, *added.notes),
            workloads=(*found.workloads, *added.workloads),
            refusals=(*found.refusals, *added.refusals),
            old_spellings=(*found.old_spellings, *added.old_spellings),
        )

    def _read_tenant(
        self,
        written: WrittenTenant,
        path: str,
        objects: Sequence[KubeObject],
        gates: FeatureGates,
    ) -> Tenant | None:
        name = written.name
        if not name or value_problems(name):
            self._add(ObjectError(f"{path}.name", "is no label value" if name else "is missing"))
        arrivals = self._try(
            lambda: read_arrivals(written.arrivals, f"{path}.arrivals", self._folder)
        )
        run_time = self._try(lambda: read_run_time(written.run_time, f"{path}.runTime"))

        def read(each: WrittenWorkload, inside: str) -> WorkloadShape:
            return read_workload(
                each,
                inside,
                tenant=name,
                namespace=written.namespace or name,
                source=self._source,
                beside=self._folder,
                objects=objects,
                gates=gates,
            )

        workloads = self._read_each(written.workloads, f"{path}.workloads", read)
        if not written.workloads:
            self._add(ObjectError(f"{path}.workloads", "is missing"))
        elif workloads and not any(shape.weight for shape in workloads):
            self._add(ObjectError(f"{path}.workloads", "have no weight at all"))
        if arrivals is None or not workloads:
            return None
        tenant = Tenant(name, arrivals, workloads, run_time)
        self._try(lambda: tenant.require_known_workloads(f"{path}.arrivals.trace"))
        return tenant

    # problems

    def _read_each(
        self, written: Sequence[S] | None, path: str, read: Callable[[S, str], T]
    ) -> list[T]:
        found = []
        for at, each in enumerate(written or ()):
            value = self._try(lambda each=each, at=at: read(each, f"{path}[{at}]"))  # type: ignore[misc]
            if value is not None:
                found.append(value)
        return found

    def _try(self, read: Callable[[], T]) -> T | None:
        """A part of the file; None once it is noted what is wrong with it."""
        try:
            return read()
        except InputError as problem:
            for each in getattr(problem, "problems", (problem,)):
                self._problems.add(each if isinstance(each, InputError) else problem)
        except ObjectError as problem:
            for one in (problem, *problem.others):
                self._add(one)
        return None

    def _add(self, problem: ObjectError) -> None:
        line = self._written.line_of(problem.path)
        self._problems.add(
            InputError(
                problem.problem,
                source=self._source,
                line=line,
                path=problem.path,
                remedy=problem.remedy,
            )
        )


_HEADER = f"it begins with apiVersion: {API_VERSION} and kind: {KIND}"


def _read_length(text: str) -> float:
    if not text:
        raise ObjectError("spec.duration", "is missing", "how long the run is, such as 7d")
    seconds = parse_positive_duration(text, "spec.duration")
    if seconds > MAX_DURATION_S:
        raise ObjectError("spec.duration", "is longer than 400d")
    return seconds


def _read_gates(written: dict[str, bool]) -> dict[str, bool]:
    try:
        FeatureGates().with_overrides(written)
    except FeatureGateError as problem:
        raise ObjectError("spec.featureGates", str(problem)) from None
    return written


def _read_failure(
    written: WrittenNodeFailure, path: str, pools: Mapping[str, NodePool], cluster: Scenario | None
) -> NodeFailure:
    if not written.name:
        raise ObjectError(f"{path}.name", "is missing")
    for at, name in enumerate(written.pools or ()):
        _require_pool(name, f"{path}.pools[{at}]", pools)
    zones = {zone for pool in pools.values() for zone in pool.zones}
    zones |= {zone_of(node) for node in (cluster.nodes if cluster is not None else ())}
    if written.zone and written.zone not in zones:
        known = ", ".join(sorted(zones - {""})) or "none"
        raise ObjectError(f"{path}.zone", f"no node is in {written.zone}", f"zones: {known}")
    kind = choose_one(written, ("mtbf", "times"), path)
    if written.count < 0 or (written.count and kind == "mtbf"):
        raise ObjectError(f"{path}.count", "goes with times, and is how many nodes fail at once")
    mtbf_s = parse_positive_duration(written.mtbf, f"{path}.mtbf") if kind == "mtbf" else 0.0
    times = [
        parse_duration(text, f"{path}.times[{at}]") for at, text in enumerate(written.times or ())
    ]
    return NodeFailure(
        written.name,
        frozenset(written.pools or ()),
        written.zone,
        mtbf_s,
        times,
        written.count,
        read_run_time(written.repair, f"{path}.repair"),
    )


def _read_autoscaler(
    written: WrittenAutoscaler | None, pools: Mapping[str, NodePool]
) -> AutoscalerRule | None:
    if written is None:
        return None
    path = "spec.autoscaler"
    if not written.pools:
        raise ObjectError(f"{path}.pools", "is missing")
    found = []
    for at, each in enumerate(written.pools):
        inside = f"{path}.pools[{at}]"
        pool = _require_pool(each.pool, f"{inside}.pool", pools)
        if not 0 <= each.min <= pool.count <= each.max <= MAX_NODES:
            raise ObjectError(
                inside,
                f"min {each.min}, the pool's count {pool.count} and max {each.max}"
                " are not in this order",
            )
        delay_s = parse_duration(each.delay, f"{inside}.delay")
        found.append(AutoscaledPool(pool, each.min, each.max, delay_s))
    return AutoscalerRule(
        parse_positive_duration(written.interval, f"{path}.interval"),
        parse_duration(written.scale_down_after, f"{path}.scaleDownAfter"),
        found,
    )


def _require_pool(name: str, path: str, pools: Mapping[str, NodePool]) -> NodePool:
    if name not in pools:
        guess = did_you_mean(closest(name, list(pools)))
        raise ObjectError(path, f"there is no pool {name}", guess or f"pools: {', '.join(pools)}")
    return pools[name]


def _require_unique(
    pools: Sequence[NodePool], tenants: Sequence[Tenant], failures: Sequence[NodeFailure]
) -> None:
    """Names are what streams of chance and nodes are distinguished by."""
    for path, names in (
        ("spec.cluster.pools", [pool.name for pool in pools]),
        ("spec.tenants", [tenant.name for tenant in tenants]),
        ("spec.nodeFailures", [failure.name for failure in failures]),
        ("spec.tenants", [key for tenant in tenants for key in tenant.pod_names()]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ObjectError(path, f"{twice[0]} is there twice", "names must differ")


def _objects_of(scenario: Scenario) -> list[KubeObject]:
    objects = [obj for obj in scenario.objects if isinstance(obj, KubeObject)]
    return [*objects, *scenario.admission_objects]


_LIBRARY: Final = files("podium.offline.scenarios") / "library"
_SUFFIX: Final = ".yaml"


def list_ready_scenarios() -> list[str]:
    """Their names, in order."""
    names = (entry.name for entry in _LIBRARY.iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def read_ready_scenario(name: str) -> str:
    """The text of one. Raises InputError if there is none of that name."""
    known = list_ready_scenarios()
    if name not in known:
        remedy = did_you_mean(closest(name, known)) or f"there are {', '.join(known)}"
        raise InputError(f"no scenario named {name}", remedy=remedy)
    return (_LIBRARY / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def find_scenario(name: str, *, gates: FeatureGates) -> ScenarioFile:
    """A file, or one that comes with Podium, by its name. Raises InputError."""
    data, folder = read_scenario_source(name)
    return read_scenario_file(data, name, folder, gates=gates)


def read_scenario_source(name: str) -> tuple[bytes, str]:
    """The bytes of a scenario, and the folder from which files that it names are found."""
    is_name = "/" not in name and not name.endswith((_SUFFIX, ".yml", ".json"))
    if is_name and name != "-" and not Path(name).exists():
        return read_ready_scenario(name).encode(), ""
    return read_input(name), str(Path(name).parent)
