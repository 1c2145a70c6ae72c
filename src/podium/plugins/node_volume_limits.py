"""NodeVolumeLimits: a CSI driver attaches only so many volumes to a node."""

from podium.cluster.growth import Rows
from podium.framework.cycle import Cycle
from podium.framework.points import FilterPlugin, PreFilterPlugin
from podium.framework.status import SKIP, Status
from podium.framework.verdict import Verdict


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    name = "NodeVolumeLimits"

    def pre_filter(self, cycle: Cycle) -> Status | None:
        if not cycle.pod.pod.spec.volumes:
            return SKIP
        return None

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return None
