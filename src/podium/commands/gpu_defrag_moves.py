"""The scheduler's own answer to moves of pods between GPUs.

The engine works on the whole cluster, with GPUShare and all else that is configured. A move is
what an eviction brings about: the pod is gone, its successor and the pods that wait are tried in
the order of their importance, those that waited before first, and whoever finds a node keeps it
with the cards that GPUShare reserves. Nobody preempts. Of equally good nodes the one that the pod
was evicted from is taken, if it is among them: a plan that hopes for luck is none.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, written_pod
from podium.addons.gpu.packing.moves import MoveAnswer, PlacedPod
from podium.addons.gpu.plugin.arguments import apply_policies
from podium.addons.gpu.plugin.followed_cards import reservations_of
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.outside_code import SourceFetching
from podium.offline.simulate.scenario import Scenario
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.scheduler import UnknownProfileError
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.caches.totals import BestRows
from podium.scheduler.framework.registry import PluginRegistry


class SimulatedMoves:
    """Answers `MoveScheduler`; `ask` speaks with extenders, if there are any."""

    def __init__(
        self,
        scenario: Scenario,
        configuration: Configuration,
        registry: PluginRegistry,
        dialect: Dialect,
        now: float,
        *,
        gates: FeatureGates,
    ) -> None:
        self._choice = _PreferringSource()
        self.engine = Engine(
            configuration,
            registry,
            choice=self._choice,
            clock=lambda: now,
            percentage=100,
            gates=gates,
        )
        self.notes: list[str] = []
        self.ask: Asker | None = None
        self._dialect = dialect
        intake = self.engine.intake
        for node in scenario.nodes:
            intake.node_put(node)
        for obj in scenario.objects:
            intake.object_put(obj)
        for pod in (*scenario.running, *scenario.pending):
            intake.pod_put(pod)
        SourceFetching(self.engine, self.notes).fetch_due()
        self._waiting: dict[str, Pod] = {}
        self._arrivals: dict[str, int] = {}
        self._messages: dict[str, str] = {}
        self._gone: list[Pod] = []
        self._held: list[tuple[Pod, bool, Binding]] = []

    def read_request(self, pod: Pod) -> PodRequest | None:
        """What the pod asks for, by the policies of its profile. Raises InvalidRequest."""
        request = self._dialect.pod_request(pod)
        profile = self.engine.profiles.get(pod.spec.scheduler_name)
        plugin = None if profile is None else profile.plugins.get(GPUShare.name)
        if request is None or not isinstance(plugin, GPUShare):
            return request
        return apply_policies(plugin.args, self._dialect, pod, request)

    def place_waiting(self, pods: Sequence[Pod]) -> dict[str, PlacedPod]:
        self._waiting = {object_key(pod.metadata): pod for pod in pods}
        self._arrivals = {key: number for number, key in enumerate(self._waiting)}
        placed = self._try_all(pods)
        self._held.clear()  # nothing of it is ever taken back
        return placed

    def evict(self, pods: Sequence[Pod], until: str = "") -> MoveAnswer:
        self._gone, self._held = [], []
        placed: dict[str, PlacedPod] = {}
        for pod in pods:
            self.engine.cluster.remove_pod(pod.metadata.uid)
            self._gone.append(pod)
            self._choice.source = pod.spec.node_name
            successor = self._successor(pod)
            placed |= self._try_all([*self._waiting.values(), successor])
            if until in placed or object_key(pod.metadata) not in placed:
                break
        return MoveAnswer(len(self._gone), placed, dict(self._messages))

    def take_back(self) -> None:
        for pod, waited, binding in reversed(self._held):
            self.engine.undo(binding)
            if waited:
                self._waiting[object_key(pod.metadata)] = pod
        for pod in self._gone:
            self.engine.cluster.add_pod(pod)
        self._gone, self._held = [], []

    def _successor(self, pod: Pod) -> Pod:
        """What the pod's controller makes in its place; it keeps name and uid, so that claims that
        are the pod's own are the successor's."""
        fresh = written_pod(pod, self._dialect.clear_decision(pod))
        status = replace(fresh.status, nominated_node_name="")
        return replace(fresh, spec=replace(fresh.spec, node_name=""), status=status)

    def _try_all(self, pods: Sequence[Pod]) -> dict[str, PlacedPod]:
        found = {}
        for pod in sorted(pods, key=self._place_in_queue):
            placed = self._try(pod)
            if placed is not None:
                found[object_key(pod.metadata)] = placed
        return found

    def _place_in_queue(self, pod: Pod) -> tuple[int, int]:
        """The most important first, of equals the one that has waited longest."""
        arrival = self._arrivals.get(object_key(pod.metadata), len(self._arrivals))
        return -(pod.spec.priority or 0), arrival

    def _try(self, pod: Pod) -> PlacedPod | None:
        engine, key = self.engine, object_key(pod.metadata)
        info = engine.cluster.infos.of(pod)
        try:
            gate = engine.pre_enqueue(info)
        except UnknownProfileError as problem:
            self._messages[key] = str(problem)
            return None
        if gate is not None:
            self._messages[key] = gate.message
            return None
        attempt = engine.schedule(info, self.ask)
        decision, binding = attempt.decision, attempt.binding
        if binding is None:
            self._messages[key] = decision.message or ""
            return None
        reserved = reservations_of(engine.cluster, self._dialect.name).get(info.uid)
        if decision.waits_s or reserved is None:
            self._messages[key] = f"{', '.join(decision.waits_s) or 'GPUShare'} does not let it go"
            engine.undo(binding)
            return None
        self._held.append((pod, self._waiting.pop(key, None) is not None, binding))
        equal = max(len(decision.best_rows), 1)
        return PlacedPod(binding.node_name, reserved.allocation, equal)


class _PreferringSource:
    """Of equally good nodes the one that a pod comes from, or else the first by name."""

    def __init__(self) -> None:
        self.source = ""

    def pick(self, rows: BestRows, names: Sequence[str]) -> int:
        numbers: list[int] = rows.tolist()
        return min(numbers, key=lambda row: (names[row] != self.source, names[row]))
