"""What a plugin may reach beyond its own answers: the cluster, the gates, its profile."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from podium.cluster.state import Cluster
from podium.config.feature_gates import FeatureGates
from podium.framework.extender_rules import Extenders
from podium.framework.waiting import WaitingPods

if TYPE_CHECKING:
    from podium.framework.profile import Profile


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
    ) -> None:
        self.cluster = cluster
        self.gates = gates
        self.waiting = waiting
        self.preempting = preempting or Preempting()
        self.clock = clock
        self.extenders = extenders
