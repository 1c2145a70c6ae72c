"""A workload as the requests that bring it into a cluster.

The scenes are those that the engine is measured with. What is there before comes in the order in
which it is needed: namespaces, nodes, pods on nodes. No kubelet runs, so nodes are created ready
and pods stay bound.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from podium.bench.http_load import request
from podium.bench.scene import Scene
from podium.bench.served_api import ServedApi
from podium.bench.templates import make_pod
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace

FIRST = "default/first"
"""The pod by which it is seen that a scheduler is at work."""


@dataclass(frozen=True, slots=True)
class LiveScene:
    """Requests by what they are for; pods that are to be bound carry their keys."""

    before: tuple[Sequence[bytes], ...]
    """Each of the groups is there before the next begins."""
    first: bytes
    measured: Sequence[tuple[str, bytes]]


def live_scene(api: ServedApi, scene: Scene) -> LiveScene:
    init = list(scene.init)
    measured = [arrival.pod for arrival in scene.measured]
    known = [each for each in scene.objects if isinstance(each, Namespace)]
    return LiveScene(
        before=(
            _creations(api, "/api/v1/namespaces", (*known, *_missing(known, (*init, *measured)))),
            _creations(api, "/api/v1/nodes", scene.nodes),
            [_creation_of(api, pod) for pod in init],
        ),
        first=_creation_of(api, make_pod("first")),
        measured=[(_key(pod), _creation_of(api, pod)) for pod in measured],
    )


def _missing(known: Iterable[Namespace], pods: Iterable[Pod]) -> Iterable[Namespace]:
    """The namespaces that pods name and nobody else makes."""
    there = {"default", *(namespace.metadata.name for namespace in known)}
    named = dict.fromkeys(pod.metadata.namespace for pod in pods)
    for name in named:
        if name not in there:
            yield msgspec.convert({"metadata": {"name": name}}, Namespace)


def _creations(api: ServedApi, path: str, objects: Iterable[Node | Namespace]) -> list[bytes]:
    return [request(api, "POST", path, msgspec.json.encode(each)) for each in objects]


def _creation_of(api: ServedApi, pod: Pod) -> bytes:
    path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods"
    return request(api, "POST", path, msgspec.json.encode(pod))


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
