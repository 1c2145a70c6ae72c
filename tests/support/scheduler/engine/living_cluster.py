"""A cluster that lives: a machine of rules that makes nodes and pods come, change and go.

Time passes, and bindings, permissions and evictions end well or badly. The engine checks all its
invariants after each transition. At the end everything is let go on undisturbed; then every pod
that a fresh engine could place must have been placed, and both engines must give the same reasons
for all others.
"""

import os
import sys
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec import convert
from support.scheduler.engine.mischief import Mischief
from support.scheduler.engine.pod_shapes import NODE_NAMES, POD_NAMES, apps, nodes, pods
from support.scheduler.engine.small_world import ApiError, SmallWorld

from podium.kubernetes.kinds.pod import Pod, Toleration
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.engine.scheduler import Attempt, Engine
from podium.scheduler.engine.search import Seeded
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins import in_tree_registry
from podium.testing import FakeClock

LONG = bool(os.environ.get("PODIUM_LONG"))
FEW_LIVES = 4
"""Lives in `make test`; `make test-all` has more, `make soak` many."""
LONGEST_WAIT_S = 400.0

POD_CHANGES = {
    "relabel": "any",
    "tolerate": "pending",
    "open gates": "gated",
    "nominate": "pending",
    "delete": "any",
    "delete slowly": "pending",
    "vanish": "going",
    "finish": "placed",
    "bound by another": "portless",
}
"""What may happen to a pod, and to pods of which kind."""
some_names = st.sets(st.sampled_from(POD_NAMES), min_size=1, max_size=5)


def make_engine(clock: FakeClock, *, validate: bool, **configured: Any) -> Engine:
    sets = {"multiPoint": {"enabled": [{"name": Mischief.name}]}}
    short = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 20}}
    profile = {"schedulerName": "default-scheduler", "plugins": sets, "pluginConfig": [short]}
    configuration = load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile], **configured},
        gates=FeatureGates(),
    )
    registry = in_tree_registry().with_plugins(Mischief)
    return Engine(
        configuration,
        registry,
        choice=Seeded(1),
        clock=clock,
        validate=validate,
        gates=FeatureGates(),
    )


class LivingCluster(RuleBasedStateMachine):
    """Few rules with many kinds each, so that every run has some of everything."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock(1000.0)
        self.engine = self._new_engine()
        self.world = self._new_world()
        self.mischief = self._plugin()
        self.created = 0

    def _new_engine(self) -> Engine:
        return make_engine(self.clock, validate=True)

    def _new_world(self) -> SmallWorld:
        return SmallWorld(self.engine, self.clock)

    def _plugin(self) -> Mischief:
        found = self.engine.profiles["default-scheduler"].plugins[Mischief.name]
        assert isinstance(found, Mischief)
        return found

    def _done(self, heard: bool = True) -> None:
        type(self).steps += 1
        if heard:
            self.world.deliver()

    # nodes

    @initialize(data=st.data(), count=st.integers(0, 4))
    def begin(self, data: st.DataObject, count: int) -> None:
        for name in NODE_NAMES[:count]:
            self.world.put_node(data.draw(nodes(name)))
        self._done()

    @rule(data=st.data(), name=st.sampled_from(NODE_NAMES), heard=st.booleans())
    def node_comes_or_changes(self, data: st.DataObject, name: str, heard: bool) -> None:
        self.world.put_node(data.draw(nodes(name)))
        self._done(heard)

    @precondition(lambda self: len(self.world.nodes) > 2)
    @rule(data=st.data(), heard=st.booleans())
    def node_goes(self, data: st.DataObject, heard: bool) -> None:
        self.world.remove_node(data.draw(st.sampled_from(sorted(self.world.nodes))))
        self._done(heard)

    # pods

    @rule(data=st.data(), names=some_names, heard=st.booleans())
    def pods_come(self, data: st.DataObject, names: set[str], heard: bool) -> None:
        for name in sorted(names):
            self._create(data, name)
        self._done(heard)

    @rule(data=st.data(), name=st.sampled_from(POD_NAMES), node=st.sampled_from(NODE_NAMES))
    def pod_comes_on_a_node(self, data: st.DataObject, name: str, node: str) -> None:
        self._create(data, name, node)
        self._done()

    def _create(self, data: st.DataObject, name: str, node: str = "") -> None:
        self.created += 1
        if f"default/{name}" in self.world.pods:
            self.world.remove_pod(f"default/{name}")
        self.world.put_pod(self._new_pod(data, name, f"uid-{self.created}", node))

    def _new_pod(self, data: st.DataObject, name: str, uid: str, node: str) -> Pod:
        return data.draw(pods(name, uid, node=node))

    @rule(data=st.data(), kind=st.sampled_from(sorted(POD_CHANGES)), heard=st.booleans())
    def pod_changes(self, data: st.DataObject, kind: str, heard: bool) -> None:
        found = [key for key, pod in self.world.pods.items() if _is(pod, POD_CHANGES[kind])]
        if found:
            self._change(data, kind, data.draw(st.sampled_from(found)))
        self._done(heard)

    def _change(self, data: st.DataObject, kind: str, key: str) -> None:
        world, pod = self.world, self.world.pods[key]
        match kind:
            case "relabel":
                world.change_pod(key, meta={"labels": {"app": data.draw(apps)}})
            case "tolerate":
                more = (*(pod.spec.tolerations or ()), Toleration(operator="Exists"))
                world.change_pod(key, spec={"tolerations": more})
            case "open gates":
                world.change_pod(key, spec={"scheduling_gates": ()})
            case "nominate":
                node = data.draw(st.sampled_from(["", *NODE_NAMES]))
                world.change_pod(key, status={"nominated_node_name": node})
            case "delete":
                world.delete_pod(key, graceful=data.draw(st.booleans()))
            case "delete slowly":
                world.change_pod(key, meta={"finalizers": ("example.com/keep",)})
                world.delete_pod(key, graceful=True)
            case "vanish":
                world.remove_pod(key)
            case "finish":
                world.change_pod(key, status={"phase": "Succeeded"})
            case "bound by another":
                world.run_pod(key, data.draw(st.sampled_from(NODE_NAMES)))
            case _:
                raise AssertionError(kind)

    @rule(allowed=st.sampled_from([None, 0, 1]), app=apps)
    def budget_changes(self, allowed: int | None, app: str) -> None:
        raw = {
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed or 0},
        }
        if allowed is not None:
            self.world.put_object(convert(raw, PodDisruptionBudget))
        elif f"default/{app}" in self.world.objects:
            self.world.remove_object(f"default/{app}")
        self._done()

    # the engine and its driver

    @rule(
        data=st.data(), kind=st.sampled_from([*["some", "all", "all", "hear", "wait"] * 4, "rest"])
    )
    def engine_works(self, data: st.DataObject, kind: str) -> None:
        if kind == "hear":
            self.world.deliver(data.draw(st.integers(1, 3)))
        elif kind == "wait":
            self.clock.advance(data.draw(st.sampled_from([0.1, 1.0, 3.0, 11.0, 31.0, 331.0])))
            self.engine.tick()
            self.world.collect()
        elif kind == "some":
            self._attempt()
        elif kind == "rest":
            self._come_to_rest()
        else:
            self._schedule_all()
        self._done(heard=False)

    def _schedule_all(self) -> None:
        for _ in range(200):
            if not self._attempt():
                return
        raise AssertionError("the queue never empties")

    def _attempt(self) -> bool:
        attempt = self._try_next()
        if attempt is not None and attempt.binding is not None:
            self._has_room(attempt)
        self.world.collect()
        return attempt is not None

    def _try_next(self) -> Attempt | None:
        return self.engine.schedule_next()

    def _has_room(self, attempt: Attempt) -> None:
        """Whoever was just placed fits with everybody else who is there."""
        cluster, info = self.engine.cluster, attempt.decision.pod
        held = cluster.placements.get(info.uid)
        if held is None:
            return  # its binding could not even begin
        table, usage, row = cluster.nodes, cluster.usage, held.row
        assert usage.pod_count[row] <= table.allowed_pods[row]
        for resource in ("cpu", "memory"):  # devices may serve others
            amount = info.shape.requests.get(resource, 0)
            index = table.resource_id(resource)
            assert not amount or usage.requested[index, row] <= table.allocatable[index, row]

    @precondition(lambda self: self.world.bindings)
    @rule(data=st.data(), end=st.sampled_from(["good", "good", "refused", "timeout"]))
    def binding_ends(self, data: st.DataObject, end: str) -> None:
        index = data.draw(st.integers(0, len(self.world.bindings) - 1))
        self.world.finish_binding(
            index,
            refusal=ApiError("refused") if end == "refused" else None,
            timeout=ApiError("timeout") if end == "timeout" else None,
            heard_first=data.draw(st.booleans()),
        )
        self._done(heard=data.draw(st.booleans()))

    @precondition(lambda self: len(self.engine.state.waiting) > 0)
    @rule(data=st.data(), allow=st.booleans())
    def wait_is_answered(self, data: st.DataObject, allow: bool) -> None:
        waiting = data.draw(st.sampled_from(list(self.engine.state.waiting)))
        if allow:
            waiting.allow(Mischief.name)
        else:
            waiting.reject(Mischief.name, "not after all")
        self._done(heard=False)

    @precondition(lambda self: self.world.preemptions)
    @rule(data=st.data(), end=st.sampled_from(["at once", "gracefully", "fails"]))
    def victim_is_evicted(self, data: st.DataObject, end: str) -> None:
        index = data.draw(st.integers(0, len(self.world.preemptions) - 1))
        if end == "fails":
            self.world.end_preemption(index, "forbidden")
        else:
            self.world.evict_next(index, graceful=end == "gracefully")
        self._done(heard=data.draw(st.booleans()))

    # what must always be so

    @invariant()
    def nobody_queued_has_something_reserved(self) -> None:
        for queued in self.engine.queue:
            # A pod whose deletion began while it was being bound comes back by a later update, as
            # upstream's queue takes any pending pod it does not know; popped, it is dropped.
            dropped = queued.info.terminating and queued.info.uid in self.engine.state.flights
            assert dropped or queued.info.uid not in self.mischief.holding

    @invariant()
    def the_engine_knows_what_it_has_heard_of(self) -> None:
        if not self.world.undelivered:
            assert self.engine.state.pods == self.world.pods
            table = self.engine.cluster.nodes
            present = {name for name in NODE_NAMES if table.is_present(name)}
            assert present == self.world.nodes.keys()

    # the end

    def _come_to_rest(self) -> None:
        """Let everything that is under way come to its end; then compare with a fresh engine."""
        self.mischief.calm = True
        for _ in range(60):
            if not self._settle():
                break
        else:
            raise AssertionError("the cluster never comes to rest")
        self._compare_with_a_fresh_engine()
        self.mischief.calm = False

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
        for pod in self.world.pods.values():
            assert state.preempting.last_victim(pod.metadata.uid) is None
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
        said, says = (attempt.message for attempt in attempts)
        assert says == said, f"{pod.metadata.name}: {says!r}, a fresh engine: {said!r}"
        assert attempts[0].rejectors == attempts[1].rejectors

    def teardown(self) -> None:
        if sys.exc_info()[0] is None:
            self._come_to_rest()


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
        case "portless":
            return _is(pod, "pending") and not any(c.ports for c in pod.spec.containers or ())
        case "gated":
            return not placed and gated
        case _:
            return ours and not placed and not going and not gated


def live(machine: type[LivingCluster], *, lives: int, long_lives: int) -> int:
    """Run a machine that many times, each time for a while; returns the number of transitions."""
    machine.steps = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=long_lives if LONG else lives,
            stateful_step_count=200 if LONG else 50,
            derandomize=not LONG,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    print(f"{machine.steps} steps")
    return machine.steps
