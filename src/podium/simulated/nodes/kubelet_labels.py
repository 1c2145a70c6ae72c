"""Labels that every node has because its kubelet or a cloud's controller writes them.

A kubelet labels its node with host name, operating system and architecture when it registers; for
zone, region and machine type there are an old and a new label, and whoever reads one of them finds
the other as well (`pkg/kubelet/kubelet_node_status.go`, `reconcileNodeLabels` in
`k8s.io/cloud-provider`). A node that somebody has made by hand gets what it lacks when it is taken
over, and the other one of a pair when one of it is written. What is taken away later stays away.
"""

from collections.abc import Mapping
from typing import Final

from podium.client.resources import NODES
from podium.kubernetes.controllers.actions import NOTHING, Patch, Plan
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.nodes import Node
from podium.kubernetes.rules.moment import Moment
from podium.kubernetes.rules.old_node_labels import missing_twins, written_twins
from podium.simulated.informers import Informers
from podium.simulated.pods.kubelets import is_simulated

HOSTNAME: Final = "kubernetes.io/hostname"
_OS: Final = "kubernetes.io/os"
_ARCH: Final = "kubernetes.io/arch"


def missing_labels(node_name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """What a kubelet adds to the labels of its node."""
    twins = missing_twins(labels)
    usual = {HOSTNAME: node_name, _OS: "linux", _ARCH: "amd64", **labels, **twins}
    complete = {**usual, **missing_twins(usual)}
    return {key: text for key, text in complete.items() if key not in labels}


class KubeletLabels:
    """Keys are names of nodes."""

    name = "kubeletlabels"

    def __init__(self, informers: Informers) -> None:
        self._nodes = informers.nodes
        self._wanted: dict[str, dict[str, str]] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(old: Node | None, new: Node | None) -> None:
            if new is None or not is_simulated(new):
                return
            labels = new.metadata.labels or {}
            if old is None or not is_simulated(old) or old.metadata.uid != new.metadata.uid:
                wanted = missing_labels(new.name, labels)
            else:
                wanted = written_twins(old.metadata.labels or {}, labels)
            if wanted:
                self._wanted[new.name] = {**self._wanted.get(new.name, {}), **wanted}
                wake(new.name)

        self._nodes.listen(node_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        del moment
        node, wanted = self._nodes.get("", key), self._wanted.get(key, {})
        present = (node.metadata.labels or {}) if node is not None else {}
        changed = {name: text for name, text in wanted.items() if present.get(name) != text}
        if node is None or not changed:
            self._wanted.pop(key, None)
            return NOTHING
        return Plan([Patch(NODES, "", key, {"metadata": {"labels": changed}})], 0.0)
