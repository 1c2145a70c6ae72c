"""Pods taken off their nodes for the length of a trial.

"Would the group fit if these pods were gone?" is asked of the whole cluster, with every plugin's
indexes in use, so a private copy of the usage is not enough. The pods are really taken out of what
filters and scores read (usage and pod classes) and put back afterwards, each in its old place of
the node's list. Where a pod is and what its group knows of it does not change.
"""

from podium.kubernetes.rules.host_ports import HostPort
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster


class RemovedPods:
    """Use as a context: at its end everything is as it was."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._before: dict[int, tuple[tuple[PodInfo, ...], set[HostPort]]] = {}
        self._off: dict[str, PodInfo] = {}

    def take_off(self, info: PodInfo) -> None:
        row = self._cluster.placements[info.uid].row
        usage = self._cluster.usage
        if row not in self._before:
            self._before[row] = (tuple(usage.pods(row)), usage.ports.used(row))
        usage.remove(row, info)
        self._cluster.classes.remove(row, info)
        self._off[info.uid] = info

    def put_back(self, info: PodInfo) -> None:
        row = self._cluster.placements[info.uid].row
        self._cluster.usage.add(row, info)
        self._cluster.classes.add(row, info)
        del self._off[info.uid]

    def __enter__(self) -> "RemovedPods":
        return self

    def __exit__(self, *_: object) -> None:
        for info in tuple(self._off.values()):
            self.put_back(info)
        for row, (pods, ports) in self._before.items():
            self._cluster.usage.arrange(row, pods, ports)
