"""Promises about what may be remembered: `Dependence`, `pre_filter_stays`, `pre_score_stays`.

Pods come and go and nodes change in a cluster; where a plugin says that its vector depends on
nothing that has changed, the vector must be what it was.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import indices
from podium.scheduler.framework.caches.templates import world_of
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import check_verdict
from podium.scheduler.framework.points import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin
from podium.scheduler.framework.points import ScorePlugin as Scoring
from podium.scheduler.framework.sources import Source
from podium.scheduler.framework.status import SKIP
from podium.testing.answers import Asked, ask, statuses_of
from podium.testing.fake_cluster import FakeCluster
from podium.testing.objects import seeded_pod

Case = tuple[str, str]

HASHABLE = "fragment and version can be hashed"
FRAGMENT = "pods with equal dependences get equal vectors"
USAGE = "a vector without usage does not see pods"
OTHER_ROWS = "a row of a remembered vector depends on its own node only"
VERSION = "the version stands for everything else"
OF_OBJECTS = "of_objects: the version moves with objects of the cluster only"
OF_SHAPE = "of_shape: every pod of one template gives the same dependence"
PRE_FILTER_STAYS = "pre_filter_stays: the answer and its states stay while pods come and go"
PRE_SCORE_STAYS = "pre_score_stays: the answer and its states stay while pods come and go"


class _Known(NamedTuple):
    """A vector by node name, and what it depends on."""

    point: str
    dependence: Dependence
    answers: dict[str, object]

    @property
    def moment(self) -> tuple[object, object]:
        return self.dependence.fragment, self.dependence.version


def check_memory(
    cluster: FakeCluster, name: str, pods: Sequence[Pod], randomness: Random
) -> Iterator[Case]:
    """The cluster is another one afterwards."""
    plugin = cluster.plugin(name)
    yield from _check_fragments(cluster, plugin, pods)
    if isinstance(plugin, PreFilterPlugin | PreScorePlugin):
        yield from _check_stays(cluster, plugin, pods, randomness)
    yield from _check_pods_and_nodes(cluster, plugin, pods, randomness)
    yield from _check_sources(cluster, plugin, pods)


def _known(cluster: FakeCluster, plugin: Plugin, pod: Pod) -> list[_Known]:
    """What may be remembered of a pod: over all rows, as the framework would."""
    table = cluster.engine.cluster
    asked = ask(plugin, pod, table)
    found: list[_Known] = []
    if asked.filter_depends is not None and asked.statuses is not None:
        rows = indices(asked.filter_rows if asked.filter_rows is not None else slice(0, 0))
        answers: dict[str, object] = {
            asked.names[row]: asked.statuses[at] for at, row in enumerate(rows)
        }
        found.append(_Known("filter", asked.filter_depends, answers))
    if asked.score_depends is not None and isinstance(plugin, Scoring):
        rows = indices(table.nodes.all_rows())
        rows = rows[table.nodes.present[: table.nodes.size]]
        scores = plugin.score(asked.cycle, rows)
        answers = {asked.names[row]: int(scores[at]) for at, row in enumerate(rows)}
        found.append(_Known("score", asked.score_depends, answers))
    return found


def _check_fragments(cluster: FakeCluster, plugin: Plugin, pods: Sequence[Pod]) -> Iterator[Case]:
    seen: dict[object, tuple[str, dict[str, object]]] = {}
    for pod in pods:
        name = pod.metadata.name
        for known in _known(cluster, plugin, pod):
            try:
                hash(known.moment)
            except TypeError as problem:
                yield HASHABLE, f"{known.point} of {name}: {problem}"
                continue
            other, answers = seen.setdefault((known.point, known.moment), (name, known.answers))
            if answers != known.answers:
                difference = _difference(answers, known.answers)
                yield FRAGMENT, f"{known.point} of {other} and {name} differ: {difference}"
        yield from _check_shape(cluster, plugin, pod)


def _check_shape(cluster: FakeCluster, plugin: Plugin, pod: Pod) -> Iterator[Case]:
    if not cluster.engine.cluster.infos.of(pod).shape.is_plain:
        return
    twins = zip(_known(cluster, plugin, pod), _known(cluster, plugin, twin_of(pod)), strict=False)
    for known, twin in twins:
        if known.dependence.of_shape and known.dependence != twin.dependence:
            yield OF_SHAPE, f"{known.point}: {known.dependence} and {twin.dependence}"


def _check_pods_and_nodes(
    cluster: FakeCluster, plugin: Plugin, pods: Sequence[Pod], randomness: Random
) -> Iterator[Case]:
    """A pod lands on a node, leaves it again, and the node is relabelled."""
    nodes = cluster.engine.cluster.nodes
    names = [node.metadata.name for node in nodes.objects if node is not None]
    if not names:
        return
    for round_ in range(3):
        name = randomness.choice(names)
        newcomer = seeded_pod(randomness, f"newcomer-{round_}", node=name)
        node = nodes.node(nodes.row(name))
        labels = {**(node.metadata.labels or {}), "disk": f"new-{round_}"}
        relabelled = replace(node, metadata=replace(node.metadata, labels=labels))
        steps: list[tuple[str, bool, Callable[[], None]]] = [
            ("a pod landed on", True, lambda pod=newcomer: cluster.put(pod)),  # type: ignore[misc]
            ("a pod left", True, lambda pod=newcomer: _leave(cluster, pod)),  # type: ignore[misc]
            ("labels changed of", False, lambda it=relabelled: cluster.put(it)),  # type: ignore[misc]
        ]
        for text, by_pod, step in steps:
            before = [_known(cluster, plugin, pod) for pod in pods]
            world = world_of(cluster.engine.cluster)
            step()
            stands = world == world_of(cluster.engine.cluster)
            for pod, earlier in zip(pods, before, strict=True):
                later = _known(cluster, plugin, pod)
                for was, now in _pairs(earlier, later):
                    yield from _compare(was, now, name, text, by_pod, stands)


def _compare(
    was: _Known, now: _Known, changed: str, text: str, by_pod: bool, stands: bool
) -> Iterator[Case]:
    told = f"{was.point} when {text} {changed}"
    if by_pod and stands:
        if was.dependence.of_objects and was.dependence.version != now.dependence.version:
            yield OF_OBJECTS, f"{told}: {was.dependence.version} became {now.dependence.version}"
        if was.dependence.of_shape and was.dependence != now.dependence:
            yield OF_SHAPE, f"{told}: {was.dependence} became {now.dependence}"
    if was.moment != now.moment:
        return
    others = {name: answer for name, answer in was.answers.items() if name != changed}
    same = {name: now.answers.get(name) for name in others}
    if others != same:
        yield OTHER_ROWS, f"{told}: {_difference(others, same)}"
    if by_pod and not was.dependence.usage and was.answers.get(changed) != now.answers.get(changed):
        yield USAGE, f"{told}: {was.answers.get(changed)} became {now.answers.get(changed)}"


def _check_sources(cluster: FakeCluster, plugin: Plugin, pods: Sequence[Pod]) -> Iterator[Case]:
    """Sources say something else, and then nothing for too long."""
    columns = [column for column in cluster.engine.sources if isinstance(column.source, Source)]
    if not columns:
        return
    names = cluster.engine.cluster.nodes.names

    def answer() -> None:
        for column in columns:
            cluster.answer(column.name, {name: 7.0 * at for at, name in enumerate(names) if name})

    def age() -> None:
        cluster.clock.advance(1 + max(column.source.max_age_s for column in columns))

    for text, step in (("a source had another answer", answer), ("a source was silent", age)):
        before = [_known(cluster, plugin, pod) for pod in pods]
        step()
        for pod, earlier in zip(pods, before, strict=True):
            for was, now in _pairs(earlier, _known(cluster, plugin, pod)):
                if was.moment == now.moment and was.answers != now.answers:
                    difference = _difference(was.answers, now.answers)
                    yield VERSION, f"{was.point} when {text}: {difference}"
                elif was.moment != now.moment and (
                    was.dependence.stands or was.dependence.of_shape
                ):
                    yield OF_OBJECTS, f"{was.point} when {text}: {was.dependence} moved"


def _check_stays(
    cluster: FakeCluster, plugin: Plugin, pods: Sequence[Pod], randomness: Random
) -> Iterator[Case]:
    table = cluster.engine.cluster
    names = [node.metadata.name for node in table.nodes.objects if node is not None]
    for number, pod in enumerate(pods):
        if not table.infos.of(pod).shape.is_plain:
            continue
        asked = ask(plugin, pod, table)
        filters = isinstance(plugin, PreFilterPlugin) and asked.pre_filter in (None, SKIP)
        if filters:
            assert isinstance(plugin, PreFilterPlugin)
            filters = plugin.pre_filter_stays(asked.cycle)
        scores = isinstance(plugin, PreScorePlugin) and asked.raw is not None
        if scores:
            assert isinstance(plugin, PreScorePlugin)
            scores = plugin.pre_score_stays(asked.cycle)
        if not (filters or scores):
            continue
        world = world_of(table)
        visitor = seeded_pod(randomness, f"visitor-{number}", node=randomness.choice(names))
        cluster.put(visitor)
        if world_of(table) == world:
            later = ask(plugin, twin_of(pod), table)
            if filters:
                yield from _compare_pre_filter(plugin, asked, later)
            if scores:
                yield from _compare_pre_score(plugin, asked, later)
        _leave(cluster, visitor)


def _compare_pre_filter(plugin: Plugin, asked: Asked, later: Asked) -> Iterator[Case]:
    if asked.pre_filter != later.pre_filter:
        yield PRE_FILTER_STAYS, f"{asked.pre_filter} became {later.pre_filter}"
    elif isinstance(plugin, FilterPlugin) and later.filter_rows is not None:
        kept = _with_states(later.cycle, asked.cycle, plugin.name)
        verdict = check_verdict(plugin.filter(kept, later.filter_rows))
        found = statuses_of(verdict, len(indices(later.filter_rows)))
        if found != later.statuses:
            yield (
                PRE_FILTER_STAYS,
                f"with the states kept filter says {found}, not {later.statuses}",
            )


def _compare_pre_score(plugin: Plugin, asked: Asked, later: Asked) -> Iterator[Case]:
    if later.raw is None:
        if later.score_rows is not None or later.pre_score is not None:
            yield PRE_SCORE_STAYS, f"{asked.pre_score} became {later.pre_score}"
    elif isinstance(plugin, Scoring) and later.score_rows is not None:
        kept = _with_states(later.cycle, asked.cycle, plugin.name)
        found = np.asarray(plugin.score(kept, later.score_rows)).tolist()
        if found != later.raw.tolist():
            wanted = later.raw.tolist()
            yield PRE_SCORE_STAYS, f"with the states kept score says {found}, not {wanted}"


def _with_states(cycle: Cycle, earlier: Cycle, plugin: str) -> Cycle:
    """A cycle with the states that an earlier one has left."""
    twin = Cycle(cycle.pod, cycle.cluster)
    twin.states = {
        key: state
        for key, state in earlier.states.items()
        if key == plugin or key.startswith(f"{plugin}/")
    }
    return twin


def _pairs(earlier: Sequence[_Known], later: Sequence[_Known]) -> Iterator[tuple[_Known, _Known]]:
    by_point = {known.point: known for known in later}
    for was in earlier:
        if was.point in by_point:
            yield was, by_point[was.point]


def twin_of(pod: Pod) -> Pod:
    """Another pod of the same template."""
    name = f"{pod.metadata.name}-twin"
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=f"uid-{name}"))


def _leave(cluster: FakeCluster, pod: Pod) -> None:
    cluster.engine.intake.pod_deleted(pod)


def _difference(one: dict[str, object], other: dict[str, object]) -> str:
    name = next(name for name in one if one[name] != other.get(name))
    return f"node {name} had {one[name]} and {other.get(name)}"
