"""What the engine asks for in a simulation: carried out at once, and kept in the outcomes.

What has come of it goes to the engine, as a watch would tell it (`podium.offline.driver.driver`);
here stand what plugins had set aside for a pod, why a binding failed and who had to leave for whom.

The API server of a simulation, and the controllers behind it. Writes of the binding cycle are
carried out at once (`podium.offline.driver.in_memory_api`). Beyond that pods start, extenders are
asked to bind, claims of pods that are gone are released, and time passes when a plugin asks for it;
by then the controllers that it waits for have done their work (`pod_claims`).
"""

import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256

from msgspec.structs import replace

from podium.kubernetes.controllers.pod_templates import release_claims
from podium.kubernetes.controllers.provisioning import bind_claim
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    SELECTED_NODE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.timestamps import time_text
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi, with_next_version
from podium.offline.simulate.outcomes import Outcomes
from podium.offline.simulate.pod_claims import provision_volume
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import GroupPreemptor, Nominate, PatchStatus, Preemptor
from podium.scheduler.framework.asking import (
    Asker,
    BindAnswer,
    BindCall,
    CallFailed,
    NobodyToAsk,
    WrongAnswers,
)
from podium.scheduler.framework.status import Status


class SimulatedApi(InMemoryApi):
    """Carries out writes on the engine's own cluster.

    Pods start one virtual second after the other, all of them later than those that run already:
    who started first matters when victims are chosen. Where the virtual clock has a meaning of its
    own they start when it says.
    """

    def __init__(
        self,
        engine: Engine,
        spend: Callable[[float], None],
        start: datetime,
        *,
        starts_by_clock: bool = False,
    ) -> None:
        """`spend` lets time pass; `start` is when the first pod may start. Who can ask extenders
        is set as `ask`."""
        super().__init__(engine)
        self._spend = spend
        self._last_start = start
        self._starts_by_clock = starts_by_clock
        self.ask: Asker | None = None
        self._volumes: list[PersistentVolume] = []
        self._claims: list[PersistentVolumeClaim] = []
        self._names: Counter[str] = Counter()
        """How many names were made up, by how they start."""

    # pods

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        self.place(pod.pod, node_name)

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        if self.ask is None:
            raise NobodyToAsk(f"{call.extender.url_prefix} has to bind, and nobody asks it to")
        (answer,) = self.ask((call,))
        if not isinstance(answer, BindAnswer | CallFailed):
            raise WrongAnswers(f"a binding was answered with {type(answer).__name__}")
        return answer

    def place(self, pod: Pod, node_name: str) -> None:
        """The pod runs on the node from now on."""
        pod = self._engine.state.pods.get(object_key(pod.metadata), pod)
        start = time_text(self._next_start())
        status = replace(pod.status, phase="Running", start_time=start, nominated_node_name="")
        spec = replace(pod.spec, node_name=node_name)
        self._engine.intake.pod_put(with_next_version(replace(pod, spec=spec, status=status)))

    def _next_start(self) -> float:
        if self._starts_by_clock:
            return self._engine.clock()
        self._last_start += timedelta(seconds=1)
        return self._last_start.timestamp()

    async def pause(self, seconds: float) -> None:
        self._spend(seconds)
        self._let_controllers_work()

    # volumes and devices

    def _store(self, obj: KubeObject) -> None:
        super()._store(obj)
        if isinstance(obj, PersistentVolume):
            self._volumes.append(obj)
        elif isinstance(obj, PersistentVolumeClaim):
            self._claims.append(obj)

    def _let_controllers_work(self) -> None:
        catalog = self._engine.cluster.catalog
        volumes, self._volumes = self._volumes, []
        claims, self._claims = self._claims, []
        for volume in volumes:
            wanted = volume.spec.claim_ref
            if wanted is not None:
                claim = catalog.get(PersistentVolumeClaim, wanted.name, wanted.namespace)
                self._settle(claim, volume)
        for claim in claims:
            storage_class = catalog.get(StorageClass, claim.spec.storage_class_name or "")
            node_name = (claim.metadata.annotations or {}).get(SELECTED_NODE)
            if storage_class is None or not node_name:
                continue
            nodes = self._engine.cluster.nodes
            node = nodes.node(nodes.row(node_name)) if nodes.is_present(node_name) else None
            csi_node = catalog.get(CSINode, node_name)
            self._settle(claim, provision_volume(claim, storage_class, node, csi_node))

    def _settle(self, claim: PersistentVolumeClaim | None, volume: PersistentVolume) -> None:
        if claim is not None:
            for obj in reversed(bind_claim(claim, volume)):
                self._engine.intake.object_put(with_next_version(obj))

    def _make_name(self, start: str) -> str:
        """A name as a server would make it up, the same in every run."""
        if not start:
            return super()._make_name(start)
        number = self._names[start]
        self._names[start] += 1
        return start + sha256(f"{start}{number or ''}".encode()).hexdigest()[:5]

    def release_claims(self, pod: Pod) -> None:
        """What the claim controller does when a pod is gone: free its devices."""
        claims = list(self._engine.cluster.catalog.all(ResourceClaim))
        for before, after in release_claims(pod.metadata.uid, claims):
            if after is None:
                self._engine.intake.object_deleted(before)
            else:
                self._engine.intake.object_put(with_next_version(after))


class SimulatedDriver(OfflineDriver):
    api: SimulatedApi

    def __init__(self, engine: Engine, api: SimulatedApi, outcomes: Outcomes) -> None:
        super().__init__(engine, api)
        self._outcomes = outcomes
        self._reserved = ""

    def bind(self, binding: Binding) -> None:
        self._reserved = _describe_reserved(binding)
        super().bind(binding)

    def binding_ended(self, binding: Binding, problem: Status | None) -> None:
        pod = binding.cycle.pod.pod
        if problem is None:
            self._outcomes.record_binding(pod, binding.node_name, self._reserved)
        else:
            self._outcomes.record_failed_binding(pod, problem)

    def binding_broke(self, binding: Binding, problem: Exception) -> None:  # noqa: ARG002
        self._outcomes.of(binding.cycle.pod.pod).crash = traceback.format_exc()

    def patch_status(self, request: PatchStatus) -> None:
        """Nobody here reads conditions, and writing them took a tenth of the time of a run in which
        most pods find no node."""
        if request.nominated_node is not None:
            self.nominate(Nominate(request.pod, request.nominated_node))

    def victim_evicted(self, preemptor: Preemptor, victim: PodInfo, node_name: str) -> None:
        self.api.release_claims(victim.pod)
        self._outcomes.record_eviction(victim.pod, node_name, preemptor.key)
        pods = preemptor.members if isinstance(preemptor, GroupPreemptor) else (preemptor,)
        for info in pods:
            result = self._outcomes.of(info.pod)
            result.victims = (*result.victims, victim.key)


def _describe_reserved(binding: Binding) -> str:
    """What plugins have set aside for a pod; a plugin that breaks over it has no say."""
    told: list[str] = []
    for plugin in binding.profile.reserve:
        with suppress(Exception):
            told.append(plugin.describe_reserved(binding.cycle))
    return "; ".join(text for text in told if text)
