"""What the engine asks for, carried out at once on the engine's own cluster.

There is no server that could refuse or be late: bindings bind, victims leave, nominations and
conditions are written, plugins' own writes reach their objects, and the engine hears of all of it
as a watch would tell it. Every driver without an API server is one of these. What differs between
them (a clock that moves, results that are kept, a recording that is followed) overrides a method:
the requests themselves, one method each, or the hooks at the end, which do nothing here.
"""

from typing import assert_never

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod, PodCondition, PodStatus
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.offline.driver.in_memory_api import (
    InMemoryApi,
    LiveClusterNeeded,
    carry_out,
    run_to_end,
    with_next_version,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import (
    Bind,
    Event,
    Nominate,
    PatchPodGroupStatus,
    PatchStatus,
    PluginWrite,
    Preempt,
    PreemptForGroup,
    Preemptor,
    Request,
)
from podium.scheduler.engine.scheduler import CRASHED, Engine
from podium.scheduler.engine.validation import InvariantBroken
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.handle import DeferredWrite
from podium.scheduler.framework.status import Status, error


class OfflineDriver:
    def __init__(self, engine: Engine, api: InMemoryApi) -> None:
        self.engine = engine
        self.api = api

    def carry_out_requests(self) -> None:
        """Do what is requested until nothing is."""
        while requests := self.engine.take_requests():
            for request in requests:
                self.carry_out(request)

    def carry_out(self, request: Request) -> None:
        match request:
            case Bind():
                self.bind(request.binding)
            case Event():
                self.record_event(request)
            case PatchStatus():
                self.patch_status(request)
            case Nominate():
                self.nominate(request)
            case Preempt() | PreemptForGroup():
                self.preempt(request)
            case PatchPodGroupStatus():
                self.patch_pod_group(request)
            case PluginWrite():
                self.write(request)
            case _:
                assert_never(request)

    # bindings

    def bind(self, binding: Binding) -> None:
        info = binding.cycle.pod
        problem = self._run_binding(binding)
        is_bound = not self.engine.cluster.is_assumed(info.uid)
        if problem is None and not is_bound:  # a binder that went past the API handle
            run_to_end(self.api.bind(info, binding.node_name))
            is_bound = True
        if is_bound:
            problem = None
        self.engine.bindings.finish_binding(binding, problem)
        self.binding_ended(binding, problem)

    def _run_binding(self, binding: Binding) -> Status | None:
        try:
            return run_to_end(binding.run(self.api))
        except LiveClusterNeeded as problem:
            return error(str(problem))
        except InvariantBroken:
            raise
        except Exception as problem:
            self.binding_broke(binding, problem)
            return error(CRASHED + describe(problem))

    # statuses of pods

    def patch_status(self, request: PatchStatus) -> None:
        current = self._find_pending(request.pod)
        if current is None:
            return
        condition = PodCondition(
            type=POD_SCHEDULED, status="False", reason=request.reason, message=request.message
        )
        others = (held for held in current.status.conditions or () if held.type != POD_SCHEDULED)
        status = replace(current.status, conditions=(*others, condition))
        if request.nominated_node is not None:
            status = replace(status, nominated_node_name=request.nominated_node)
        self._put_status(current, status)

    def nominate(self, request: Nominate) -> None:
        """Write or, with no name, clear a nomination."""
        current, node_name = self._find_pending(request.pod), request.node_name
        if current is not None and current.status.nominated_node_name != node_name:
            self._put_status(current, replace(current.status, nominated_node_name=node_name))

    def _find_pending(self, info: PodInfo) -> Pod | None:
        """The pod as it is now, None if there is nothing to say of it any more."""
        current = self.engine.state.pods.get(info.key)
        if current is None or not info.is_about(current) or current.spec.node_name:
            return None
        return current

    def _put_status(self, pod: Pod, status: PodStatus) -> None:
        self.engine.intake.pod_put(with_next_version(replace(pod, status=status)))

    # making room

    def preempt(self, request: Preempt | PreemptForGroup) -> None:
        engine, preemptor = self.engine, request.preemptor
        for weaker in request.clear:
            self.nominate(Nominate(weaker, ""))
        for eviction in request.evict:
            victim = eviction.victim
            held = engine.cluster.placements.get(victim.uid)
            node_name = engine.cluster.nodes.names[held.row] if held else request.node_name
            engine.intake.pod_deleted(victim.pod)
            self.victim_evicted(preemptor, victim, node_name)
            engine.preemptions.confirm_eviction(preemptor, victim, request.node_name)
        engine.preemptions.finish_preemption(preemptor, None)

    # the rest

    def patch_pod_group(self, request: PatchPodGroupStatus) -> None:
        metadata = request.group.metadata
        catalog = self.engine.cluster.catalog
        group = catalog.get(PodGroup, metadata.name, metadata.namespace)
        if group is None:
            return
        others = (c for c in group.status.conditions or () if c.type != request.condition.type)
        status = replace(group.status, conditions=(*others, request.condition))
        self.engine.intake.object_put(replace(group, status=status))

    def write(self, request: PluginWrite) -> None:
        if isinstance(request.write, DeferredWrite):
            carry_out(request.write, self.api)

    # hooks

    def binding_ended(self, binding: Binding, problem: Status | None) -> None:
        """A pod is bound, or why it is not; the engine has heard of it."""

    def binding_broke(self, binding: Binding, problem: Exception) -> None:  # noqa: ARG002
        """A plugin of the binding cycle has raised `problem`. That is the end, unless a driver has
        to live with the plugins of users."""
        raise problem

    def victim_evicted(self, preemptor: Preemptor, victim: PodInfo, node_name: str) -> None:
        """A victim has left its node, and the preemptor is about to hear of it."""

    def record_event(self, event: Event) -> None:
        """An event that a server would store."""
