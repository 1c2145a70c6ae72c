"""Running a recorded case through the engine, step by step, and recording a decision.

Between steps the outcome is applied as the recording did it: a placed pod runs, victims vanish,
nominations are set or cleared. Expectations are never read here.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

from msgspec.structs import replace

from podium.golang.errors import InputError, ObjectError
from podium.golang.mistakes import join
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_object
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi, with_next_version
from podium.parity.cases import Case
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.requests import Nominate
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.framework.status import Status, error
from podium.scheduler.plugins import in_tree_registry
from podium.scheduler.plugins.dynamic_resources import DynamicResources

K = TypeVar("K", bound=KubeStruct)

_RECORDED_AT = 1767225600.0
"""2026-01-01T00:00:00Z, the time of every step."""


NOT_TRIED = "the scheduler would not try this pod"

AskerOf = Callable[[Engine], AbstractContextManager[Asker | None]]
"""Who asks the extenders of an engine."""


def decide(case: Case, asker_of: AskerOf = lambda _: nullcontext()) -> Iterator[dict[str, Any]]:
    """The `expect` of each step, in order."""
    replay = Replay(case)
    with asker_of(replay.engine) as ask:
        for index, step in enumerate(case.steps):
            yield replay.step(index, step.pod, ask)


class Replay:
    """A case's cluster and its pending pods."""

    def __init__(self, case: Case) -> None:
        configuration = load_configuration(case.config, source=case.name, gates=FeatureGates())
        self.engine = Engine(
            configuration,
            _in_tree_registry(),
            choice=FirstByName(),
            clock=lambda: _RECORDED_AT,
            gates=FeatureGates(),
        )
        self._driver = _RecordedDriver(self.engine)
        self._name = case.name
        self._load(
            [self._decode(raw, f"objects[{index}]") for index, raw in enumerate(case.objects)]
        )

    def step(self, index: int, raw: dict[str, Any], ask: Asker | None = None) -> dict[str, Any]:
        """Schedule one pod, apply what came of it, and tell."""
        at = f"steps[{index}].pod"
        decoded = self._decode(raw, at)
        if not isinstance(decoded, Pod):
            problem = f"a step schedules a Pod, not a {decoded.kind}"
            raise InputError(problem, source=self._name, path=at)
        if decoded.spec.scheduler_name not in self.engine.profiles:
            known = ", ".join(self.engine.profiles)
            raise InputError(
                f"no profile is named {decoded.spec.scheduler_name!r}",
                source=self._name,
                path=f"{at}.spec.schedulerName",
                remedy=f"the case's config has {known}; add the profile there",
            )
        driver, engine = self._driver, self.engine
        driver.reserved, driver.step = {}, index
        info = self._find(decoded)
        attempt = engine.schedule_pod(info, ask)
        if attempt is None:
            return expectation(
                engine.record_gated(info, engine.pre_enqueue(info) or error(NOT_TRIED)), {}
            )
        driver.carry_out_requests()
        return expectation(attempt.decision, driver.reserved)

    def _find(self, decoded: Pod) -> PodInfo:
        """A pod to be tried: as it is stored if it has been tried before."""
        key, state = object_key(decoded.metadata), self.engine.state
        stored = self._driver.stored.pop(key, decoded if key not in state.pods else None)
        if stored is not None:
            self.engine.intake.pod_put(stored)
        return state.cluster.infos.of(state.pods[key])

    def _decode(self, raw: dict[str, Any], at: str) -> KubeObject:
        try:
            return _in_namespace(decode_object(raw, strict=False))
        except ObjectError as wrong:
            path = join(at, wrong.path)
            raise InputError(
                wrong.problem, source=self._name, path=path, remedy=wrong.remedy
            ) from None

    def _load(self, objects: list[Any]) -> None:
        nodes = sorted(_of(objects, Node), key=lambda n: n.metadata.name)
        others = [obj for obj in objects if not isinstance(obj, Node | Pod)]
        pods = sorted(_of(objects, Pod), key=lambda p: (p.metadata.namespace, p.metadata.name))
        self.engine.intake.put_all([*nodes, *others, *pods])


def _in_namespace(obj: KubeObject) -> KubeObject:
    """Everything that can be in a namespace is in one."""
    if obj.namespace or obj.cluster_scoped:
        return obj
    return replace(obj, metadata=replace(obj.metadata, namespace="default"))


class _RecordedDriver(OfflineDriver):
    """Carries out what follows a decision as the recording did it: PreBind wrote devices and
    nothing else, and pods started a minute after one another."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, InMemoryApi(engine))
        self.stored: dict[str, Pod] = {}
        """Pods as they are stored, by key, where the scheduler was not told of it."""
        self.reserved: dict[str, Any] = {}
        """What plugins held for the pod that was bound last."""
        self.step = 0

    def bind(self, binding: Binding) -> None:
        for plugin in binding.profile.reserve:
            self.reserved.update(plugin.reserved(binding.cycle))
            if isinstance(plugin, DynamicResources):
                for claim in plugin.claims_after_binding(binding.cycle):
                    self.engine.intake.object_put(claim)
        info = binding.cycle.pod
        pod = self.engine.cluster.placements[info.uid].info.pod
        start = f"2026-01-01T{self.step // 60:02d}:{self.step % 60:02d}:00Z"
        spec = replace(pod.spec, node_name=binding.node_name)
        status = replace(pod.status, start_time=start, nominated_node_name="")
        self.engine.intake.pod_put(with_next_version(replace(pod, spec=spec, status=status)))
        self.engine.bindings.finish_binding(binding, None)

    def nominate(self, request: Nominate) -> None:
        # The recording cleared the stored object and sent the scheduler no update of it, so what
        # the scheduler holds in memory goes on counting.
        pod = self._find_pending(request.pod)
        if pod is not None:
            status = replace(pod.status, nominated_node_name=request.node_name)
            self.stored[request.pod.key] = with_next_version(replace(pod, status=status))


@cache
def _in_tree_registry() -> PluginRegistry:
    """One for all cases: checking every plugin anew for each took 7 % of the time of a replay."""
    return in_tree_registry()


def _of(objects: list[Any], kind: type[K]) -> list[K]:
    return [obj for obj in objects if isinstance(obj, kind)]


def expectation(decision: Decision, reserve: dict[str, Any]) -> dict[str, Any]:
    """The `expect` part of a step."""
    found: dict[str, Any] = {}
    if decision.pre_enqueue is not None:
        found["preenqueue"] = _status(decision.pre_enqueue)
    found["prefilter"] = _pre_filter(decision)
    found["filter"] = {
        name: _status(status) if status else None
        for name, status in sorted(decision.filter_statuses().items())
    }
    found["prescore_skipped"] = sorted(decision.pre_score_skipped)
    found["scores"], found["total"] = _scores(decision)
    found["best"] = decision.best
    found["bound"] = decision.bound
    found["message"] = decision.message
    found["preemption"] = _preemption(decision)
    if reserve:
        found["reserve"] = reserve
    return found


def _status(status: Status) -> dict[str, Any]:
    return {
        "plugin": status.plugin,
        "code": status.code.label,
        "reasons": sorted(status.reasons),
    }


def _pre_filter(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.pre_filter
    if outcome is None:
        return None
    narrowed = outcome.nodes is not None and outcome.status is None
    return {
        "nodes": sorted(outcome.nodes) if narrowed and outcome.nodes else None,
        "skipped": sorted(outcome.skipped),
        "status": _status(outcome.status) if outcome.status else None,
    }


def _scores(decision: Decision) -> tuple[dict[str, Any], dict[str, int]]:
    names = [decision.node_names[row] for row in decision.feasible]
    scores = {
        s.plugin: {
            name: {"raw": raw, "normalized": normalized, "weighted": normalized * s.weight}
            for name, raw, normalized in zip(
                names, s.raw.tolist(), s.normalized.tolist(), strict=True
            )
        }
        for s in sorted(decision.scores, key=lambda s: s.plugin)
    }
    total = {} if decision.total is None else dict(zip(names, decision.total.tolist(), strict=True))
    return scores, dict(sorted(total.items()))


def _preemption(decision: Decision) -> dict[str, Any] | None:
    outcome = decision.post_filter
    if outcome is None:
        return None
    return {
        "nominated_node": outcome.nominated_node or None,
        "victims": sorted(victim.key for victim in outcome.victims),
        "status": outcome.code.label,
        "message": outcome.message,
    }
