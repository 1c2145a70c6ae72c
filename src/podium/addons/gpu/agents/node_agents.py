"""The GPU agents of all simulated nodes, and their kubelets' side of the talk with them."""

import logging
from collections.abc import Callable, Iterable
from typing import Final, Literal, Protocol

import msgspec

from podium.addons.gpu.agents.registration import (
    INTERVAL_S,
    Agent,
    add_registration,
    find_agent,
    metadata_writes,
    registration,
    status_writes,
)
from podium.addons.gpu.agents.serving import (
    Books,
    DeviceRefusal,
    ServingOutcome,
    asks_agent,
    has_left_lock,
    serve_next_pod,
)
from podium.addons.gpu.dialects.agents import UNEXPECTED_ADMISSION
from podium.client.api_errors import AlreadyExists
from podium.client.resources import CONFIG_MAPS, NODES, PODS
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, CreateAction, PatchAction, Wake, delete
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.node import Node as SchedulerNode
from podium.kubernetes.kinds.pod import Pod as SchedulerPod
from podium.kubernetes.rules.timestamps import Moment
from podium.simulated.names import GPUS, SIMULATED

_LOG: Final = logging.getLogger("podium.simulated")


class ActionWriter(Protocol):
    """Writes through the API, and into the stores what the server answers."""

    async def execute(self, actions: Iterable[Action]) -> None: ...

    async def write(self, action: Action) -> None: ...


class MomentClock(Protocol):
    def moment(self) -> Moment: ...


class GPUAgents:
    """Keys are names of nodes (a `podium.simulated.pods.device_agents.DeviceAgents`)."""

    name = "gpuagents"

    def __init__(self, stores: Stores, executor: ActionWriter, clock: MomentClock) -> None:
        self._nodes, self._pods = stores.nodes, stores.pods
        self._executor = executor
        self._clock = clock
        self._books: dict[str, Books] = {}
        self._said: dict[str, tuple[Agent, float]] = {}
        self._broken: dict[str, dict[str, str]] = {}
        """What ConfigMaps say about broken cards, by node."""
        self._refused: dict[str, str] = {}
        self._asks: dict[str, bool] = {}
        self._on_settled: Callable[[tuple[str, str]], None] = lambda _: None

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            pod = new or old
            if pod is None or not pod.spec.node_name:
                return
            if new is None:
                self._asks.pop(pod.metadata.uid, None)
                books = self._books.get(pod.spec.node_name)
                if books is not None:
                    books.forget(pod.metadata.uid)
            if self._has_gpus(self._nodes.get("", pod.spec.node_name)):
                wake(pod.spec.node_name)

        def node_changed(_: Node | None, new: Node | None) -> None:
            if new is not None and self._has_gpus(new):
                wake(new.name)

        self._pods.listen(pod_changed)
        self._nodes.listen(node_changed)

    def tell_kubelets(self, on_settled: Callable[[tuple[str, str]], None]) -> None:
        """Whom to tell of pods that the agents are through with."""
        self._on_settled = on_settled

    def verdict(self, pod: Pod, node: Node) -> DeviceRefusal | Literal["waiting"] | None:
        """What a kubelet learns when it asks for the devices of a pod that has not started."""
        if not self._has_gpus(node) or pod.status.start_time or pod.is_ended:
            return None
        agent = self._agent(node)
        if agent is None or not self._asks_agent(pod, agent):
            return None
        books = self._books.get(node.name)
        if books is None or pod.metadata.uid not in books.settled:
            return "waiting"
        return books.settled[pod.metadata.uid]

    def add_registration(self, node: JsonObject, wall_s: float) -> JsonObject:
        """A node that is to be made, with what its agent would write first. Raises InputError."""
        return add_registration(node, wall_s)

    async def sync(self, key: str) -> float | None:
        node = self._nodes.get("", key)
        agent = self._agent(node) if node is not None and self._has_gpus(node) else None
        if node is None or agent is None or agent.is_silent:
            self._said.pop(key, None)
            return None
        again_s = await self._register(agent, node)
        await self._serve(agent, key)
        if agent.dialect.deletes_refused_pods:
            await self._executor.execute(self._deletions(key))
        return again_s

    # --- registering --------------------------------------------------------------------------

    async def _register(self, agent: Agent, node: Node) -> float:
        moment = self._clock.moment()
        wanted = registration(agent, moment.wall_s)
        actions = status_writes(node, wanted)
        rest_s = self._rest_s(agent, node.name, moment)
        if rest_s <= 0:
            if not agent.is_stopped:
                actions += metadata_writes(node, wanted)
            self._said[node.name] = (agent, moment.wall_s)
            rest_s = INTERVAL_S
        try:
            await self._executor.execute(actions)
            await self._tell_broken(agent, node.name)
        except BaseException:
            self._said.pop(node.name, None)
            raise
        return rest_s * moment.speed

    def _rest_s(self, agent: Agent, node_name: str, moment: Moment) -> float:
        said = self._said.get(node_name)
        if said is None or said[0] != agent:
            return 0.0
        rest_s = said[1] + INTERVAL_S - moment.wall_s
        return rest_s if rest_s > 1e-3 else 0.0

    async def _tell_broken(self, agent: Agent, node_name: str) -> None:
        place = agent.dialect.config_map_name(node_name)
        if place is None:
            return
        data = agent.dialect.write_config_map(agent.cards)
        if self._broken.get(node_name) == data:
            return
        namespace, name = place
        patch = PatchAction(CONFIG_MAPS, namespace, name, {"data": data})
        if any(data.values()):
            body = {"metadata": {"name": name, "namespace": namespace}, "data": data}
            try:
                await self._executor.write(CreateAction(CONFIG_MAPS, namespace, body))
            except AlreadyExists:
                await self._executor.write(patch)
        else:
            await self._executor.write(patch)
        self._broken[node_name] = data

    # --- serving ------------------------------------------------------------------------------

    async def _serve(self, agent: Agent, node_name: str) -> None:
        books = self._books.setdefault(node_name, Books())
        while True:
            node = self._nodes.get("", node_name)
            if node is None:
                return
            seen = _as_scheduler_node(node)
            cards = agent.dialect.node_cards(seen, self._clock.moment().wall_s)
            pods = [_as_scheduler_pod(pod) for pod in self._pods.on_node.of(node_name)]
            outcome = serve_next_pod(agent, seen, cards, pods, books)
            if outcome is None:
                if has_left_lock(agent.dialect, seen, pods, books):
                    version = seen.metadata.resource_version
                    await self._executor.execute(_lock_release(agent, node_name, version))
                return
            try:
                await self._executor.execute(_writes(agent, node_name, outcome))
            except BaseException:
                # The agent begins again with this pod, as the kubelet does.
                for pod in (outcome.pod, *(pod for pod, _ in outcome.writes)):
                    books.forget(pod.metadata.uid)
                raise
            books.settled[outcome.pod.metadata.uid] = outcome.rejection
            self._on_settled(outcome.pod.metadata.key)

    def _deletions(self, node_name: str) -> list[Action]:
        return [
            delete(PODS, pod)
            for pod in self._pods.on_node.of(node_name)
            if pod.status.phase == "Failed"
            and pod.status.reason == UNEXPECTED_ADMISSION
            and not pod.metadata.is_terminating
            and any(owner.kind != "Pod" for owner in pod.metadata.owner_references or ())
        ]

    # --- who has one ----------------------------------------------------------------------------

    @staticmethod
    def _has_gpus(node: Node | None) -> bool:
        return (
            node is not None
            and bool(node.metadata.annotation(GPUS))
            and node.metadata.label(SIMULATED) == "true"
        )

    def _agent(self, node: Node) -> Agent | None:
        try:
            agent = find_agent(node.metadata)
        except InputError as problem:
            if self._refused.get(node.name) != str(problem):
                self._refused[node.name] = str(problem)
                _LOG.warning("node %s has no GPU agent: %s", node.name, problem)
            return None
        self._refused.pop(node.name, None)
        return agent

    def _asks_agent(self, pod: Pod, agent: Agent) -> bool:
        known = self._asks.get(pod.metadata.uid)
        if known is None:
            known = asks_agent(agent.dialect, _as_scheduler_pod(pod))
            self._asks[pod.metadata.uid] = known
        return known


def _writes(agent: Agent, node_name: str, outcome: ServingOutcome) -> list[Action]:
    actions: list[Action] = []
    for pod, write in outcome.writes:
        parts = {"annotations": dict(write.annotations), "labels": dict(write.labels)}
        body = {name: part for name, part in parts.items() if part}
        if body:
            actions.append(PatchAction(PODS, pod.namespace, pod.name, {"metadata": body}))
    if outcome.releases_lock:
        actions += _lock_release(agent, node_name)
    return actions


def _lock_release(agent: Agent, node_name: str, version: str = "") -> list[Action]:
    """With a version it is refused if the node has changed since."""
    if agent.dialect.lock is None:
        return []
    metadata: JsonObject = {"annotations": {agent.dialect.lock.key: None}}
    if version:
        metadata["resourceVersion"] = version
    return [PatchAction(NODES, "", node_name, {"metadata": metadata})]


def _as_scheduler_pod(pod: Pod) -> SchedulerPod:
    return msgspec.convert(msgspec.to_builtins(pod), SchedulerPod)


def _as_scheduler_node(node: Node) -> SchedulerNode:
    return msgspec.convert(msgspec.to_builtins(node), SchedulerNode)
