"""Running a scenario: every pending pod gets its chance, in the order of the queue.

Pods are attempted as the profile's QueueSort orders them, ties in order of arrival. A pod that
preempts gets its room and is tried again at once. Pods that no node could take are tried again when
something has happened since that may help them, which their rejecting plugins say themselves; so a
pod with affinity to a later one finds its place. Victims leave at once and do not come back: there
is no controller that would make them again.

Contract: the same scenario, configuration and seed give the same report. A pod whose attempt
crashes is reported with the traceback and never stops the others.
"""

import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass

from msgspec.structs import replace

from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.config.types import Configuration
from podium.engine import Decision, Engine, UnknownProfileError
from podium.engine.binding import Binding
from podium.engine.choice import Seeded
from podium.framework.queued import QueuedPod
from podium.framework.registry import Registry
from podium.framework.status import Code, Status, error
from podium.simulator.examination import examine
from podium.simulator.happenings import Happenings
from podium.simulator.memory_api import MemoryApi, OutsideWorldError, finish
from podium.simulator.report import Eviction, Outcome, PodResult, Report, Watched, digest_of
from podium.simulator.scenario import Scenario
from podium.simulator.utilisation import Utilisation, load_of

MOST_ATTEMPTS = 16
"""Per pod; a pod that preempts, fails and preempts again has to end some time."""
_TERMINATING = "skip schedule deleting pod"
_CRASHED = "Podium failed while it looked for a node: "


@dataclass(slots=True)
class _Entry:
    """A pod of the queue; after a failed attempt with what rejected it and how far events were."""

    queued: QueuedPod
    result: PodResult
    rejectors: frozenset[str] = frozenset()
    seen: int = 0
    waits: bool = False


class Simulation:
    def __init__(
        self,
        scenario: Scenario,
        configuration: Configuration,
        registry: Registry,
        *,
        seed: int = 0,
        watch: Collection[str] = (),
    ) -> None:
        """`watch` are keys (`namespace/name`) of pods whose decisions are kept whole."""
        self.engine = Engine(configuration, registry, choice=Seeded(seed))
        self._scenario = scenario
        self._seed = seed
        self._watched = {key: Watched() for key in watch}
        self._results: dict[str, PodResult] = {}
        self._entries: dict[str, _Entry] = {}
        self._evictions: list[Eviction] = []
        self._happenings = Happenings()
        self._api = MemoryApi(self.engine.cluster, scenario.running)
        self._load()

    def run(self, *, until: str = "", on_attempt: Callable[[], None] = lambda: None) -> Report:
        """Attempt all pending pods; `until` names a pod whose placement ends the run early."""
        before = load_of(self.engine.cluster)
        held_back: list[PodResult] = []
        entries = self._enqueue(held_back)
        waiting: list[_Entry] = []
        while entries:
            for entry in self._sorted(entries):
                if self._is_placed(until):
                    break
                self._attempt(entry)
                on_attempt()
                if entry.waits:
                    waiting.append(entry)
            helped = [self._may_fit_now(entry, until) for entry in waiting]
            entries = [e for e, again in zip(waiting, helped, strict=True) if again]
            waiting = [e for e, again in zip(waiting, helped, strict=True) if not again]
        return Report(
            self._seed,
            [*self._results.values(), *held_back],
            self._evictions,
            Utilisation(before, load_of(self.engine.cluster)),
            len(self._scenario.running),
            self._scenario.notes,
            self._watched,
        )

    # the queue

    def _load(self) -> None:
        cluster = self.engine.cluster
        for node in self._scenario.nodes:
            cluster.put_node(node)
        for obj in self._scenario.objects:
            cluster.catalog.put(obj)
        for pod in self._scenario.running:
            cluster.add_pod(pod)
        for pod in self._scenario.pending:
            if pod.status.nominated_node_name:
                cluster.nominator.nominate(cluster.infos.of(pod), pod.status.nominated_node_name)

    def _enqueue(self, held_back: list[PodResult]) -> list[_Entry]:
        """Pods that may be tried; the others are told with their reasons."""
        entries: list[_Entry] = []
        for sequence, pod in enumerate(self._scenario.pending):
            info = self.engine.cluster.infos.of(pod)
            result = PodResult(pod, info.key, Outcome.UNSCHEDULABLE)
            refusal = self._refusal(info, result)
            if refusal is None:
                queued = QueuedPod(info, timestamp=float(sequence), sequence=sequence)
                entries.append(_Entry(queued, result))
                self._entries[info.uid] = entries[-1]
            else:
                result.outcome, result.message = refusal
                held_back.append(result)
        return entries

    def _refusal(self, info: PodInfo, result: PodResult) -> tuple[Outcome, str] | None:
        try:
            status = self.engine.pre_enqueue(info)
        except UnknownProfileError as problem:
            return Outcome.NOT_OURS, str(problem)
        except Exception as problem:
            result.crash = traceback.format_exc()
            return Outcome.ERROR, f"{_CRASHED}{problem}"
        if info.terminating:
            return Outcome.TERMINATING, _TERMINATING
        if status is None:
            return None
        if info.key in self._watched:
            self._watched[info.key].decisions.append(self.engine.gated(info, status))
        return Outcome.GATED, status.message

    def _sorted(self, entries: list[_Entry]) -> list[_Entry]:
        key = self.engine.first_profile.queue_sort.sort_key
        return sorted(entries, key=lambda entry: (key(entry.queued), entry.queued.sequence))

    def _may_fit_now(self, entry: _Entry, until: str) -> bool:
        if entry.queued.attempts >= MOST_ATTEMPTS or self._is_placed(until):
            return False
        profile = self.engine.profile_of(entry.queued.info.pod)
        return self._happenings.may_help(profile, entry.rejectors, entry.queued.info, entry.seen)

    def _is_placed(self, key: str) -> bool:
        return key in self._results and self._results[key].placed

    # one pod

    def _attempt(self, entry: _Entry) -> None:
        result, queued = entry.result, entry.queued
        self._results.setdefault(result.key, result)
        entry.waits = False
        try:
            self._try_with_preemption(entry)
        except Exception as problem:
            result.outcome = Outcome.ERROR
            result.message = f"{_CRASHED}{problem}"
            result.crash = traceback.format_exc()
            if self.engine.cluster.is_assumed(queued.info.uid):
                self.engine.cluster.forget(queued.info)
        result.attempts = queued.attempts

    def _try_with_preemption(self, entry: _Entry) -> None:
        result, queued = entry.result, entry.queued
        while True:
            queued.attempts += 1
            decision, binding = self._decide(queued)
            result.digest = digest_of(decision)
            if binding is not None:
                self._bind(binding, queued.info, result)
                return
            result.outcome = Outcome.ERROR if decision.is_error else Outcome.UNSCHEDULABLE
            result.message = decision.message or ""
            if decision.nominated_node is not None:
                queued.info = self._nominate(queued.info, decision.nominated_node)
            if not self._evict_victims(decision, result) or queued.attempts >= MOST_ATTEMPTS:
                break
        diagnosis = decision.diagnosis
        entry.rejectors = frozenset(diagnosis.rejectors if diagnosis else ())
        entry.seen = len(self._happenings)
        entry.waits = not decision.is_error

    def _decide(self, queued: QueuedPod) -> tuple[Decision, Binding | None]:
        watched = self._watched.get(queued.info.key)
        if watched is not None:
            watched.examination = examine(self.engine, queued.info)
        attempt = self.engine.schedule(queued.info)
        attempt.decision.attempt = queued.attempts
        if watched is not None:
            watched.decisions.append(attempt.decision)
        return attempt.decision, attempt.binding

    def _bind(self, binding: Binding, info: PodInfo, result: PodResult) -> None:
        failure = self._run_binding(binding)
        if failure is not None:
            self.engine.undo(binding)
            rejected = failure.code.rejected
            result.outcome = Outcome.UNSCHEDULABLE if rejected else Outcome.ERROR
            result.message = failure.message
            return
        if self.engine.cluster.is_assumed(info.uid):  # a binder that went past the API handle
            self._api.place(info.pod, binding.node_name)
        result.outcome, result.node, result.message = Outcome.PLACED, binding.node_name, ""
        self._happenings.placed(info.pod)

    def _run_binding(self, binding: Binding) -> Status | None:
        try:
            return finish(binding.run(self._api))
        except OutsideWorldError as problem:
            return error(str(problem))

    # making room

    def _evict_victims(self, decision: Decision, result: PodResult) -> bool:
        """Let the victims go; false if there are none and another try is of no use."""
        outcome = decision.post_filter
        if outcome is None or outcome.code is not Code.SUCCESS or not outcome.nominated_node:
            return False
        cluster, node = self.engine.cluster, outcome.nominated_node
        for victim in outcome.victims:
            cluster.remove_pod(victim.uid)
            self._happenings.left(victim.pod)
            self._evictions.append(Eviction(victim.pod, node, result.key))
            earlier = self._results.get(victim.key)
            if earlier is not None:
                earlier.outcome = Outcome.PREEMPTED
                earlier.message = f"preempted by {result.key} on node {node}"
                earlier.node = ""
        result.victims = (*result.victims, *(victim.key for victim in outcome.victims))
        for rival in cluster.nominator.on_node(node):
            if rival.priority < decision.pod.priority:
                cleared = self._nominate(rival, "")
                if rival.uid in self._entries:
                    self._entries[rival.uid].queued.info = cleared
        return True

    def _nominate(self, info: PodInfo, node_name: str) -> PodInfo:
        """Set or clear the nomination of a pending pod."""
        cluster, pod = self.engine.cluster, info.pod
        pod = replace(pod, status=replace(pod.status, nominated_node_name=node_name))
        info = cluster.infos.of(pod)
        if node_name:
            cluster.nominator.nominate(info, node_name)
        else:
            cluster.nominator.drop(info.uid)
        return info


def find_pods(scenario: Scenario, name: str) -> list[Pod]:
    """Pods that a user may mean by `name` or `namespace/name`."""
    namespace, slash, bare = name.rpartition("/")
    return [
        pod
        for pod in (*scenario.pending, *scenario.running)
        if pod.metadata.name == bare and (not slash or pod.metadata.namespace == namespace)
    ]
