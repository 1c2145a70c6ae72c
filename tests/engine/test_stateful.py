"""A cluster that lives: whatever happens in whatever order, nothing breaks and nobody is lost.

A machine of rules makes nodes and pods come, change and go, lets time pass and lets bindings,
permissions and evictions end well or badly. The engine checks all its invariants after each
transition. At the end everything is let go on undisturbed; then every pod that a fresh engine could
place must have been placed, and both engines must give the same reasons for all others.

`make soak` (PODIUM_LONG=1) runs it for more than a hundred thousand transitions.
"""

import os
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import convert
from pod_shapes import NODE_NAMES, POD_NAMES, nodes, pods
from small_world import ApiError, SmallWorld
from virtual_clock import VirtualClock

from podium.api.pod import Pod, Toleration
from podium.api.workloads import PodDisruptionBudget
from podium.config.load import load_configuration
from podium.config.types import API_VERSION, KIND
from podium.engine.choice import Seeded
from podium.engine.scheduler import Attempt, Engine
from podium.framework.cycle import Cycle
from podium.framework.points import (
    ApiHandle,
    PermitPlugin,
    PermitResult,
    PreBindPlugin,
    PreFlight,
    ReservePlugin,
)
from podium.framework.status import SKIP, Code, Status, error, unschedulable
from podium.plugins import in_tree_registry

LONG = bool(os.environ.get("PODIUM_LONG"))
LONGEST_WAIT_S = 400.0


class Mischief(ReservePlugin, PermitPlugin, PreBindPlugin):
    """Does to every other attempt of a pod what its annotation says, until it is calm."""

    name = "Mischief"
    calm = False

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.reserved: dict[str, int] = {}
        self._attempts: dict[str, int] = {}

    def _does(self, cycle: Cycle, what: str) -> bool:
        annotations = cycle.pod.pod.metadata.annotations or {}
        odd = self._attempts.get(cycle.pod.uid, 0) % 2 == 1
        return odd and not self.calm and annotations.get("mischief") == what

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        uid = cycle.pod.uid
        self.reserved[uid] = self.reserved.get(uid, 0) + 1
        self._attempts[uid] = self._attempts.get(uid, 0) + 1
        if self._does(cycle, "reserve breaks"):
            raise ValueError("reserve broke")
        return unschedulable("not reserved") if self._does(cycle, "reserve rejects") else None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        self.reserved.pop(cycle.pod.uid, None)

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        if self._does(cycle, "permit breaks"):
            raise ValueError("permit broke")
        if self._does(cycle, "permit rejects"):
            return PermitResult(unschedulable("not permitted"))
        return PermitResult(Status(Code.WAIT), 30.0) if self._does(cycle, "permit waits") else None

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        if self._does(cycle, "pre-flight breaks"):
            return PreFlight(error("pre-flight broke"))
        annotations = cycle.pod.pod.metadata.annotations or {}
        return PreFlight(None if annotations.get("mischief", "").startswith("pre-bind") else SKIP)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        if self._does(cycle, "pre-bind breaks"):
            raise ValueError("pre-bind broke")
        return unschedulable("no disk") if self._does(cycle, "pre-bind rejects") else None


def make_engine(clock: VirtualClock, *, validate: bool) -> Engine:
    sets = {"multiPoint": {"enabled": [{"name": Mischief.name}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": sets}
    configuration = load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
    )
    registry = in_tree_registry().with_plugins(Mischief)
    return Engine(configuration, registry, choice=Seeded(1), clock=clock, validate=validate)


class LivingCluster(RuleBasedStateMachine):
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.clock = VirtualClock(1000.0)
        self.engine = make_engine(self.clock, validate=True)
        self.world = SmallWorld(self.engine, self.clock)
        self.mischief = self._plugin()
        self.created = 0

    def _plugin(self) -> Mischief:
        found = self.engine.profiles["default-scheduler"].plugins[Mischief.name]
        assert isinstance(found, Mischief)
        return found

    def _done(self, heard: bool = True) -> None:
        LivingCluster.steps += 1
        if heard:
            self.world.deliver()

    def _some_pod(self, data: st.DataObject, kind: str) -> str | None:
        found = [key for key, pod in self.world.pods.items() if _is(pod, kind)]
        return data.draw(st.sampled_from(found)) if found else None

    # nodes

    @rule(data=st.data(), name=st.sampled_from(NODE_NAMES), heard=st.booleans())
    def put_node(self, data: st.DataObject, name: str, heard: bool) -> None:
        self.world.put_node(data.draw(nodes(name)))
        self._done(heard)

    @precondition(lambda self: len(self.world.nodes) > 1)
    @rule(data=st.data(), heard=st.booleans())
    def remove_node(self, data: st.DataObject, heard: bool) -> None:
        self.world.remove_node(data.draw(st.sampled_from(sorted(self.world.nodes))))
        self._done(heard)

    # pods

    @rule(data=st.data(), name=st.sampled_from(POD_NAMES), heard=st.booleans())
    def create_pod(self, data: st.DataObject, name: str, heard: bool) -> None:
        self._create(data, name)
        self._done(heard)

    @rule(data=st.data(), names=st.sets(st.sampled_from(POD_NAMES), min_size=3, max_size=6))
    def create_pods(self, data: st.DataObject, names: set[str]) -> None:
        for name in sorted(names):
            self._create(data, name)
        self._done()

    @rule(data=st.data(), name=st.sampled_from(POD_NAMES), node=st.sampled_from(NODE_NAMES))
    def create_pod_on_a_node(self, data: st.DataObject, name: str, node: str) -> None:
        self._create(data, name, node)
        self._done()

    def _create(self, data: st.DataObject, name: str, node: str = "") -> None:
        self.created += 1
        if f"default/{name}" in self.world.pods:
            self.world.remove_pod(f"default/{name}")
        self.world.put_pod(data.draw(pods(name, f"uid-{self.created}", node=node)))

    @rule(data=st.data(), label=st.sampled_from(["web", "db"]), heard=st.booleans())
    def relabel_pod(self, data: st.DataObject, label: str, heard: bool) -> None:
        key = self._some_pod(data, "any")
        if key is not None:
            self.world.change_pod(key, meta={"labels": {"app": label}})
        self._done(heard)

    @rule(data=st.data(), heard=st.booleans())
    def tolerate(self, data: st.DataObject, heard: bool) -> None:
        key = self._some_pod(data, "pending")
        if key is not None:
            more = (*(self.world.pods[key].spec.tolerations or ()), Toleration(operator="Exists"))
            self.world.change_pod(key, spec={"tolerations": more})
        self._done(heard)

    @rule(data=st.data(), heard=st.booleans())
    def open_gates(self, data: st.DataObject, heard: bool) -> None:
        key = self._some_pod(data, "gated")
        if key is not None:
            self.world.change_pod(key, spec={"scheduling_gates": ()})
        self._done(heard)

    @rule(data=st.data(), node=st.sampled_from(["", *NODE_NAMES]), heard=st.booleans())
    def nominate_pod(self, data: st.DataObject, node: str, heard: bool) -> None:
        key = self._some_pod(data, "pending")
        if key is not None:
            self.world.change_pod(key, status={"nominated_node_name": node})
        self._done(heard)

    @rule(data=st.data(), graceful=st.booleans(), heard=st.booleans())
    def delete_pod(self, data: st.DataObject, graceful: bool, heard: bool) -> None:
        key = self._some_pod(data, "any")
        if key is not None:
            self.world.delete_pod(key, graceful=graceful)
        self._done(heard)

    @rule(data=st.data(), heard=st.booleans())
    def delete_a_pending_pod_with_finalizers(self, data: st.DataObject, heard: bool) -> None:
        key = self._some_pod(data, "pending")
        if key is not None:
            self.world.change_pod(key, meta={"finalizers": ("example/keep",)})
            self.world.delete_pod(key, graceful=True)
        self._done(heard)

    @rule(data=st.data(), phase=st.sampled_from([None, "Succeeded", "Failed"]))
    def end_a_pod(self, data: st.DataObject, phase: str | None) -> None:
        """A running pod finishes, or one that was told to go is gone."""
        key = self._some_pod(data, "going" if phase is None else "placed")
        if key is not None and phase is None:
            self.world.remove_pod(key)
        elif key is not None:
            self.world.change_pod(key, status={"phase": phase})
        self._done()

    @rule(data=st.data(), node=st.sampled_from(NODE_NAMES), heard=st.booleans())
    def somebody_else_binds(self, data: st.DataObject, node: str, heard: bool) -> None:
        key = self._some_pod(data, "pending")
        if key is not None:
            self.world.run_pod(key, node)
        self._done(heard)

    # budgets

    @rule(allowed=st.integers(0, 1), app=st.sampled_from(["web", "db"]))
    def put_budget(self, allowed: int, app: str) -> None:
        raw = {
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed},
        }
        self.world.put_object(convert(raw, PodDisruptionBudget))
        self._done()

    @precondition(lambda self: self.world.objects)
    @rule(data=st.data())
    def remove_budget(self, data: st.DataObject) -> None:
        self.world.remove_object(data.draw(st.sampled_from(sorted(self.world.objects))))
        self._done()

    # the engine and its driver

    @precondition(lambda self: self.world.undelivered)
    @rule(count=st.integers(1, 3))
    def hear(self, count: int) -> None:
        self.world.deliver(count)
        self._done(heard=False)

    @rule(attempts=st.integers(1, 5))
    def schedule(self, attempts: int) -> None:
        for _ in range(attempts):
            if not self._attempt():
                break
        self._done(heard=False)

    @rule(heard=st.booleans())
    def schedule_all(self, heard: bool) -> None:
        self._schedule_all()
        self._done(heard)

    def _schedule_all(self) -> None:
        for _ in range(200):
            if not self._attempt():
                return
        raise AssertionError("the queue never empties")

    def _attempt(self) -> bool:
        attempt = self.engine.schedule_next()
        if attempt is not None and attempt.binding is not None:
            self._has_room(attempt)
        self.world.collect()
        return attempt is not None

    def _has_room(self, attempt: Attempt) -> None:
        """Whoever was just placed fits with everybody else who is there."""
        cluster = self.engine.cluster
        info, name = attempt.decision.pod, attempt.decision.bound
        held = cluster.placements.get(info.uid)
        if held is None or name is None:
            return
        table, usage, row = cluster.nodes, cluster.usage, held.row
        assert usage.pod_count[row] <= table.allowed_pods[row]
        for resource, amount in info.shape.requests.items():
            index = table.resource_id(resource)
            if amount:
                assert usage.requested[index, row] <= table.allocatable[index, row]

    @rule(seconds=st.sampled_from([0.1, 1.0, 3.0, 11.0, 31.0, 331.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.engine.tick()
        self.world.collect()
        self._done(heard=False)

    @precondition(lambda self: self.world.bindings)
    @rule(data=st.data(), end=st.sampled_from(["good", "good", "refused", "timeout"]))
    def end_binding(self, data: st.DataObject, end: str) -> None:
        index = data.draw(st.integers(0, len(self.world.bindings) - 1))
        self.world.finish_binding(
            index,
            refusal=ApiError("refused") if end == "refused" else None,
            timeout=ApiError("timeout") if end == "timeout" else None,
            heard_first=data.draw(st.booleans()),
        )
        self._done(heard=data.draw(st.booleans()))

    @precondition(lambda self: len(self.engine.state.waiting))
    @rule(data=st.data(), allow=st.booleans())
    def answer_waiting(self, data: st.DataObject, allow: bool) -> None:
        waiting = data.draw(st.sampled_from(list(self.engine.state.waiting)))
        if allow:
            waiting.allow(Mischief.name)
        else:
            waiting.reject(Mischief.name, "not after all")
        self._done(heard=False)

    @precondition(lambda self: self.world.preemptions)
    @rule(data=st.data(), graceful=st.booleans(), heard=st.booleans())
    def evict(self, data: st.DataObject, graceful: bool, heard: bool) -> None:
        index = data.draw(st.integers(0, len(self.world.preemptions) - 1))
        self.world.evict_next(index, graceful=graceful)
        self._done(heard)

    @precondition(lambda self: self.world.preemptions)
    @rule(data=st.data())
    def fail_eviction(self, data: st.DataObject) -> None:
        index = data.draw(st.integers(0, len(self.world.preemptions) - 1))
        self.world.end_preemption(index, "forbidden")
        self._done(heard=False)

    # what must always be so

    @invariant()
    def nobody_queued_has_something_reserved(self) -> None:
        for queued in self.engine.queue:
            assert queued.info.uid not in self.mischief.reserved

    @invariant()
    def the_engine_knows_what_it_has_heard_of(self) -> None:
        if not self.world.undelivered:
            assert self.engine.state.pods == self.world.pods
            table = self.engine.cluster.nodes
            present = {name for name in NODE_NAMES if table.is_present(name)}
            assert present == self.world.nodes.keys()

    # the end

    @rule()
    def quiesce(self) -> None:
        """Let everything that is under way come to its end; then compare with a fresh engine."""
        self.mischief.calm = True
        for _ in range(60):
            if not self._settle():
                break
        else:
            raise AssertionError("the cluster never comes to rest")
        self._compare_with_a_fresh_engine()
        self.mischief.calm = False
        self._done()

    def _settle(self) -> bool:
        """One round in which nothing fails; true if pods were placed or went."""
        before = self._placed()
        world, engine = self.world, self.engine
        for _ in range(3):
            self.clock.advance(LONGEST_WAIT_S)
            engine.tick()
            world.deliver()
            self._schedule_all()
            for waiting in engine.state.waiting:
                waiting.allow(Mischief.name)
            self._schedule_all()
            while world.bindings:
                world.finish_binding(0)
            while world.preemptions:
                world.evict_next(0, graceful=False)
            for key in [key for key, pod in world.pods.items() if _is(pod, "going")]:
                world.remove_pod(key)
            world.deliver()
        return self._placed() != before

    def _placed(self) -> dict[str, str]:
        return {pod.metadata.uid: pod.spec.node_name for pod in self.world.pods.values()}

    def _compare_with_a_fresh_engine(self) -> None:
        state = self.engine.state
        assert not state.flights
        assert not len(state.waiting)
        assert not self.engine.queue.pods_in_flight()
        fresh = make_engine(self.clock, validate=False)
        for node in self.world.nodes.values():
            fresh.intake.node_put(node)
        for obj in self.world.objects.values():
            fresh.intake.object_put(obj)
        for pod in self.world.pods.values():
            if pod.spec.node_name:
                fresh.intake.pod_put(pod)
        for info, node_name in self.engine.cluster.nominator:
            fresh.cluster.nominator.nominate(fresh.cluster.infos.of(info.pod), node_name)
        for pod in self.world.pods.values():
            if _is(pod, "ready"):
                self._has_the_same_reasons(pod, fresh)

    def _has_the_same_reasons(self, pod: Pod, fresh: Engine) -> None:
        attempts = [
            engine.schedule(engine.cluster.infos.of(pod)).decision
            for engine in (fresh, self.engine)
        ]
        for decision in attempts:
            assert decision.bound is None, f"{pod.metadata.name} fits on {decision.bound}"
            outcome = decision.post_filter
            assert outcome is None or outcome.code is not Code.SUCCESS, "room could be made"
        assert attempts[0].message == attempts[1].message
        assert attempts[0].rejectors == attempts[1].rejectors

    def teardown(self) -> None:
        if sys.exc_info()[0] is None:
            self.quiesce()


def _is(pod: Pod, kind: str) -> bool:
    placed, going = bool(pod.spec.node_name), pod.metadata.deletion_timestamp is not None
    gated = bool(pod.spec.scheduling_gates)
    ours = pod.spec.scheduler_name == "default-scheduler"
    match kind:
        case "any":
            return True
        case "placed":
            return placed
        case "going":
            return going
        case "pending":
            return not placed and not going and not gated
        case "gated":
            return not placed and gated
        case _:
            return ours and not placed and not going and not gated


TestLivingCluster = pytest.mark.slow(LivingCluster.TestCase)
TestLivingCluster.settings = settings(
    max_examples=700 if LONG else 60,
    stateful_step_count=200 if LONG else 50,
    derandomize=not LONG,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
