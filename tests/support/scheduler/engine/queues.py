"""A scheduling queue on a virtual clock, with plugins that are only names.

`Doorman` stands for PreEnqueue: it holds back the pods it is told to. Interests are written as
(plugin, registration) pairs. Pods are known by their names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.nominated_pods import Nominator
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.engine.queue import SchedulingQueue
from podium.scheduler.engine.queue.backoff import Backoff
from podium.scheduler.engine.queue.queueing_hints import Interest, Interests
from podium.scheduler.framework.events import Action, ClusterEvent, Registration, Resource
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status, unresolvable
from podium.testing import FakeClock, make_pod

PROFILE = "default-scheduler"
NODE_ADDED = ClusterEvent(Resource.NODE, Action.ADD)
NODE_TAINT = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)
POD_DELETED = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
POD_LABEL = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE_POD_LABEL)
POD_UPDATE = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
NODES = Registration(Resource.NODE, Action.ADD)
PODS_GONE = Registration(Resource.POD, Action.DELETE)

INFOS = PodInfos(ALL_REQUESTS)


def info(name: str, **fields: Any) -> PodInfo:
    return INFOS.of(make_pod(name, schedulerName=PROFILE, **fields))


class Doorman:
    """Holds pods back by name, in the name of a plugin, and remembers whom it was asked about."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.asked: list[str] = []

    def __call__(self, queued: QueuedPod) -> Status | None:
        name = queued.info.pod.metadata.name
        self.asked.append(name)
        plugin = self.held.get(name)
        return unresolvable("not yet").by(plugin) if plugin else None


class QueueUnderTest(SchedulingQueue):
    def __init__(
        self,
        interests: Iterable[tuple[str, Registration]] = (),
        *,
        initial_s: float = 1.0,
        most_s: float = 10.0,
        pop_from_backoff: bool = True,
        hints: bool = True,
        now: float = 0.0,
    ) -> None:
        self.clock = FakeClock(now)
        self.doorman = Doorman()
        self.nominator = Nominator()
        super().__init__(
            clock=self.clock,
            sort_key=lambda queued: (-queued.info.priority, queued.timestamp),
            gate=self.doorman,
            interests=Interests({PROFILE: [Interest(*interest) for interest in interests]}),
            nominator=self.nominator,
            backoff=Backoff(initial_s, most_s, pop_from_backoff),
            pop_from_backoff=pop_from_backoff,
            hints=hints,
        )

    def put(self, *names: str, **fields: Any) -> None:
        for name in names:
            self.add(info(name, **fields))

    def take(self) -> str | None:
        """Pop a pod and give its name."""
        queued = self.pop()
        return queued.info.pod.metadata.name if queued else None

    def take_all(self) -> list[str]:
        return list(iter(self.take, None))

    def fail(
        self, queued: QueuedPod | None, *rejectors: str, pending: Sequence[str] = ()
    ) -> QueuedPod:
        """The attempt of a popped pod ends with a rejection, or without rejectors, an error."""
        assert queued is not None
        queued.rejectors, queued.pending = {*rejectors, *pending}, set(pending)
        self.put_back(queued)
        return queued

    def rejected(self, name: str, *rejectors: str, **fields: Any) -> QueuedPod:
        """A new pod that was tried once and rejected."""
        self.put(name, **fields)
        return self.fail(self.pop(), *rejectors)

    def where(self) -> dict[str, str]:
        """Pod -> the part of the queue it is in."""
        parts = self.parts()
        return {
            queued.info.pod.metadata.name: part
            for part, pods in (
                ("active", parts.active),
                ("backoff", parts.backoff),
                ("error backoff", parts.error_backoff),
                ("unschedulable", parts.unschedulable),
                ("gated", parts.gated),
            )
            for queued in pods
        }

    def is_told(self, event: ClusterEvent, old: Any = None, new: Any = None) -> list[str]:
        """Names of the pods that an event moved."""
        return [queued.info.pod.metadata.name for queued in self.move_on_event(event, old, new)]

    def nominations(self) -> Mapping[str, str]:
        return {pod.pod.metadata.name: node for pod, node in self.nominator}


def saying(answer: bool | Exception) -> Callable[[PodInfo, Any, Any], bool]:
    """A hint that says the same whatever happened."""

    def hint(pod: PodInfo, old: Any, new: Any) -> bool:
        if isinstance(answer, Exception):
            raise answer
        return answer

    return hint


def pod_of(queued: QueuedPod) -> Pod:
    return queued.info.pod
