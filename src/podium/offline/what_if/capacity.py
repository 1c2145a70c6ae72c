"""How many more pods of a template fit: copies are scheduled one after the other until one fails.

Alone, each template has the cluster for itself. Together, they take turns, and one that fails is
out while the others go on. Nothing is preempted for a copy: the first that finds no node as things
are ends the count, which is how cluster-capacity counts. Where nodes can be looked at one by one,
the same numbers are found without scheduling.

Contract: the engine belongs to whoever asks and is between two cycles; after each question it
is as it was, but for the order in which nodes are looked at.

How many pods of one template fit on each node, for all nodes at once. Most pods meet filters that
look at one node at a time: its labels and taints, which stay, and the sums of what pods request on
it, which grow. Then it does not matter in which order nodes fill up, and the largest number that
each node takes can be searched for in halves, over all nodes together, on a fork of the usage. The
filters themselves are asked, so there is no second rule of what fits.

Contract: the counts are those that scheduling the pods one after the other ends with. Where a
filter, or anything else of the profile, may look beyond one node or at more than sums and ports,
there is no answer here and the pods have to be scheduled.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.offline.what_if.capacity_answer import NodeRoom, PodRoom, count_reasons
from podium.offline.what_if.pod_templates import Copies, TemplatePod
from podium.offline.what_if.utilisation_limit import NO_LIMIT, Begun, UtilisationLimit
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Engine, UnknownProfileError
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult, fit_error, reason_counts
from podium.scheduler.framework.filtering import run_filters
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import unresolvable


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Pods that fit by row, and what keeps the next one out."""

    rows: Ints
    counts: Ints
    diagnosis: Diagnosis


def count_rows(engine: Engine, info: PodInfo) -> RowCounts | None:
    """How many pods like this one fit on each node; None if they have to be scheduled to tell."""
    profile = engine.profile_of(info.pod)
    cycle = Cycle(info, engine.cluster)
    outcome = profile.run_pre_filters(cycle)
    cluster = engine.cluster
    if outcome.status is not None or not cluster.nodes.present_count:
        return None
    if not _looks_at_single_nodes(engine, profile, cycle):
        return None
    rows = np.array(cluster.node_order(), dtype=np.intp)
    diagnosis = Diagnosis(len(rows))
    if outcome.nodes is not None:
        by = " ".join(sorted(outcome.narrowed_by))
        diagnosis.absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{by}]")
        names = cluster.nodes.names
        rows = np.array([row for row in rows if names[row] in outcome.nodes], dtype=np.intp)
    counts = _search(profile, cycle, rows)
    if counts is None:
        return None
    diagnosis.results.append(_filter(profile, cycle, rows, counts))
    return RowCounts(rows, counts, diagnosis)


def _search(profile: Profile, cycle: Cycle, rows: Ints) -> Ints | None:
    """The largest number for each row with which the last of them still passes."""
    usage = cycle.cluster.usage
    usage.grow()
    low: Ints = np.zeros(len(rows), dtype=np.int64)
    # A filter that counts requests is always asked; it lets nobody in beyond the number of pods.
    high: Ints = np.maximum(cycle.nodes.allowed_pods[rows] - usage.pod_count[rows], 0)
    if cycle.pod.shape.ports:
        high = np.minimum(high, 1)
    while (low < high).any():
        middle = (low + high + 1) // 2
        result = _filter(profile, cycle, rows, np.maximum(middle - 1, 0))
        if result.broken:
            return None
        fits: Mask = result.mask_passed()
        low = np.where(fits & (low < high), middle, low)
        high = np.where(fits, high, np.maximum(middle - 1, low))
    return low


def _filter(profile: Profile, cycle: Cycle, rows: Ints, counts: Ints) -> FilterResult:
    """What filters say of one more pod on nodes that have so many already."""
    usage = cycle.cluster.usage.fork()
    usage.suppose_alike(rows, counts, cycle.pod)
    return run_filters(profile.filter, cycle.fork(usage), rows)


def _looks_at_single_nodes(engine: Engine, profile: Profile, cycle: Cycle) -> bool:
    if engine.configuration.extenders or engine.cluster.nominator or cycle.pod.shape.is_immense:
        return False
    filters = [plugin for plugin in profile.filter if plugin.name not in cycle.skip_filter]
    limits = [plugin.state_limits(cycle) for plugin in filters]
    return (
        any(each is not None and each.requests is not None for each in limits)
        and all(plugin.looks_at_sums(cycle) for plugin in filters)
        and all(plugin.sets_nothing_aside(cycle) for plugin in profile.reserve)
        and all(plugin.lets_go(cycle) for plugin in profile.permit)
    )


class CapacityQuestion:
    """Counts on one engine; `objects` are those of the cluster that are neither nodes nor pods."""

    def __init__(
        self,
        engine: Engine,
        objects: Iterable[KubeStruct] = (),
        ask: Asker | None = None,
        limit: UtilisationLimit = NO_LIMIT,
        *,
        schedules: bool = False,
    ) -> None:
        """With `schedules` every copy is scheduled, even where that is not needed."""
        self._engine = engine
        self._objects = tuple(obj for obj in objects if isinstance(obj, KubeObject))
        self._ask = ask
        self._limit = limit
        self._schedules = schedules

    def alone(self, template: TemplatePod) -> PodRoom:
        """With the cluster for itself."""
        counted = self._count_rows(template)
        if counted is not None:
            return _room_of_rows(self._engine, template, counted)
        (room,) = self._in_turns([template])
        return room

    def together(self, templates: Sequence[TemplatePod]) -> list[PodRoom]:
        """Taking turns in the order given."""
        return self._in_turns(templates)

    def fits_at_least(self, template: TemplatePod, wanted: int) -> int:
        """The number that fits, counted no further than what is wanted."""
        counted = self._count_rows(template)
        if counted is not None:
            return int(counted.counts.sum())
        (room,) = self._in_turns([template], most=wanted)
        return room.fits

    def counts_by_node(self, template: TemplatePod) -> bool:
        """Whether what a node takes does not depend on what others have."""
        return self._count_rows(template) is not None

    def _count_rows(self, template: TemplatePod) -> RowCounts | None:
        engine = self._engine
        pod, _ = Copies(template, self._objects, engine.gates).make(0)
        info = engine.cluster.infos.of(pod)
        if self._schedules or self._limit or self._refusal(info) is not None:
            return None
        return count_rows(engine, info)

    def _in_turns(self, templates: Sequence[TemplatePod], most: int | None = None) -> list[PodRoom]:
        with _Placing(self._engine, self._ask) as placing:
            counts = [
                _Counting(
                    each,
                    Copies(each, self._objects, self._engine.gates),
                    self._limit.begin(self._engine),
                )
                for each in templates
            ]
            left = list(counts)
            while left:
                for counting in tuple(left):
                    if counting.fits == most or not self._place_one(counting, placing):
                        left.remove(counting)
            return [counting.room(self._engine) for counting in counts]

    def _place_one(self, counting: "_Counting", placing: "_Placing") -> bool:
        pod, objects = counting.copies.make(counting.fits)
        info = self._engine.cluster.infos.of(pod)
        counting.stopped_by = counting.limit.stopped_by(info.shape.accounted)
        if counting.stopped_by:
            return False
        refusal = self._refusal(info)
        if refusal is not None:
            counting.message = refusal
            return False
        decision = placing.place(info, objects)
        if decision.bound is None:
            counting.note_failure(decision)
            return False
        counting.nodes[decision.bound] += 1
        counting.fits += 1
        return True

    def _refusal(self, info: PodInfo) -> str | None:
        """Why a pod would never be tried."""
        try:
            gate = self._engine.pre_enqueue(info)
        except UnknownProfileError as problem:
            return str(problem)
        return None if gate is None else gate.message


class _Counting:
    """One template's turn so far."""

    def __init__(self, template: TemplatePod, copies: Copies, limit: Begun) -> None:
        self.template = template
        self.copies = copies
        self.limit = limit
        self.fits = 0
        self.nodes: Counter[str] = Counter()
        self.message = ""
        self.stopped_by = ""
        self._diagnosis: Diagnosis | None = None

    def note_failure(self, decision: Decision) -> None:
        self.message = decision.message or ""
        self._diagnosis = decision.diagnosis
        if decision.diagnosis is not None and not decision.is_error and not decision.refused_by:
            decision.diagnosis.postfilter_message = ""  # nothing is preempted for a copy
            self.message = fit_error(decision.diagnosis)

    def room(self, engine: Engine) -> PodRoom:
        found = self._diagnosis
        return _pod_room(
            self.template,
            self.fits,
            found,
            _describe_nodes(engine, self.nodes, found),
            message=self.message,
            stopped_by=self.stopped_by,
        )


class _Placing:
    """Pods that hold nodes until the question is answered; then everything is taken back."""

    def __init__(self, engine: Engine, ask: Asker | None) -> None:
        self._engine = engine
        self._ask = ask
        self._held: list[Binding] = []
        self._objects: list[KubeObject] = []
        self._stack = ExitStack()

    def __enter__(self) -> "_Placing":
        for profile in self._engine.profiles.values():
            for plugin in profile.plugins.values():
                self._stack.enter_context(plugin.forgetting())
        return self

    def place(self, info: PodInfo, objects: Iterable[KubeObject]) -> Decision:
        for obj in objects:
            self._engine.cluster.catalog.put(obj)
            self._objects.append(obj)
        attempt = self._engine.schedule(info, self._ask)
        if attempt.binding is not None:
            self._held.append(attempt.binding)
        return attempt.decision

    def __exit__(self, *_: object) -> None:
        for binding in reversed(self._held):
            self._engine.undo(binding)
        for obj in reversed(self._objects):
            self._engine.cluster.catalog.remove(obj)
        self._stack.close()


@contextmanager
def hold_pods(engine: Engine, pods: Iterable[Pod], ask: Asker | None = None) -> Iterator[None]:
    """The cluster with some pods on the nodes that they find, as far as they find any."""
    with _Placing(engine, ask) as placing:
        for pod in pods:
            placing.place(engine.cluster.infos.of(pod), ())
        yield


def _room_of_rows(engine: Engine, template: TemplatePod, counted: RowCounts) -> PodRoom:
    names = engine.cluster.nodes.names
    held = {
        names[row]: count
        for row, count in zip(counted.rows.tolist(), counted.counts.tolist(), strict=True)
    }
    return _pod_room(
        template,
        int(counted.counts.sum()),
        counted.diagnosis,
        _describe_nodes(engine, held, counted.diagnosis),
        message=fit_error(counted.diagnosis),
    )


def _pod_room(
    template: TemplatePod,
    fits: int,
    diagnosis: Diagnosis | None,
    nodes: tuple[NodeRoom, ...],
    *,
    message: str,
    stopped_by: str = "",
) -> PodRoom:
    metadata = template.pod.metadata
    return PodRoom(
        metadata.namespace,
        metadata.name,
        template.workload or None,
        fits,
        message or None,
        stopped_by or None,
        count_reasons(reason_counts(diagnosis)) if diagnosis is not None else (),
        nodes,
    )


def _describe_nodes(
    engine: Engine, held: Mapping[str, int], diagnosis: Diagnosis | None
) -> tuple[NodeRoom, ...]:
    """Every node in order of names, with what it says to one more copy."""
    nodes = engine.cluster.nodes
    reasons: dict[int, tuple[str, ...]] = {}
    absent: tuple[str, ...] = ()
    if diagnosis is not None:
        reasons = {row: status.reasons for row, status in diagnosis.statuses().items()}
        absent = diagnosis.absent.reasons
    return tuple(
        NodeRoom(nodes.names[row], held.get(nodes.names[row], 0), reasons.get(row, absent))
        for row in sorted(engine.cluster.node_order().tolist(), key=nodes.names.__getitem__)
    )
