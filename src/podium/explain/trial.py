"""What would happen to a pod if it, or the cluster, were a little different.

The questions are put to the engine itself, so an answer is a proof and not an estimate. Contract:
the engine belongs to whoever asks (it is never one that schedules for a real cluster), it stands
between two cycles, and after each question it is as it was, but for the order in which nodes are
looked at.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from podium.api.node import Node
from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.engine.decision import Decision
from podium.engine.scheduler import Engine
from podium.explain.filter_examination import FilterExamination, examine_filters
from podium.framework.asking import Asker


class Trial:
    """Questions about one pod on one engine; `ask` speaks with extenders, if there are any."""

    def __init__(self, engine: Engine, pod: Pod, ask: Asker | None = None) -> None:
        self.engine = engine
        self.pod = pod
        self._ask = ask

    def decide(self, pod: Pod | None = None) -> Decision:
        """One whole attempt for the pod, or for it as changed; whatever is held is given back."""
        attempt = self.engine.schedule(self._info(pod), self._ask)
        if attempt.binding is not None:
            self.engine.undo(attempt.binding)
        return attempt.decision

    def fits(self, pod: Pod | None = None) -> bool:
        """Whether an attempt would end on a node."""
        return self.decide(pod).bound is not None

    def examine(self, pod: Pod | None = None) -> FilterExamination:
        """What every filter says about every node."""
        return examine_filters(self.engine, self._info(pod))

    def feasible(self, pod: Pod | None = None) -> tuple[str, ...]:
        """The nodes that no filter objects to."""
        examination = self.examine(pod)
        return tuple(name for name in examination.nodes if not examination.objections(name))

    @contextmanager
    def without(self, pods: Iterable[Pod]) -> Iterator[None]:
        """The cluster as it would be if some of its pods were gone."""
        cluster = self.engine.cluster
        gone = list(pods)
        for pod in gone:
            cluster.remove_pod(pod.metadata.uid)
        try:
            yield
        finally:
            for pod in gone:
                cluster.add_pod(pod)

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

    def _info(self, pod: Pod | None) -> PodInfo:
        return self.engine.cluster.infos.of(self.pod if pod is None else pod)
