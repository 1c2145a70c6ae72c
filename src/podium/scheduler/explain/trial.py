"""What would happen to a pod if it, or the cluster, were a little different.

The questions are put to the engine itself, so an answer is a proof and not an estimate. Contract:
the engine belongs to whoever asks (it is never one that schedules for a real cluster), it stands
between two cycles, and after each question it is as it was, but for the order in which nodes are
looked at.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from msgspec.structs import replace

from podium.kubernetes.controllers.pod_templates import release_claims
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo, uid_of
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Engine, UnknownProfileError
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.explanations.filter_examination import (
    FilterExamination,
    examine_filters,
)
from podium.scheduler.framework.status import unresolvable


class Trial:
    """Questions about one pod on one engine; `ask` speaks with extenders, if there are any.

    `count` is how many attempts and examinations were made, for those who want to stop in time.
    """

    def __init__(self, engine: Engine, pod: Pod, ask: Asker | None = None) -> None:
        self.engine = engine
        self.pod = pod
        self.count = 0
        self._ask = ask

    def decide(self, pod: Pod | None = None) -> Decision:
        """One whole attempt for the pod, or for it as changed; whatever is held is given back."""
        (decision,) = self.decide_in_order((self.pod if pod is None else pod,))
        return decision

    def decide_in_order(self, pods: Sequence[Pod]) -> list[Decision]:
        """Attempts for several pods, each of which keeps its node until the last has been tried."""
        with self.with_placed_pods(pods) as decisions:
            return decisions

    @contextmanager
    def with_placed_pods(self, pods: Sequence[Pod]) -> Iterator[list[Decision]]:
        """The cluster with some pods on the nodes that they find, one after the other."""
        held: list[Binding] = []
        with ExitStack() as stack:
            for profile in self.engine.profiles.values():
                for plugin in profile.plugins.values():
                    stack.enter_context(plugin.forgetting())
            try:
                yield [self._attempt(pod, held) for pod in pods]
            finally:
                for binding in reversed(held):
                    self.engine.undo(binding)

    def fits(self, pod: Pod | None = None) -> bool:
        """Whether an attempt would end on a node."""
        return self.decide(pod).bound is not None

    def examine(self, pod: Pod | None = None) -> FilterExamination:
        """What every filter says about every node."""
        self.count += 1
        info = self._info(self.pod if pod is None else pod)
        return examine_filters(self.engine.profile_of(info.pod), self.engine.cluster, info)

    def feasible(self, pod: Pod | None = None) -> tuple[str, ...]:
        """The nodes that no filter objects to."""
        return self.examine(pod).unopposed()

    # other clusters

    @contextmanager
    def with_hypothesis(self, hypothesis: Hypothesis) -> Iterator[None]:
        """The cluster as a hypothesis has it; pods that would have to move are on no node."""
        with ExitStack() as stack:
            leaving = (*hypothesis.removed, *hypothesis.moved, *hypothesis.preempted)
            stack.enter_context(self.without(leaving))
            stack.enter_context(self.with_objects(hypothesis.objects))
            for node in hypothesis.nodes:
                stack.enter_context(self.with_node(node))
            yield

    @contextmanager
    def without(self, pods: Iterable[Pod]) -> Iterator[None]:
        """The cluster as it would be if some of its pods were gone, and their devices free."""
        cluster, catalog = self.engine.cluster, self.engine.cluster.catalog
        gone: list[Pod] = []
        forgotten: list[tuple[PodInfo, str]] = []
        claims: list[ResourceClaim] = []
        for pod in pods:
            held = cluster.placements.get(uid_of(pod))
            if held is None:
                continue
            if held.assumed:  # it was placed by a trial, which will take it back
                forgotten.append((held.info, cluster.nodes.names[held.row]))
                cluster.forget(held.info)
            else:
                gone.append(held.info.pod)
                cluster.remove_pod(held.info.uid)
            for before, after in release_claims(held.info.uid, list(catalog.all(ResourceClaim))):
                claims.append(before)
                if after is None:
                    catalog.remove(before)
                else:
                    catalog.put(after)
        try:
            yield
        finally:
            for claim in reversed(claims):
                catalog.put(claim)
            for pod in gone:
                cluster.add_pod(pod)
            for info, name in forgotten:
                cluster.assume(info, name)

    @contextmanager
    def with_node(self, node: Node) -> Iterator[None]:
        """The cluster with one more node, or with a node as changed."""
        cluster, name = self.engine.cluster, node.metadata.name
        before = (
            cluster.nodes.node(cluster.nodes.row(name)) if cluster.nodes.is_present(name) else None
        )
        cluster.put_node(node)
        try:
            yield
        finally:
            if before is None:
                cluster.remove_node(name)
            else:
                cluster.put_node(before)

    @contextmanager
    def with_cordoned_nodes(self, names: Iterable[str]) -> Iterator[None]:
        """The cluster with some of its nodes closed to new pods."""
        nodes = self.engine.cluster.nodes
        with ExitStack() as stack:
            for name in dict.fromkeys(names):
                if nodes.is_present(name):
                    node = nodes.node(nodes.row(name))
                    closed = replace(node, spec=replace(node.spec, unschedulable=True))
                    stack.enter_context(self.with_node(closed))
            yield

    @contextmanager
    def with_objects(self, objects: Iterable[KubeObject]) -> Iterator[None]:
        """The cluster with some more objects, or with them as changed."""
        catalog = self.engine.cluster.catalog
        changed = [(obj, catalog.get(type(obj), obj.name, obj.namespace)) for obj in objects]
        for obj, _ in changed:
            catalog.put(obj)
        try:
            yield
        finally:
            for obj, before in reversed(changed):
                if before is None:
                    catalog.remove(obj)
                else:
                    catalog.put(before)

    def _attempt(self, pod: Pod, held: list[Binding]) -> Decision:
        self.count += 1
        info = self._info(pod)
        try:
            gate = self.engine.pre_enqueue(info)
        except UnknownProfileError as problem:
            return self.engine.record_gated(info, unresolvable(str(problem)))
        if gate is not None:
            return self.engine.record_gated(info, gate)
        attempt = self.engine.schedule(info, self._ask)
        if attempt.binding is not None:
            held.append(attempt.binding)
        return attempt.decision

    def _info(self, pod: Pod) -> PodInfo:
        return self.engine.cluster.infos.of(pod)
