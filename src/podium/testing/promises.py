"""Whether a plugin keeps the promises that the framework builds on.

    assert_promises(MyPlugin, args={"limit": 3}, pods=[make_pod("p", annotations=...)])

A plugin says what its answers depend on, and is then asked less often; one that says too little
places pods by answers of long ago, on some days, in large clusters. The checker asks a plugin many
times over small clusters made from seeds, and over nodes and pods that it is given: the same
question twice, for some nodes and for all, before and after pods come and go, for pods that differ
in a part that the plugin does not name. It finds broken promises; that it finds none proves nothing
of pods that it has not tried, so give it pods that the plugin has something to say about.

Promises about events are here: registrations that mean something, and hints that answer.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.faults import TookTooLong, locate_problem
from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.sources import Source
from podium.scheduler.plugins import in_tree_registry
from podium.testing.fake_cluster import FakeCluster
from podium.testing.memory_promises import check_memory
from podium.testing.objects import seeded_node, seeded_pod, variants
from podium.testing.placement_promises import check_placements
from podium.testing.vector_promises import check_vectors
from podium.user_code.guarded_plugin import guard_plugin

SEEDS = 6
NODES_OF_A_SEED = 6
PODS_OF_A_SEED = 8


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """`promise` is what the plugin has promised, `text` what it did instead."""

    promise: str
    text: str

    def __str__(self) -> str:
        return f"{self.promise}: {self.text}"


def assert_promises(plugin: type[Plugin], **given: Any) -> None:
    """`check_promises`, with an AssertionError that tells all that is broken."""
    broken = check_promises(plugin, **given)
    if broken:
        listed = "\n".join(f"  {each}" for each in broken)
        raise AssertionError(f"plugin {plugin.name} breaks promises:\n{listed}")


def check_promises(
    plugin: type[Plugin],
    *,
    args: Mapping[str, Any] | None = None,
    nodes: Iterable[Node] = (),
    pods: Iterable[Pod] = (),
    objects: Iterable[KubeObject] = (),
    values: Mapping[str, object] | None = None,
    gates: Mapping[str, bool] | None = None,
    seeds: int = SEEDS,
    beside: Sequence[type[Plugin]] = (),
) -> list[BrokenPromise]:
    """Every promise that is broken, each once, with the first case that was found.

    `pods` with a node are on it, others are asked about; `objects` are there besides. `values` are
    answers of the plugin's sources that are no numbers by node, by name of the source. `beside` are
    plugins that it needs in its profile.
    """
    if not plugin.__module__.startswith("podium."):
        plugin = guard_plugin(plugin)
    given = _Given(
        plugin, args, tuple(nodes), tuple(pods), tuple(objects), values or {}, gates, tuple(beside)
    )
    found: dict[str, str] = {}
    for seed in range(seeds):
        cluster, pending = given.cluster(seed), given.make_pending_pods(seed)
        try:
            cases = [
                *check_events(cluster.plugin(plugin.name), cluster, pending),
                *check_vectors(cluster, given.cluster(seed), plugin.name, pending),
                *check_memory(cluster, plugin.name, pending, Random(seed)),
                *check_placements(cluster, plugin.name, pending, Random(seed)),
            ]
        except TookTooLong as late:
            found["answers in time"] = f"{late} (seed {seed})"
            break
        except Exception as problem:
            cases = [("answers without an exception", locate_problem(problem))]
        for promise, text in cases:
            found.setdefault(promise, f"{text} (seed {seed})")
    return [BrokenPromise(promise, text) for promise, text in found.items()]


@dataclass(frozen=True, slots=True)
class _Given:
    plugin: type[Plugin]
    args: Mapping[str, Any] | None
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    objects: tuple[KubeObject, ...]
    values: Mapping[str, object]
    gates: Mapping[str, bool] | None
    beside: tuple[type[Plugin], ...]

    def cluster(self, seed: int) -> FakeCluster:
        """The cluster of a seed, the same each time; every other one is of the given nodes alone,
        if there are any."""
        name = self.plugin.name
        own = name in in_tree_registry()
        made = FakeCluster(
            plugins=self.beside if own else (*self.beside, self.plugin),
            weights={name: 1} if own else None,
            args={name: self.args} if self.args is not None else None,
            gates=self.gates,
            validate=False,
        )
        randomness = Random(seed)
        nodes = list(self.nodes)
        if not nodes or seed % 2:
            nodes += [seeded_node(randomness, f"node-{n}") for n in range(NODES_OF_A_SEED)]
        names = [node.metadata.name for node in nodes]
        running = [
            seeded_pod(randomness, f"running-{n}", node=randomness.choice(names))
            for n in range(PODS_OF_A_SEED)
        ]
        running += [pod for pod in self.pods if pod.spec.node_name in names]
        made.put(*self.objects, *nodes, *running)
        for column in made.engine.sources:
            if isinstance(column.source, Source):
                made.answer(column.name, answers_for(randomness, names))
            elif column.name in self.values:
                made.answer(column.name, self.values[column.name])
        return made

    def make_pending_pods(self, seed: int) -> list[Pod]:
        given = [pod for pod in self.pods if not pod.spec.node_name]
        return [*given, *variants(Random(seed), "pending")]


def answers_for(randomness: Random, names: Iterable[str]) -> dict[str, float]:
    """Numbers for most nodes."""
    return {name: randomness.uniform(0, 100) for name in names if randomness.random() < 0.8}


Case = tuple[str, str]

EVENTS = "events() gives None or registrations"
HINTS = "a hint answers yes or no"

_PODS = (Resource.POD, Resource.ASSIGNED_POD, Resource.UNSCHEDULABLE_POD)


def check_events(plugin: Plugin, cluster: FakeCluster, pods: Sequence[Pod]) -> Iterator[Case]:
    declared: Any = plugin.events()
    if declared is None:
        return
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        yield EVENTS, f"it gave a {type(declared).__name__}"
        return
    watched = {kind.event_resource for kind in plugin.watched_kinds}
    for registration in declared:
        problem = _problem(registration, watched)
        if problem:
            yield EVENTS, problem
        else:
            yield from _check_hint(registration, cluster, pods)


def _problem(registration: Any, watched: Container[str]) -> str:
    if not isinstance(registration, Registration):
        return f"{registration!r} is no Registration"
    fields: tuple[Any, ...] = tuple(registration)
    resource, action, hint = fields
    if not isinstance(resource, Resource) and resource not in watched:
        return f"{resource!r} is no Resource, and none of the plugin's watched_kinds"
    if not isinstance(action, Action) or not 0 < int(action) <= int(Action.ALL):
        return f"{action!r} is no Action"
    if hint is not None and not callable(hint):
        return f"the hint {hint!r} cannot be called"
    return ""


def _check_hint(
    registration: Registration, cluster: FakeCluster, pods: Sequence[Pod]
) -> Iterator[Case]:
    hint = registration.hint
    if hint is None or not pods:
        return
    table = cluster.engine.cluster
    old, new = _objects(registration.resource, cluster)
    if old is None or new is None:
        return
    cases = [
        (before, after)
        for action, before, after in (
            (Action.ADD, None, new),
            (Action.DELETE, old, None),
            (Action.UPDATE, old, new),
        )
        if registration.action & action
    ]
    for pod in pods:
        for before, after in cases:
            try:
                answer: object = hint(table.infos.of(pod), before, after)
            except TookTooLong:
                raise
            except Exception as problem:
                yield HINTS, f"it raised {locate_problem(problem)}"
                continue
            if answer not in (True, False):
                yield HINTS, f"it said {answer!r}"


def _objects(resource: str, cluster: FakeCluster) -> tuple[Node | Pod | None, ...]:
    """Two objects of a kind, if the cluster has any."""
    found: list[Node | Pod] = []
    if resource is Resource.NODE:
        found = [node for node in cluster.engine.cluster.nodes.objects if node is not None]
    elif resource in _PODS:
        found = list(cluster.engine.state.pods.values())
    return (found[0], found[-1]) if found else (None, None)
