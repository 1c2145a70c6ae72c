"""Replaying a recorded cluster: the same arrivals, and Podium decides.

Time is virtual and the run deterministic: same trace, configuration and seed, same report. What a
caller needs is here: `read_recorded_cluster` reads a trace once, `replay` decides it as often as
there are configurations and seeds.

A recorded cluster as the start and the events of a timed run in which somebody else decides. What
the recorded scheduler did is left out: which node a pod got, which volume was made for a claim that
waits for its pod, which devices a claim was given. What everybody else did happens at its time. A
pod that ran for a while runs that long after its binding here, whenever that is.

Pods that had their node from whoever made them, and those of schedulers that the configuration has
no profile for, get the node that they had, when they had it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import fsum
from operator import attrgetter

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup, PodGroupStatus
from podium.kubernetes.kinds.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.kubernetes.kinds.typed_objects import KINDS
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.scenario import Scenario, load_scenario
from podium.offline.simulate.timed_events import (
    NodePut,
    NodeRemoval,
    ObjectPut,
    ObjectRemoval,
    PodArrival,
    PodRemoval,
    TimedEvent,
)
from podium.offline.simulate.timed_report import TimedReport
from podium.offline.simulate.timed_run import TimedRun
from podium.offline.traces.recorded_cluster import RecordedChange, RecordedCluster
from podium.offline.traces.recorded_pods import PlacedBy, RecordedPod
from podium.offline.traces.replay_report import (
    ReplayReport,
    compare_pods,
    measure_node_use,
    recorded_stays,
    replayed_stays,
)
from podium.scheduler.plugins.dynamic_resources.claim_state import EXTENDED_RESOURCE_ANNOTATION
from podium.user_code.plugins import Equipped


@dataclass(frozen=True, slots=True)
class ReplayRules:
    """By which rules it is decided."""

    equipped: Equipped
    gates: FeatureGates
    seed: int = 0
    validate: bool = False


def replay(
    cluster: RecordedCluster,
    rules: ReplayRules,
    *,
    on_time: Callable[[float], None] = lambda _: None,
) -> ReplayReport:
    """Raises InputError for what cannot be replayed, and ConfigurationError."""
    configuration, registry, plugin_notes = rules.equipped
    schedulers = {profile.scheduler_name for profile in configuration.profiles}
    kinds = {*KINDS.values(), *(kind.struct for kind in rules.equipped.watched_kinds)}
    given = make_replay_input(cluster, schedulers, kinds, gates=rules.gates)
    run = TimedRun(
        given.scenario,
        configuration,
        registry,
        seed=rules.seed,
        gates=rules.gates,
        validate=rules.validate,
        runs_controllers=False,
    )
    with asker_of(run.engine) as ask:
        report = run.run(given.events, until_s=cluster.duration_s, ask=ask, on_time=on_time)
    pods, recorded, here = compare_pods(given.decided, report)
    return ReplayReport(
        cluster.source,
        cluster.header.started_at,
        cluster.duration_s,
        report,
        pods,
        recorded,
        here,
        measure_node_use(recorded_stays(cluster.pods, cluster.duration_s), cluster.duration_s),
        measure_node_use(
            replayed_stays(cluster.pods, report, cluster.duration_s), cluster.duration_s
        ),
        _average_utilisation(report),
        tuple(dict.fromkeys((*given.notes, *report.notes, *plugin_notes))),
    )


def _average_utilisation(report: TimedReport) -> dict[str, float]:
    """Samples are at equal distances."""
    names = dict.fromkeys(name for sample in report.samples for name in sample.utilisation)
    total = len(report.samples)
    return {
        name: round(fsum(each.utilisation.get(name, 0.0) for each in report.samples) / total, 6)
        for name in names
    }


_WAITS_FOR_POD = "WaitForFirstConsumer"


@dataclass(slots=True)
class ReplayInput:
    """`decided` are the pods that somebody decides about here, in order of arrival."""

    scenario: Scenario
    events: list[TimedEvent]
    decided: list[RecordedPod]
    notes: list[str] = field(default_factory=list)


def make_replay_input(
    cluster: RecordedCluster,
    schedulers: Collection[str],
    kinds: Collection[type[KubeObject]],
    *,
    gates: FeatureGates,
) -> ReplayInput:
    """`schedulers` are the names of profiles; `kinds` are those that an engine knows. Raises
    InputError for a trace without nodes."""
    decided: list[RecordedPod] = []
    there: list[Pod] = []
    pod_events: list[TimedEvent] = []
    left_out: Counter[str] = Counter()
    for each in cluster.pods:
        if each.is_there_first:
            there.append(each.pod)
            if each.ended_s is not None:
                pod_events.append(PodRemoval(each.ended_s, each.key))
        elif _is_decided_here(each, schedulers):
            decided.append(each)
            pod_events += _life_of(each)
        elif each.bound_s is not None:
            pod_events += _life_as_recorded(each)
        else:
            left_out[each.pod.spec.scheduler_name] += 1
    objects = [_as_stored(obj) for obj in cluster.objects if type(obj) in kinds]
    scenario = load_scenario([], gates=gates, stored=[*objects, *there], unread=cluster.unread)
    changes = [each for each in cluster.changes if type(each.obj) in kinds]
    events: list[TimedEvent] = [*_Changes(objects).select(changes), *pod_events]
    events.sort(key=attrgetter("at"))
    return ReplayInput(scenario, events, decided, list(_notes(cluster, left_out)))


def _is_decided_here(pod: RecordedPod, schedulers: Collection[str]) -> bool:
    return pod.placed_by is not PlacedBy.CREATOR and pod.pod.spec.scheduler_name in schedulers


def _life_of(pod: RecordedPod) -> Iterator[TimedEvent]:
    """It arrives, and runs for as long as it did."""
    ran_s = None
    if pod.bound_s is not None and pod.ended_s is not None:
        ran_s = round(pod.ended_s - pod.bound_s, 3)
    yield PodArrival(pod.arrived_s, pod.pod, ran_s)
    if pod.bound_s is None and pod.ended_s is not None:
        yield PodRemoval(pod.ended_s, pod.key)


def _life_as_recorded(pod: RecordedPod) -> Iterator[TimedEvent]:
    """It is where it was, when it was there."""
    assert pod.bound_s is not None
    placed = replace(pod.pod, spec=replace(pod.pod.spec, node_name=pod.node))
    yield PodArrival(pod.bound_s, placed)
    if pod.ended_s is not None:
        yield PodRemoval(pod.ended_s, pod.key)


def _notes(cluster: RecordedCluster, left_out: Counter[str]) -> Iterator[str]:
    yield from cluster.notes
    preempted = sum(each.was_preempted for each in cluster.pods)
    if preempted:
        yield (
            f"{preempted} pods were preempted when this was recorded; here they run for as long as"
            " they did there"
        )
    for scheduler, pods in sorted(left_out.items()):
        yield f"left out: {pods} pods that waited for the scheduler {scheduler}, which is not here"


class _Changes:
    """Tells what others did from what followed from the recorded scheduler's decisions."""

    def __init__(self, objects: Sequence[KubeObject]) -> None:
        self._classes = {obj.name: obj for obj in objects if isinstance(obj, StorageClass)}
        self._undecided: set[tuple[type, str, str]] = set()
        """Claims that wait for a pod's node: what comes of them is decided here."""
        self._attachments = {obj.name for obj in objects if isinstance(obj, VolumeAttachment)}
        self._ignored: set[tuple[type, str, str]] = set()
        for obj in objects:
            self._note_undecided(obj)

    def select(self, changes: Sequence[RecordedChange]) -> Iterator[TimedEvent]:
        for change in changes:
            obj = change.obj
            if isinstance(obj, Node):
                yield (
                    NodeRemoval(change.at_s, obj.name)
                    if change.is_gone
                    else NodePut(change.at_s, obj)
                )
            elif change.is_gone:
                if self._is_known(obj):
                    yield ObjectRemoval(change.at_s, obj)
            elif self._is_of_others(obj):
                if isinstance(obj, PodGroup):
                    obj = replace(obj, status=PodGroupStatus())
                yield ObjectPut(change.at_s, obj)

    def _is_known(self, obj: KubeObject) -> bool:
        """Whether an object that is gone was ever there in the replay."""
        identity = _identity(obj)
        self._undecided.discard(identity)
        if isinstance(obj, VolumeAttachment):
            return obj.name in self._attachments
        if identity in self._ignored:
            self._ignored.discard(identity)
            return False
        return True

    def _is_of_others(self, obj: KubeObject) -> bool:
        identity = _identity(obj)
        if isinstance(obj, StorageClass):
            self._classes[obj.name] = obj
        if identity in self._undecided or isinstance(obj, VolumeAttachment):
            return False
        if isinstance(obj, PersistentVolume) and self._is_made_for_undecided(obj):
            self._ignored.add(identity)
            return False
        if isinstance(obj, ResourceClaim) and obj.metadata.annotation(EXTENDED_RESOURCE_ANNOTATION):
            self._ignored.add(identity)
            return False
        self._note_undecided(obj)
        return True

    def _note_undecided(self, obj: KubeObject) -> None:
        if isinstance(obj, PersistentVolumeClaim) and not obj.spec.volume_name:
            storage_class = self._classes.get(obj.spec.storage_class_name or "")
            if storage_class is not None and storage_class.volume_binding_mode == _WAITS_FOR_POD:
                self._undecided.add(_identity(obj))
        elif isinstance(obj, ResourceClaim) and obj.status.allocation is None:
            self._undecided.add(_identity(obj))

    def _is_made_for_undecided(self, volume: PersistentVolume) -> bool:
        wanted = volume.spec.claim_ref
        return (
            wanted is not None
            and (PersistentVolumeClaim, wanted.namespace, wanted.name) in self._undecided
        )


def _as_stored(obj: KubeObject) -> KubeObject:
    """A claim that a server has, and that no controller of a simulation is to care for."""
    if isinstance(obj, PersistentVolumeClaim):
        return replace(obj, metadata=replace(obj.metadata, resource_version="1"))
    return obj


def _identity(obj: KubeObject) -> tuple[type, str, str]:
    return type(obj), obj.namespace, obj.name
