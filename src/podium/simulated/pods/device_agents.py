"""What a kubelet asks the device plugins of its node for, and what it learns.

Which devices there are is the business of add-ons: each offers the agents of all nodes under the
entry point `podium.device_agents`. A kubelet that asks for a pod's devices is told that it has to
wait, why the pod cannot start (a reason and a message, as they stand in its status), or nothing.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, Protocol

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.simulated.clock import ClusterClock
from podium.simulated.informers import Informers
from podium.simulated.request_executor import RequestExecutor
from podium.user_code.shipped import DEVICE_AGENTS, load_entry_point

WAITING: Final = "waiting"
Verdict = tuple[str, str] | Literal["waiting"] | None


class DeviceAgents(Protocol):
    """The agents of all nodes; keys are names of nodes (a `Synchroniser`)."""

    name: str

    def watch(self, wake: Wake) -> None: ...

    async def sync(self, key: Any) -> float | None: ...

    def add_registration(self, node: JsonObject, wall_s: float) -> JsonObject:
        """A node that is to be made, with what its agent would write first. Raises InputError."""

    def tell_kubelets(self, on_settled: Callable[[tuple[str, str]], None]) -> None:
        """Whom to tell of pods that the agents are through with."""

    def verdict(self, pod: Pod, node: Node) -> Verdict:
        """What a kubelet learns of a pod that has not started."""


def make_gpu_agents(
    informers: Informers, executor: RequestExecutor, clock: ClusterClock
) -> DeviceAgents:
    made: DeviceAgents = load_entry_point(DEVICE_AGENTS, "gpu")(informers, executor, clock)
    return made
