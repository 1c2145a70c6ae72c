"""What the parts of the engine share: the cluster, the queue, the pods they know, the way out.

Each part (intake of events, attempts, failures, bindings) is a class of its own over this one
state, so that every transition has one place and `--validate` can look at the whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from podium.api.pod import Pod
from podium.api.pod_groups import PodGroup
from podium.cluster.pod_info import PodInfo
from podium.cluster.state import Cluster
from podium.config.feature_gates import FeatureGates
from podium.engine.binding import Binding
from podium.engine.journal import Journal
from podium.engine.queue import SchedulingQueue
from podium.engine.requests import Event, Request
from podium.framework.handle import Preempting
from podium.framework.profile import Profile
from podium.framework.queued import QueuedPod
from podium.framework.waiting import WaitingPods


@dataclass(slots=True)
class Flight:
    """A pod between its placement and the end of its binding cycle."""

    queued: QueuedPod
    binding: Binding
    started: bool = False


def placed(pod: Pod, node_name: str) -> Pod:
    """A pod's object as if it were on its node already; what an assumed pod looks like."""
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


@dataclass(slots=True)
class EngineState:
    cluster: Cluster
    profiles: dict[str, Profile]
    queue: SchedulingQueue
    waiting: WaitingPods
    preempting: Preempting
    gates: FeatureGates
    clock: Callable[[], float]
    journal: Journal
    pods: dict[str, Pod] = field(default_factory=dict)
    flights: dict[str, Flight] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def responsible(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self.profiles

    def ask(self, request: Request) -> None:
        self.requests.append(request)

    def tell(
        self,
        pod: PodInfo,
        type_: str,
        reason: str,
        action: str,
        note: str,
        related: PodInfo | PodGroup | None = None,
    ) -> None:
        """Ask for an event about a pod."""
        self.ask(Event(pod, type_, reason, action, note, related))

    def note(self, key: str, what: str, detail: str = "") -> None:
        self.journal.note(key, self.clock(), what, detail)
