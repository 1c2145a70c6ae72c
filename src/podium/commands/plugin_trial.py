"""A plugin tried out: whether it keeps its promises, and what it says of pods on a cluster.

Without a cluster of the user's own the plugin is asked about a small one made for that: two node
sizes in three zones, one node tainted, some pods running. Its sources answer with made-up numbers
between 0 and 100, since nothing outside is asked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.framework.faults import TookTooLong, locate_problem
from podium.scheduler.framework.points import POINTS, Plugin, serves
from podium.scheduler.framework.sources import Source
from podium.scheduler.framework.status import SKIP, Status
from podium.testing import BrokenPromise, FakeCluster, check_promises, make_node, make_pod
from podium.testing.answers import Asked, ask
from podium.testing.promises import answers_for
from podium.user_code.guarded_plugin import guard_plugin

_ZONE: Final = "topology.kubernetes.io/zone"


@dataclass(frozen=True, slots=True)
class TrialCluster:
    """`pods` are asked about, `running` ones are on their nodes."""

    nodes: Sequence[Node]
    running: Sequence[Pod]
    pods: Sequence[Pod]
    objects: Sequence[KubeStruct] = ()


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """What a plugin says of one node; `reason` is why the node is refused, numbers are None where
    the plugin was not asked."""

    node: str
    reason: str = ""
    raw: int | None = None
    score: int | None = None


@dataclass(frozen=True, slots=True)
class PodAnswer:
    """`remark` is what is to be said of the pod as a whole: skipped, refused, broken."""

    pod: str
    nodes: Sequence[NodeAnswer]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class PluginTrial:
    name: str
    points: Sequence[str]
    broken: Sequence[BrokenPromise]
    answers: Sequence[PodAnswer]
    made_up: Sequence[str]
    """Sources whose answers were made up."""


def try_plugin(
    plugin: type[Plugin], args: Mapping[str, Any] | None, given: TrialCluster | None
) -> PluginTrial:
    """Raises ConfigurationError if the plugin cannot be built."""
    plugin = guard_plugin(plugin)
    asked = given or example_cluster()
    cluster = FakeCluster(
        *asked.objects,
        *asked.nodes,
        *asked.running,
        plugins=(plugin,),
        args={plugin.name: args} if args is not None else None,
        validate=False,
    )
    names = [node.metadata.name for node in asked.nodes]
    made_up = []
    for column in cluster.engine.sources:
        if isinstance(column.source, Source):
            cluster.answer(column.name, answers_for(Random(column.name), names))
            made_up.append(column.name)
    own = given or TrialCluster((), (), ())
    broken = check_promises(
        plugin,
        args=args,
        nodes=own.nodes,
        pods=(*own.running, *own.pods),
        objects=[each for each in own.objects if isinstance(each, KubeObject)],
    )
    built = cluster.plugin(plugin.name)
    return PluginTrial(
        plugin.name,
        [point for point in POINTS if serves(plugin, point)],
        broken,
        list(_answers(built, asked.pods, cluster)),
        made_up,
    )


def example_cluster() -> TrialCluster:
    """Six nodes, their pods, and three pods that differ in what they ask for."""
    small = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    large = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    nodes = [
        make_node(
            f"{size}-{zone}",
            labels={_ZONE: zone, "example.com/tier": tier, "kubernetes.io/arch": "amd64"},
            allocatable=room,
            taints=[("dedicated", "batch", "NoSchedule")] if size + zone == "largec" else (),
        )
        for zone in "abc"
        for size, room, tier in (("large", large, "gold"), ("small", small, "silver"))
    ]
    running = [
        make_pod(
            f"web-{n}", node=node, labels={"app": "web"}, requests={"cpu": "1", "memory": "2Gi"}
        )
        for n, node in enumerate(("large-a", "large-a", "small-b"))
    ]
    pods = [
        make_pod("web", labels={"app": "web"}, requests={"cpu": "500m", "memory": "1Gi"}),
        make_pod("large", requests={"cpu": "8", "memory": "32Gi"}),
        make_pod("gold", labels={"app": "gold", "example.com/tier": "gold"}),
    ]
    return TrialCluster(nodes, running, pods)


def _answers(plugin: Plugin, pods: Iterable[Pod], cluster: FakeCluster) -> Iterator[PodAnswer]:
    """For each pod, until the plugin takes too long for one."""
    for pod in pods:
        name = f"{pod.metadata.namespace}/{pod.metadata.name}"
        try:
            yield _answer(plugin, pod, name, cluster)
        except TookTooLong as late:
            yield PodAnswer(name, (), f"broke, and no further pod is tried: {late}")
            return


def _answer(plugin: Plugin, pod: Pod, name: str, cluster: FakeCluster) -> PodAnswer:
    """Raises TookTooLong."""
    try:
        asked = ask(plugin, pod, cluster.engine.cluster)
    except TookTooLong:
        raise
    except Exception as problem:
        return PodAnswer(name, (), f"broke: {locate_problem(problem)}")
    refused = asked.pre_filter
    if isinstance(refused, Status) and refused != SKIP:
        return PodAnswer(name, (), f"refused: {refused.message}")
    return PodAnswer(name, sorted(_nodes(asked), key=_best_first), _remark(asked))


def _remark(asked: Asked) -> str:
    skipped = [
        point
        for point, answer in (("filter", asked.pre_filter), ("score", asked.pre_score))
        if answer == SKIP
    ]
    return f"left out at {' and '.join(skipped)}" if skipped else ""


def _nodes(asked: Asked) -> Iterator[NodeAnswer]:
    reasons = _by_row(asked.filter_rows, asked.statuses)
    raw = _by_row(asked.score_rows, None if asked.raw is None else asked.raw.tolist())
    scores = _by_row(
        asked.score_rows, None if asked.normalized is None else asked.normalized.tolist()
    )
    for row in sorted({*reasons, *raw}) or range(len(asked.names)):
        status = reasons.get(row)
        reason = status.message if status is not None else ""
        yield NodeAnswer(asked.names[row], reason, raw.get(row), scores.get(row))


def _by_row(rows: Rows | None, values: Sequence[Any] | None) -> dict[int, Any]:
    if rows is None or values is None:
        return {}
    return dict(zip(indices(rows).tolist(), values, strict=True))


def _best_first(answer: NodeAnswer) -> tuple[bool, int, str]:
    return bool(answer.reason), -(answer.score or 0), answer.node
