"""Doing what the engine asks for, at once and on the cluster in memory.

Bindings bind, victims leave, nominations and conditions are written down, plugins' own writes
reach the objects they are about. What came of it goes to the engine, as a watch would tell it, and
to the outcomes.
"""

import traceback
from contextlib import suppress

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.cluster.catalog import object_key
from podium.engine import Engine
from podium.engine.binding_cycle import Binding
from podium.engine.in_memory_api import LiveClusterNeeded, run_to_end
from podium.offline.in_memory_objects import with_next_version
from podium.engine.requests import (
    Bind,
    GroupPreemptor,
    PatchPodGroupStatus,
    PatchStatus,
    PluginWrite,
    Preempt,
    PreemptForGroup,
    Request,
)
from podium.engine.scheduler import CRASHED
from podium.engine.validation import InvariantBroken
from podium.framework.faults import describe
from podium.framework.status import Status, error
from podium.plugins.dynamic_resources.claim_writing import ClearClaimStatuses
from podium.simulator.outcomes import Outcomes
from podium.simulator.report import PodResult
from podium.simulator.simulated_api import SimulatedApi


class RequestHandler:
    def __init__(
        self,
        engine: Engine,
        api: SimulatedApi,
        outcomes: Outcomes,
    ) -> None:
        self._engine = engine
        self._api = api
        self._outcomes = outcomes

    def handle_all(self) -> None:
        """Do what is asked for until nothing is."""
        while requests := self._engine.take_requests():
            for request in requests:
                self._handle(request)

    def _handle(self, request: Request) -> None:
        match request:
            case Bind():
                self._bind(request.binding)
            case Preempt() | PreemptForGroup():
                self._preempt(request)
            case PatchStatus() if request.nominated_node is not None:
                self._nominate(request.pod.pod, request.nominated_node)
            case PluginWrite() if isinstance(request.write, ClearClaimStatuses):
                self._api.set_claim_statuses(request.pod, None)
            case PluginWrite():
                self._api.write(request.write)
            case PatchPodGroupStatus():
                self._patch_group(request)

    # bindings

    def _bind(self, binding: Binding) -> None:
        info = binding.cycle.pod
        result = self._outcomes.of(info.pod)
        reserved = _describe_reserved(binding)
        problem = self._run_binding(binding, result)
        bound = not self._engine.cluster.is_assumed(info.uid)
        if problem is None and not bound:  # a binder that went past the API handle
            self._api.place(info.pod, binding.node_name)
            bound = True
        self._engine.bindings.finished(binding, None if bound else problem)
        if bound:
            self._outcomes.record_binding(info.pod, binding.node_name, reserved)
        elif problem is not None:
            self._outcomes.record_failed_binding(info.pod, problem)

    def _run_binding(self, binding: Binding, result: PodResult) -> Status | None:
        try:
            return run_to_end(binding.run(self._api))
        except LiveClusterNeeded as problem:
            return error(str(problem))
        except InvariantBroken:
            raise
        except Exception as problem:
            result.crash = traceback.format_exc()
            return error(CRASHED + describe(problem))

    # making room

    def _preempt(self, request: Preempt | PreemptForGroup) -> None:
        engine, preemptor = self._engine, request.preemptor
        for weaker in request.clear:
            self._nominate(weaker.pod, "")
        for eviction in request.evict:
            victim = eviction.victim
            held = engine.cluster.placements.get(victim.uid)
            node_name = engine.cluster.nodes.names[held.row] if held else request.node_name
            engine.intake.pod_deleted(victim.pod)
            self._api.release_claims(victim.pod)
            engine.preemptions.evicted(preemptor, victim, request.node_name)
            self._outcomes.record_eviction(victim.pod, node_name, preemptor.key)
        victims = tuple(evict.victim.key for evict in request.evict)
        pods = preemptor.members if isinstance(preemptor, GroupPreemptor) else (preemptor,)
        for info in pods:
            result = self._outcomes.of(info.pod)
            result.victims = (*result.victims, *victims)
        engine.preemptions.finished(preemptor, None)

    def _nominate(self, pod: Pod, node_name: str) -> None:
        """Write a nomination into the stored pod, as a patch of its status would."""
        current = self._engine.state.pods.get(object_key(pod.metadata))
        if current is None or current.spec.node_name:
            return
        if current.status.nominated_node_name != node_name:
            status = replace(current.status, nominated_node_name=node_name)
            self._engine.intake.pod_put(with_next_version(replace(current, status=status)))

    # groups

    def _patch_group(self, request: PatchPodGroupStatus) -> None:
        metadata = request.group.metadata
        catalog = self._engine.cluster.catalog
        group = catalog.get(PodGroup, metadata.name, metadata.namespace)
        if group is None:
            return
        others = (c for c in group.status.conditions or () if c.type != request.condition.type)
        status = replace(group.status, conditions=(*others, request.condition))
        self._engine.intake.object_put(replace(group, status=status))


def _describe_reserved(binding: Binding) -> str:
    """What plugins have set aside for a pod; a plugin that breaks over it has no say."""
    told: list[str] = []
    for plugin in binding.profile.reserve:
        with suppress(Exception):
            told.append(plugin.describe_reserved(binding.cycle))
    return "; ".join(text for text in told if text)
