"""Promises about events: registrations that mean something, and hints that answer."""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.faults import TookTooLong, locate_problem
from podium.scheduler.framework.points import Plugin
from podium.testing.fake_cluster import FakeCluster

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
