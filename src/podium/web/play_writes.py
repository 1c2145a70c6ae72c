"""Steps of Play carried to the API server as the user of the kubeconfig would with kubectl.

The same requests go through the same admission, and what the server refuses is told in its own
words. Contract: a step names one object, or brings a bounded number of objects of the kinds that
Play is about; it waits for nothing but the server's answers.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Final, assert_never

import msgspec
from msgspec import Struct

from podium.client import KubeClient, PatchType, ResourceType
from podium.client.api_errors import ApiError, Conflict, error_of
from podium.client.resources import (
    COSCHEDULING_POD_GROUPS,
    DEPLOYMENTS,
    NODES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
)
from podium.client.transport import Request, RequestFailed
from podium.golang.documents import DocumentLimits, expand_lists, read_documents
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.simulated.names import FAILURE
from podium.web import play_commands
from podium.web.play_commands import OUT_OF_SERVICE
from podium.web.play_steps import (
    MAX_STEP_BYTES,
    ClusterStep,
    CordonStep,
    CreatedObject,
    CreateStep,
    DeleteStep,
    DrainStep,
    KillStep,
    ReviveStep,
    StepOutcome,
    UncordonStep,
)

MAX_OBJECTS: Final = 20
MAX_EVICTED: Final = 200
_YAML_LIMITS: Final = DocumentLimits(size_bytes=MAX_STEP_BYTES, depth=40, alias_nodes=2_000)
_TIMEOUT_S: Final = 10.0
_TRIES: Final = 5
_WRITER: Final = (("fieldManager", "podium-play"),)
_STRICT: Final = (*_WRITER, ("fieldValidation", "Strict"))
_CREATED: Final = {
    (each.api_version, each.kind): each
    for each in (
        PODS,
        NODES,
        DEPLOYMENTS,
        PRIORITY_CLASSES,
        POD_GROUPS,
        COSCHEDULING_POD_GROUPS,
    )
}
_DELETED: Final = {
    "pod": PODS,
    "node": NODES,
    "deployment.apps": DEPLOYMENTS,
    "priorityclass.scheduling.k8s.io": PRIORITY_CLASSES,
    "podgroup.scheduling.k8s.io": POD_GROUPS,
    "podgroup.scheduling.x-k8s.io": COSCHEDULING_POD_GROUPS,
}
_KUBECTL_KINDS: Final = {resource: kind for kind, resource in _DELETED.items()}


class ClusterSteps:
    """Carries steps out at one API server."""

    def __init__(self, client: KubeClient) -> None:
        self._transport = client.transport

    async def carry_out(self, step: ClusterStep) -> StepOutcome:
        match step:
            case CreateStep(yaml):
                outcome = StepOutcome([play_commands.create_command(yaml)])
                work = self._create(yaml, outcome)
            case DeleteStep(kind, name, namespace):
                outcome = StepOutcome([play_commands.delete_command(kind, namespace or "", name)])
                work = self._delete(kind, name, namespace or "", outcome)
            case CordonStep(node):
                outcome = StepOutcome([play_commands.cordon_command(node)])
                work = self._set_unschedulable(node, outcome, unschedulable=True)
            case UncordonStep(node):
                outcome = StepOutcome([play_commands.uncordon_command(node)])
                work = self._set_unschedulable(node, outcome, unschedulable=False)
            case DrainStep(node):
                outcome = StepOutcome([play_commands.drain_command(node)])
                work = self._drain(node, outcome)
            case KillStep(node):
                outcome = StepOutcome(play_commands.kill_commands(node))
                work = self._kill(node, outcome)
            case ReviveStep(node):
                outcome = StepOutcome(play_commands.revive_commands(node))
                work = self._revive(node, outcome)
            case _:
                assert_never(step)
        return await _record_problem(work, outcome)

    # --- objects ------------------------------------------------------------------------------

    async def _create(self, text: str, outcome: StepOutcome) -> None:
        documents = list(expand_lists(read_documents(text, "YAML", _YAML_LIMITS)))
        if not documents:
            raise InputError("there is no object in it", source="YAML")
        if len(documents) > MAX_OBJECTS:
            raise InputError(f"holds {len(documents)} objects, Play takes {MAX_OBJECTS} at a time")
        for document in documents:
            value = document.value
            if not isinstance(value, dict):
                raise document.error("is no Kubernetes object: it has no kind")
            resource = _CREATED.get((str(value.get("apiVersion")), str(value.get("kind"))))
            if resource is None:
                known = ", ".join(dict.fromkeys(each.kind for each in _CREATED.values()))
                problem = f"Play creates {known} only"
                raise document.error(problem, remedy="the command does it in a terminal")
            await self._create_one(resource, value, outcome)

    async def _create_one(
        self, resource: ResourceType, value: JsonObject, outcome: StepOutcome
    ) -> None:
        metadata = value.get("metadata")
        given = metadata.get("namespace") if isinstance(metadata, dict) else None
        namespace = (str(given) if given else "default") if resource.namespaced else ""
        body = json.dumps(value).encode()
        answer = await self._send("POST", resource.path(namespace), body, query=_STRICT)
        made = msgspec.json.decode(answer)["metadata"]
        kind = _KUBECTL_KINDS[resource]
        outcome.objects.append(CreatedObject(kind, made["name"], made.get("namespace", "")))
        outcome.done.append(f"{kind}/{made['name']} created")

    async def _delete(self, kind: str, name: str, namespace: str, outcome: StepOutcome) -> None:
        resource = _DELETED.get(kind)
        if resource is None or resource.namespaced != bool(namespace):
            raise InputError(f"Play deletes {', '.join(_DELETED)}, each by its name")
        await self._send("DELETE", resource.path(namespace, name))
        outcome.done.append(f"{kind}/{name} deleted")

    # --- nodes --------------------------------------------------------------------------------

    async def _set_unschedulable(
        self, node: str, outcome: StepOutcome, *, unschedulable: bool
    ) -> None:
        await self._patch(node, {"spec": {"unschedulable": unschedulable or None}})
        outcome.done.append(f"node/{node} {'cordoned' if unschedulable else 'uncordoned'}")

    async def _drain(self, node: str, outcome: StepOutcome) -> None:
        await self._set_unschedulable(node, outcome, unschedulable=True)
        query = (("fieldSelector", f"spec.nodeName={node}"), ("limit", str(MAX_EVICTED)))
        listed = msgspec.json.decode(
            await self._send("GET", PODS.path(), query=query), type=_PodList
        )
        refused: list[str] = []
        for pod in listed.items:
            if is_daemon(pod) or is_bound_to_node(pod):
                continue
            try:
                await self._evict(pod)
                outcome.done.append(f"pod/{pod.name} evicted")
            except ApiError as problem:
                refused.append(f"{pod.namespace}/{pod.name}: {problem}")
        if listed.metadata.continue_:
            refused.append(f"the first {MAX_EVICTED} pods were evicted; drain it again")
        if refused:
            outcome.problem = "\n".join(refused)

    async def _evict(self, pod: Pod) -> None:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
        }
        path = PODS.path(pod.namespace, pod.name, "eviction")
        await self._send("POST", path, msgspec.json.encode(body), query=_WRITER)

    async def _kill(self, node: str, outcome: StepOutcome) -> None:
        await self._patch(node, {"metadata": {"annotations": {FAILURE: "unreachable"}}})
        outcome.done.append(f"node/{node} annotated")
        taint: JsonObject = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}
        await self._change_taints(node, lambda taints: [*_without_ours(taints), taint])
        outcome.done.append(f"node/{node} tainted")

    async def _revive(self, node: str, outcome: StepOutcome) -> None:
        await self._patch(node, {"metadata": {"annotations": {FAILURE: None}}})
        outcome.done.append(f"node/{node} annotated")
        await self._change_taints(node, _without_ours)
        outcome.done.append(f"node/{node} untainted")

    async def _change_taints(
        self, node: str, change: Callable[[list[JsonValue]], list[JsonValue]]
    ) -> None:
        """Read and write, again if somebody else was faster: the list is written as a whole."""
        for left in reversed(range(_TRIES)):
            found = msgspec.json.decode(await self._send("GET", NODES.path("", node)))
            version = found["metadata"]["resourceVersion"]
            taints = change(found.get("spec", {}).get("taints") or [])
            try:
                await self._patch(
                    node, {"metadata": {"resourceVersion": version}, "spec": {"taints": taints}}
                )
            except Conflict:
                if not left:
                    raise
            else:
                return

    async def _patch(self, node: str, change: JsonObject) -> None:
        body, kind = msgspec.json.encode(change), str(PatchType.MERGE)
        await self._send("PATCH", NODES.path("", node), body, query=_WRITER, content_type=kind)

    async def _send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        query: tuple[tuple[str, str], ...] = (),
        content_type: str = "application/json",
    ) -> bytes:
        """One request; somebody looks on, so nothing is tried again later. Raises ApiError and
        Unreachable."""
        request = Request(method, path, query, body, content_type)
        reply = await self._transport.send(request, timeout_s=_TIMEOUT_S)
        if reply.status >= 400:
            raise error_of(reply)
        return reply.body


async def _record_problem(work: Awaitable[None], outcome: StepOutcome) -> StepOutcome:
    try:
        await work
    except ApiError as problem:
        outcome.problem = f"Error from server ({problem.reason}): {problem}"
    except (InputError, RequestFailed) as problem:
        outcome.problem = str(problem)
    return outcome


def _without_ours(taints: list[JsonValue]) -> list[JsonValue]:
    return [t for t in taints if not (isinstance(t, dict) and t.get("key") == OUT_OF_SERVICE)]


class _ListMeta(Struct, rename="camel"):
    continue_: str = msgspec.field(default="", name="continue")


class _PodList(Struct):
    metadata: _ListMeta
    items: list[Pod]
