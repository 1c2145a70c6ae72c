"""What a plugin may reach beyond its own answers: the cluster, the gates, its profile."""

from typing import TYPE_CHECKING

from podium.cluster.state import Cluster
from podium.config.feature_gates import FeatureGates
from podium.framework.waiting import WaitingPods

if TYPE_CHECKING:
    from podium.framework.profile import Profile


class Handle:
    """Shared by all plugins of a profile; `profile` is there once they are all built."""

    profile: "Profile"

    def __init__(self, cluster: Cluster, gates: FeatureGates, waiting: WaitingPods) -> None:
        self.cluster = cluster
        self.gates = gates
        self.waiting = waiting
