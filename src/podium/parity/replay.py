"""Running a recorded case through the engine, step by step.

Between steps the outcome is applied as the recording did it: a placed pod runs, victims vanish,
nominations are set or cleared. Expectations are never read here.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

import msgspec

from podium.golang.errors import InputError, ObjectError
from podium.golang.field_paths import join
from podium.kubernetes.kinds.typed_objects import decode_object
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.config.load import load_configuration
from podium.engine.choice import FirstByName
from podium.engine.decision import Decision
from podium.engine.scheduler import Attempt, Engine
from podium.framework.asking import Asker
from podium.framework.registry import Registry
from podium.framework.status import Code
from podium.parity.cases import Case
from podium.parity.recording import expectation
from podium.plugins import in_tree_registry
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.dynamic_resources.claim_writing import (
    Deallocate,
    DeleteClaim,
    ReleaseReservation,
    deallocated,
    released,
)

K = TypeVar("K", bound=KubeStruct)

_FINISHED = ("Succeeded", "Failed")
_RECORDED_AT = 1767225600.0
"""2026-01-01T00:00:00Z, the time of every step."""


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
        configuration = load_configuration(case.config, source=case.name)
        self.engine = Engine(
            configuration, _in_tree_registry(), choice=FirstByName(), clock=lambda: _RECORDED_AT
        )
        self._pending: dict[str, Pod] = {}
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
        key = f"{decoded.metadata.namespace}/{decoded.metadata.name}"
        pod = self._pending.get(key, decoded)
        self._pending[key] = pod
        info = self.engine.cluster.infos.of(pod)
        if pod.status.nominated_node_name:
            self.engine.cluster.nominator.nominate(info, pod.status.nominated_node_name)
        held_back = self.engine.pre_enqueue(info)
        if held_back is not None:
            return expectation(self.engine.gated(info, held_back), {})
        attempt = self.engine.schedule(info, ask)
        reserve = self._apply(attempt, index)
        return expectation(attempt.decision, reserve)

    def _decode(self, raw: dict[str, Any], at: str) -> KubeObject:
        try:
            return decode_object(raw, strict=False)
        except ObjectError as wrong:
            path = join(at, wrong.path)
            raise InputError(
                wrong.problem, source=self._name, path=path, remedy=wrong.remedy
            ) from None

    def _load(self, objects: list[Any]) -> None:
        cluster = self.engine.cluster
        for node in sorted(_of(objects, Node), key=lambda n: n.metadata.name):
            cluster.put_node(node)
        for obj in objects:
            if not isinstance(obj, Node | Pod):
                cluster.catalog.put(obj)
        pods = _of(objects, Pod)
        for pod in sorted(pods, key=lambda p: (p.metadata.namespace, p.metadata.name)):
            if pod.status.phase in _FINISHED:
                continue
            if pod.spec.node_name:
                cluster.add_pod(pod)
            else:
                info = cluster.infos.of(pod)
                self._pending[info.key] = pod
                if pod.status.nominated_node_name:
                    cluster.nominator.nominate(info, pod.status.nominated_node_name)

    def _apply(self, attempt: Attempt, index: int) -> dict[str, Any]:
        decision = attempt.decision
        if attempt.binding is not None:
            return self._run(attempt, index)
        for write in attempt.writes:
            self._write(write)
        if decision.post_filter is not None and decision.post_filter.code is Code.SUCCESS:
            self._preempt(decision)
        if decision.nominated_node is not None:
            self._nominate(decision.pod, decision.nominated_node)
        return {}

    def _run(self, attempt: Attempt, index: int) -> dict[str, Any]:
        """The pod runs on its node from now on."""
        binding = attempt.binding
        if binding is None:
            raise ValueError("nothing is bound")
        reserve: dict[str, Any] = {}
        for plugin in binding.profile.reserve:
            reserve.update(plugin.reserved(binding.cycle))
            if isinstance(plugin, DynamicResources):
                for claim in plugin.claims_after_binding(binding.cycle):
                    self.engine.cluster.catalog.put(claim)
        pod = self.engine.cluster.placements[attempt.decision.pod.uid].info.pod
        running = msgspec.structs.replace(
            pod,
            spec=msgspec.structs.replace(pod.spec, node_name=binding.node_name),
            status=msgspec.structs.replace(
                pod.status,
                start_time=f"2026-01-01T{index // 60:02d}:{index % 60:02d}:00Z",
                nominated_node_name="",
            ),
        )
        self.engine.cluster.add_pod(running)
        self._pending.pop(attempt.decision.pod.key, None)
        return reserve

    def _write(self, write: object) -> None:
        """Carry out what DynamicResources wants done to claims after a failure."""
        catalog = self.engine.cluster.catalog
        match write:
            case Deallocate():
                catalog.put(deallocated(write.claim))
            case ReleaseReservation():
                catalog.put(released(write.claim, write.pod_uid))
            case DeleteClaim():
                catalog.remove(write.claim)

    def _preempt(self, decision: Decision) -> None:
        cluster = self.engine.cluster
        outcome = decision.post_filter
        if outcome is None or not outcome.nominated_node:
            return
        for victim in outcome.victims:
            if not victim.terminating:
                cluster.remove_pod(victim.uid)
        for rival in cluster.nominator.on_node(outcome.nominated_node):
            if rival.priority < decision.pod.priority and rival.key in self._pending:
                # The recording cleared the stored object and sent the scheduler no update of it, so
                # what the scheduler holds in memory goes on counting.
                self._pending[rival.key] = _nominated(self._pending[rival.key], "")

    def _nominate(self, info: PodInfo, node_name: str) -> None:
        """Set or clear a pending pod's nomination."""
        cluster = self.engine.cluster
        pod = _nominated(self._pending.get(info.key, info.pod), node_name)
        self._pending[info.key] = pod
        if node_name:
            cluster.nominator.nominate(cluster.infos.of(pod), node_name)
        else:
            cluster.nominator.drop(info.uid)


@cache
def _in_tree_registry() -> Registry:
    """One for all cases: checking every plugin anew for each took 7 % of the time of a replay."""
    return in_tree_registry()


def _nominated(pod: Pod, node_name: str) -> Pod:
    status = msgspec.structs.replace(pod.status, nominated_node_name=node_name)
    return msgspec.structs.replace(pod, status=status)


def _of(objects: list[Any], kind: type[K]) -> list[K]:
    return [obj for obj in objects if isinstance(obj, kind)]
