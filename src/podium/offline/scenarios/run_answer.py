"""What a run of a scenario comes to, and what scenarios there are: the documents of both."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from msgspec import field

from podium.golang.document_structs import Document, DocumentPart, Notes
from podium.offline.scenarios.run_measures import WorkloadResult
from podium.offline.scenarios.running import ScenarioRun
from podium.offline.scenarios.scenario_file import ScenarioFile
from podium.offline.simulate.timed_report import TimedPod, TimedPodState


class WorkloadFigures(DocumentPart, frozen=True):
    """What came of one workload."""

    name: str
    """Tenant and workload, as tenant/workload; empty for pods that the cluster had in the
    beginning."""
    arrived: int
    """Pods that arrived."""
    placed: int
    """Those of them that had a node at least once."""
    finished: int
    """Pods that have run for their time."""
    running: int
    """Pods on a node in the end."""
    pending: int
    """Pods without a node in the end."""
    gone: int
    """Pods that lost their node and that no controller makes again."""
    evictions: int
    """How often its pods were preempted."""
    node_losses: int
    """How often its pods lost their node with the node."""
    wait_p50_s: float = field(name="waitP50Seconds")
    """What half of the placed pods waited at most from arrival to their first binding."""
    wait_p99_s: float = field(name="waitP99Seconds")
    """The same of 99 in 100."""

    @classmethod
    def of(cls, each: WorkloadResult) -> "WorkloadFigures":
        return cls(
            each.workload,
            each.arrived,
            each.placed,
            each.finished,
            each.running,
            each.pending,
            each.gone,
            each.evictions,
            each.node_losses,
            each.wait_s(50),
            each.wait_s(99),
        )


class PendingReason(DocumentPart, frozen=True):
    """A reason why pods are pending."""

    reason: str
    """Why pods are pending in the end."""
    pods: int
    """How many."""


class ScenarioSample(DocumentPart, frozen=True):
    """The cluster at one time."""

    at_s: float = field(name="atSeconds")
    """When, from the start of the run."""
    nodes: int
    """Nodes that are there."""
    pending: int
    """Pods without a node."""
    running: int
    """Pods on nodes, without those of DaemonSets."""
    utilisation: Mapping[str, float]
    """Requested of allocatable, by resource."""


class ScenarioPod(DocumentPart, frozen=True):
    """A pod with its times in seconds from the start."""

    name: str
    """The pod, as namespace/name."""
    workload: str
    """Tenant and workload, as tenant/workload."""
    state: TimedPodState
    """What it is in the end."""
    arrived_s: float = field(name="arrivedSeconds")
    """When it arrived."""
    first_attempt_s: float | None = field(name="firstAttemptSeconds")
    """When it was first tried; null if it never was."""
    bound_s: float | None = field(name="boundSeconds")
    """When it was bound last; null if it never was."""
    waited_s: float = field(name="waitedSeconds")
    """All the time in which it was to run and had no node."""
    node: str | None
    """The last node that it had; null if it never had one."""
    ended_s: float | None = field(name="endedSeconds")
    """When it finished, was removed or was gone; null if it is there."""
    evictions: int
    """How often it was preempted."""
    node_losses: int
    """How often its node was gone."""
    reason: str
    """Why it is pending; empty if it is not."""

    @classmethod
    def of(cls, pod: TimedPod) -> "ScenarioPod":
        return cls(
            pod.key,
            pod.workload,
            pod.state,
            pod.arrived_s,
            pod.first_attempt_s,
            pod.bound_s,
            pod.waited_s,
            pod.node or None,
            pod.ended_s,
            pod.evictions,
            pod.node_losses,
            pod.reason,
        )


class ScenarioCondition(DocumentPart, frozen=True):
    """A condition, and whether it holds."""

    condition: str
    """A condition of --fail-if."""
    holds: bool
    """Whether it is so."""


class ScenarioRunAnswer(Document, frozen=True):
    """A run of a scenario, printed by `podium scenario run -o json`."""

    KIND: ClassVar[str] = "ScenarioRun"

    scenario: str
    """The scenario's name."""
    configuration: str
    """The file of the scheduler configuration, or default."""
    seed: int
    """The seed."""
    duration_s: float = field(name="durationSeconds")
    """How much time was simulated."""
    metrics: Mapping[str, float]
    """The run in figures, by name; docs/scenarios.md says what each means."""
    workloads: tuple[WorkloadFigures, ...]
    """What came of each workload that had arrivals."""
    pending_reasons: tuple[PendingReason, ...]
    """Why pods have no node in the end, the most frequent reason first."""
    samples: tuple[ScenarioSample, ...]
    """The cluster over time, at equal distances; at most 512."""
    pods: tuple[ScenarioPod, ...]
    """Every pod with its times in seconds from the start; empty without --pods."""
    conditions: tuple[ScenarioCondition, ...]
    """Conditions of --fail-if."""
    notes: Notes

    @classmethod
    def of(
        cls,
        run: ScenarioRun,
        config: str,
        conditions: Iterable[ScenarioCondition],
        notes: Iterable[str],
    ) -> "ScenarioRunAnswer":
        report = run.report
        return cls(
            run.scenario,
            config,
            run.seed,
            report.duration_s,
            run.metrics,
            tuple(WorkloadFigures.of(each) for each in run.workloads if each.arrived),
            tuple(PendingReason(*each) for each in report.pending_reasons.items()),
            tuple(
                ScenarioSample(each.at_s, each.nodes, each.pending, each.running, each.utilisation)
                for each in report.samples
            ),
            tuple(map(ScenarioPod.of, report.pods)),
            tuple(conditions),
            tuple(notes),
        )


class ScenarioSummary(Document, frozen=True):
    """A scenario that comes with Podium."""

    KIND: ClassVar[str] = "ScenarioSummary"
    LISTED: ClassVar[str] = (
        "The scenarios that come with Podium, printed by `podium scenario list -o json`."
    )

    name: str
    """Its name."""
    description: str
    """What it is about, in a line."""
    duration_s: float = field(name="durationSeconds")
    """How much time it simulates."""
    nodes: int
    """How many nodes there are in the beginning."""
    tenants: tuple[str, ...]
    """Whose pods arrive."""

    @classmethod
    def of(cls, scenario: ScenarioFile) -> "ScenarioSummary":
        return cls(
            scenario.name,
            scenario.description,
            scenario.duration_s,
            len(scenario.cluster.nodes) + sum(pool.count for pool in scenario.pools),
            tuple(tenant.name for tenant in scenario.tenants),
        )
