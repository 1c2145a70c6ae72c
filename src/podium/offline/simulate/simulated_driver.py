"""What the engine asks for in a simulation: carried out at once, and kept in the outcomes.

What has come of it goes to the engine, as a watch would tell it (`podium.offline.driver.driver`);
here stand what plugins had set aside for a pod, why a binding failed and who had to leave for whom.
"""

import traceback
from contextlib import suppress

from podium.offline.driver.driver import OfflineDriver
from podium.offline.simulate.outcomes import Outcomes
from podium.offline.simulate.simulated_api import SimulatedApi
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import GroupPreemptor, Nominate, PatchStatus, Preemptor
from podium.scheduler.framework.status import Status


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
