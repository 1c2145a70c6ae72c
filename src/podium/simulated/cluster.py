"""The simulated cluster as a whole: mirrors, kubelets and controllers, started and stopped.

It is a client of the API like any other: whatever it knows it has been told by watches, and
whatever it does it does by requests. So it runs beside an embedded server in one process, or
against a server elsewhere.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from podium.client import ControlLoop, KubeClient, LoopClock, ResourceType, Unreachable
from podium.client.api_errors import AlreadyExists, ApiError
from podium.client.clock import unwrap_errors
from podium.client.resources import NODES
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import CreateAction, DeleteAction
from podium.kubernetes.controllers.node_lifecycle import GRACE_S
from podium.simulated.clock import ClusterClock
from podium.simulated.control import Planned, make_control_loop
from podium.simulated.controller_registry import ControllerContext, custom_kind_of, make
from podium.simulated.controllers.garbage import Garbage, collects
from podium.simulated.informers import REFRESH_S, DiscoveredKinds, Informers
from podium.simulated.nodes.heartbeats import (
    INTERVAL_S,
    AllocatableFollower,
    Heartbeats,
    KubeletLabels,
)
from podium.simulated.pods.device_agents import make_gpu_agents
from podium.simulated.pods.kubelets import Kubelets
from podium.simulated.pods.stage_files import default_stages
from podium.simulated.pods.stages import Stage
from podium.simulated.request_executor import RequestExecutor

_LOG: Final = logging.getLogger("podium.simulated")
_MAX_HEARTBEATS_PER_S: Final = 200.0
_START_S: Final = 20.0
_COLLECTED: Final = frozenset({"list", "watch", "delete"})


@dataclass(frozen=True, slots=True)
class SimulatedClusterOptions:
    """Who lives in the cluster."""

    nodes: tuple[JsonObject, ...] = ()
    """Node objects to make, if there are none of their names."""
    stages: tuple[Stage, ...] = field(default_factory=default_stages)
    controllers: tuple[str, ...] = ()
    root_ca: str = ""
    """The certificate authority that clients verify the server by, PEM; published if known."""


@dataclass(frozen=True, slots=True)
class StartProgress:
    """How far the start has come."""

    what: str
    done: int
    total: int


class SimulatedCluster:
    def __init__(
        self,
        client: KubeClient,
        options: SimulatedClusterOptions,
        *,
        clock: ClusterClock | None = None,
        randomness: Random | None = None,
        on_progress: Callable[[StartProgress], None] = lambda _: None,
    ) -> None:
        self.informers = Informers()
        self.started = asyncio.Event()
        self._client = client
        self._options = options
        self._clock = clock or ClusterClock()
        self._randomness = randomness or Random()
        self._on_progress = on_progress
        self._followed: set[ResourceType] = set()
        self._garbage: Garbage | None = None
        self.executor = RequestExecutor(client, self.informers)
        self._kinds = DiscoveredKinds(client, self._clock)
        self._dormant: dict[str, ResourceType] = {}
        """Controllers whose custom kind was not served when it was last looked for."""
        self._gpu_agents = make_gpu_agents(self.informers, self.executor, self._clock)
        self._context = self._made_context()
        self._loops = self._made_loops()

    @property
    def _heartbeat_s(self) -> float:
        # Heartbeats take their share of the server's time and no more, however fast time passes.
        least_s = len(self._options.nodes) / _MAX_HEARTBEATS_PER_S * self._clock.speed
        return max(INTERVAL_S, least_s)

    def _made_context(self) -> ControllerContext:
        return ControllerContext(
            self.informers,
            self._client,
            self.executor,
            self._clock,
            self._kinds,
            node_grace_s=max(GRACE_S, 5 * self._heartbeat_s),
            root_ca=self._options.root_ca,
        )

    def _made_loops(self) -> list[ControlLoop[Any]]:
        own = (
            Heartbeats(self.informers, self._heartbeat_s),
            Kubelets(self.informers, self._options.stages, self._gpu_agents),
            AllocatableFollower(self.informers),
            KubeletLabels(self.informers),
        )
        loops = [
            make_control_loop(Planned(each, self.executor, self._clock), self._clock)
            for each in own
        ]
        loops.append(make_control_loop(self._gpu_agents, self._clock))
        for name in self._options.controllers:
            custom = custom_kind_of(name)
            if custom is not None:
                self._dormant[name] = custom
                continue
            controller = make(name, self._context)
            if isinstance(controller, Garbage):
                self._garbage = controller
            loops.append(make_control_loop(controller, self._clock))
        return loops

    async def run(self) -> None:
        """Live until cancelled; `started` is set once everything is there and running.

        Raises ApiError, Unreachable and InputError if it cannot start.
        """
        with unwrap_errors(ApiError, Unreachable, InputError):
            async with asyncio.TaskGroup() as group:
                await self._follow_everything(group)
                await self._register()
                for loop in self._loops:
                    group.create_task(loop.run())
                if self._garbage is not None or self._dormant:
                    group.create_task(self._follow_new_kinds(group))
                self.started.set()

    @property
    def trouble(self) -> dict[str, str]:
        """Kinds that cannot be followed right now, and why."""
        return {
            resource.plural: store.trouble
            for resource, store in self.informers.stores.items()
            if store.trouble
        }

    async def remove_nodes(self) -> None:
        """Delete the nodes that this cluster has made or taken over."""
        for obj in self._options.nodes:
            name = obj["metadata"]["name"]
            node = self.informers.nodes.get("", name)
            if node is not None:
                await self.executor.write(DeleteAction(NODES, "", name, node.metadata.uid))

    # --- starting -----------------------------------------------------------------------------

    async def _follow_everything(self, group: asyncio.TaskGroup) -> None:
        await self._include_kinds()
        stores = list(self.informers.stores.values())
        self._follow(group)
        for done, store in enumerate(stores):
            self._on_progress(StartProgress("kinds", done, len(stores)))
            await store.wait_for_sync(within_s=_START_S)

    def _follow(self, group: asyncio.TaskGroup) -> None:
        """Begin to follow the kinds that are not followed yet."""
        for resource, store in self.informers.stores.items():
            if resource not in self._followed:
                self._followed.add(resource)
                running = store.run(self._client, clock=LoopClock(), randomness=self._randomness)
                group.create_task(running)

    async def _register(self) -> None:
        """Make the nodes that are not there yet."""
        nodes = self._options.nodes
        for done, obj in enumerate(nodes):
            self._on_progress(StartProgress("nodes", done, len(nodes)))
            if self.informers.nodes.get("", obj["metadata"]["name"]) is not None:
                continue
            try:
                made = self._gpu_agents.add_registration(obj, self._clock.moment().wall_s)
                await self.executor.write(CreateAction(NODES, "", made))
            except AlreadyExists:
                continue
            except ApiError as problem:
                name = obj["metadata"]["name"]
                raise InputError(f"node {name} cannot be made: {problem}") from None

    # --- kinds that appear --------------------------------------------------------------------

    async def _include_kinds(self) -> list[ControlLoop[Any]]:
        """Collect garbage of all kinds that are served by now, and make the controllers of custom
        ones; returns their loops."""
        if self._garbage is None and not self._dormant:
            return []
        served = await self._kinds.all()
        for each in served:
            if self._garbage is None:
                break
            if each.verbs >= _COLLECTED and collects(each.resource):
                self._garbage.include(each.resource)
        known = {each.resource for each in served}
        woken = [name for name, resource in self._dormant.items() if resource in known]
        made = [make_control_loop(make(name, self._context), self._clock) for name in woken]
        for name in woken:
            del self._dormant[name]
        self._loops.extend(made)
        return made

    async def _follow_new_kinds(self, group: asyncio.TaskGroup) -> None:
        while True:
            await self._clock.sleep(REFRESH_S)
            try:
                made = await self._include_kinds()
            except (ApiError, Unreachable) as problem:
                _LOG.warning("what the server serves cannot be found out: %s", problem)
                continue
            self._follow(group)
            for loop in made:
                group.create_task(loop.run())
