"""The GPU extender as an engine's extender, behind the real wire format and without a loop.

Its API server is a few objects in memory that answer at once; what it writes there it is told of
as a watch would tell it.
"""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Any
from urllib.parse import urlsplit

import msgspec
from support.live.moody_transport import refusal

from podium.addons.gpu.dialects.dialect import Dialect
from podium.addons.gpu.extender.application import GPUExtenderApplication, GPUExtenderOptions
from podium.client import KubeClient
from podium.client.extenders.messages import body_of, read_answer, verb_of
from podium.client.extenders.objects import TypedObjects
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.rules.merge_patch import merge
from podium.offline.driver.in_memory_api import run_to_end
from podium.scheduler.framework.asking import Answers, Calls, ExtenderAnswer, ExtenderCall

URL = "http://gpu-extender/scheduler"


def extender_entry(dialect: Dialect, weight: int) -> dict[str, Any]:
    """The entry of `extenders` in a scheduler's configuration."""
    return {
        "urlPrefix": URL,
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "bindVerb": "bind",
        "weight": weight,
        "nodeCacheCapable": True,
        "managedResources": [
            {"name": name, "ignoredByScheduler": True} for name in dialect.resources
        ],
    }


class MemoryServer:
    """Pods and nodes by path; `changed` is told of each write."""

    def __init__(self, changed: Callable[[Node | Pod], None]) -> None:
        self.objects: dict[str, Any] = {}
        self._changed = changed
        self._version = 0

    def put(self, obj: Node | Pod) -> Any:
        return self._store(path_of(obj), msgspec.to_builtins(obj))

    def delete(self, obj: Node | Pod) -> None:
        del self.objects[path_of(obj)]

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        assert timeout_s > 0
        path, _, subresource = request.path.partition("/binding")
        assert not subresource
        stored = self.objects.get(path)
        if stored is None:
            return refusal(404, "NotFound", f"{path} not found")
        if request.method == "GET":
            return Reply(200, {}, msgspec.json.encode(stored))
        sent = json.loads(request.body)
        version = sent["metadata"].get("resourceVersion", "")
        if version and version != stored["metadata"]["resourceVersion"]:
            return refusal(409, "Conflict", "the object has been modified")
        if request.path.endswith("/binding"):
            sent = {"spec": {"nodeName": sent["target"]["name"]}}
        return Reply(200, {}, msgspec.json.encode(self._store(path, merge(stored, sent))))

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError(f"nobody watches {request.path} for {timeout_s} s")

    async def close(self) -> None:
        pass

    def _store(self, path: str, obj: Any) -> Any:
        self._version += 1
        obj = merge(obj, {"metadata": {"resourceVersion": str(self._version)}})
        self.objects[path] = obj
        kind: type[Node] | type[Pod] = Pod if "/pods/" in path else Node
        changed: Node | Pod = msgspec.convert(obj, type=kind)
        self._changed(changed)
        return obj


class InProcessExtender:
    """`ask` is what a driver of the engine asks."""

    def __init__(self, dialect: Dialect, clock: Callable[[], float], **options: Any) -> None:
        self.server = MemoryServer(self._changed)
        self.application = GPUExtenderApplication(
            KubeClient(self.server, timeout_s=5.0),
            GPUExtenderOptions(dialect=dialect, **options),
            wall=clock,
            randomness=Random(1),
        )
        self.view = self.application.view
        self.view.is_synced = True
        self._dialect = dialect
        self._clock = clock
        self._nodes: dict[str, Node] = {}
        self._objects = TypedObjects(self._nodes.__getitem__)

    def put(self, *objects: Node | Pod | ResourceQuota) -> None:
        for obj in objects:
            if isinstance(obj, ResourceQuota):
                self.view.resource_quotas.put(obj)
            else:
                self.server.put(obj)

    def delete(self, pod: Pod) -> None:
        self.server.delete(pod)
        self.view.ledger.delete_pod(pod.metadata.uid, self._clock())

    def pod(self, pod: Pod) -> Pod:
        """As the server has it."""
        return msgspec.convert(self.server.objects[path_of(pod)], Pod)

    def unlock(self, node_name: str) -> None:
        """What the agent does when it has served a pod."""
        if self._dialect.lock is not None:
            node = self._nodes[node_name]
            left = dict(node.metadata.annotations or {})
            left.pop(self._dialect.lock.key, None)
            metadata = msgspec.structs.replace(node.metadata, annotations=left)
            self.server.put(msgspec.structs.replace(node, metadata=metadata))

    def ask(self, calls: Calls) -> Answers:
        return tuple(run_to_end(self._ask(call)) for call in calls)

    async def _ask(self, call: ExtenderCall) -> ExtenderAnswer:
        body, sent = body_of(call, self._objects), []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        path = f"{urlsplit(URL).path}/{verb_of(call)}"
        scope = {"type": "http", "method": "POST", "path": path, "headers": []}
        await self.application.service(scope, receive, send)
        assert sent[0]["status"] == 200, sent
        return read_answer(call, sent[1]["body"])

    def _changed(self, obj: Node | Pod) -> None:
        ledger = self.view.ledger
        if isinstance(obj, Pod):
            ledger.put_pod(obj, self._clock())
        else:
            self._nodes[obj.name] = obj
            ledger.put_node(obj, self._clock())


def path_of(obj: Node | Pod) -> str:
    if isinstance(obj, Node):
        return f"/api/v1/nodes/{obj.name}"
    return f"/api/v1/namespaces/{obj.namespace}/pods/{obj.name}"
