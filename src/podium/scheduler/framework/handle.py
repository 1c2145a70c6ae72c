"""What a plugin may reach beyond its own answers: objects, sources, gates, the time, its profile.

Everything here is in memory and answers at once. What has to be asked for over the network comes
through a source (`sources.py`); what has to be written, through the API handle of the binding cycle
(`api_handle.py`).
"""

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, TypeVar

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.known_pods import KnownPods, PodIndex
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.framework.events import Action
from podium.scheduler.framework.extender_rules import Extenders
from podium.scheduler.framework.log import SILENT, Log
from podium.scheduler.framework.plugin_metrics import PluginMetrics
from podium.scheduler.framework.sources import Sources
from podium.scheduler.framework.waiting import WaitingPods

if TYPE_CHECKING:
    from podium.scheduler.framework.profile import Profile

K = TypeVar("K", bound=KubeObject)
E = TypeVar("E", bound=Hashable)


class Preempting:
    """Pods whose victims are being removed right now.

    A preemptor is held back until its last victim is on the way out, so that it is not tried again
    before there can be room.
    """

    def __init__(self) -> None:
        self._last_victims: dict[str, str] = {}

    def start(self, preemptor_uid: str) -> None:
        self._last_victims[preemptor_uid] = ""

    def reach_last(self, preemptor_uid: str, victim_uid: str) -> None:
        if preemptor_uid in self._last_victims:
            self._last_victims[preemptor_uid] = victim_uid

    def finish(self, preemptor_uid: str) -> None:
        self._last_victims.pop(preemptor_uid, None)

    def last_victim(self, preemptor_uid: str) -> str | None:
        """None if the pod is not preempting; empty while earlier victims are being removed."""
        return self._last_victims.get(preemptor_uid)


class Handle:
    """Shared by all plugins of a profile; `profile` is there once they are all built.

    `clock` tells the driver's time in seconds since 1970, `extenders` come in calling order.
    `client_settings` say how the API server is reached and as whom; None where there is none, as in
    simulations. `log` is the scheduler's log, silent where there is none. `metrics` are those that
    plugins declared.
    """

    profile: "Profile"

    def __init__(
        self,
        cluster: Cluster,
        gates: FeatureGates,
        waiting: WaitingPods,
        preempting: Preempting | None = None,
        clock: Callable[[], float] = lambda: 0.0,
        extenders: Extenders = (),
        *,
        sources: Sources | None = None,
        pods: KnownPods | None = None,
        client_settings: ClientSettings | None = None,
        log: Log = SILENT,
        metrics: PluginMetrics | None = None,
    ) -> None:
        """`pods` are all pods that the engine has heard of."""
        self.cluster = cluster
        self.gates = gates
        self.waiting = waiting
        self.preempting = preempting or Preempting()
        self.clock = clock
        self.extenders = extenders
        self.sources = sources if sources is not None else Sources(cluster.nodes, clock)
        self.client_settings = client_settings
        self.log = log
        self.metrics = metrics if metrics is not None else PluginMetrics()
        self._pods = pods if pods is not None else KnownPods()

    @property
    def new_node_actions(self) -> Action:
        """What brings nodes to pods that wait for another one. Without queueing hints they are told
        only of nodes that admit them, and a label or a taint can make a node do so."""
        if self.gates["SchedulerQueueingHints"]:
            return Action.ADD
        return Action.ADD | Action.UPDATE_NODE_TAINT | Action.UPDATE_NODE_LABEL

    def list(self, kind: type[K]) -> Iterator[K]:
        """The objects of a kind as they were seen last: nodes, pods on nodes and pods that wait,
        and every other kind that the scheduler watches (`kubernetes.kinds.typed_objects`)."""
        if issubclass(kind, Node):
            nodes = self.cluster.nodes
            found: Iterator[KubeObject | None] = iter(nodes.objects[: nodes.size])
        elif issubclass(kind, Pod):
            found = iter(list(self._pods.values()))
        else:
            found = iter(list(self.cluster.catalog.all(kind)))
        return (obj for obj in found if isinstance(obj, kind))

    def index_pods(self, entry_of: Callable[[Pod], E | None]) -> PodIndex[E]:
        """Pods by something that is worked out from each alone, kept up to date from now on: for
        those who would otherwise go through `list(Pod)` again and again."""
        return self._pods.index(entry_of)

    def get(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """One object as it was seen last; None if there is none."""
        found: KubeObject | None
        if issubclass(kind, Node):
            row = self.cluster.nodes.row(name)
            found = self.cluster.nodes.objects[row] if row >= 0 else None
        elif issubclass(kind, Pod):
            found = self._pods.get(f"{namespace}/{name}")
        else:
            return self.cluster.catalog.get(kind, name, namespace)
        return found if isinstance(found, kind) else None
