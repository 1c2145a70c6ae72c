"""Clusters with storage, and a VolumeBinding plugin to ask about them."""

from typing import Any

from support.scheduler.plugins.storage_builders import claim_volume, make_class, put

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import VolumeBindingArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.testing import cycle_for, make_cluster, make_handle, make_node, make_pod

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DRIVER = "csi.example.com"


def plugin_for(cluster: Cluster, **gates: bool) -> VolumeBinding:
    return VolumeBinding(VolumeBindingArgs(), make_handle(cluster, **gates))


def node(name: str, zone: str = "a") -> Node:
    """A node with the labels that volumes go by."""
    return make_node(name, labels={HOST: name, ZONE: zone})


def pod_with(*claims: str, name: str = "p") -> Pod:
    volumes = [claim_volume(claim, f"v{i}") for i, claim in enumerate(claims)]
    return make_pod(name, volumes=volumes)


def cluster_of(*objects: Any, nodes: tuple[Node, ...] = ()) -> Cluster:
    """Two nodes unless given, a class without provisioner (local) and one with (made)."""
    cluster = make_cluster(nodes or (node("n"), node("m", "b")))
    put(cluster, make_class("local", provisioner="kubernetes.io/no-provisioner"))
    put(cluster, make_class("made", provisioner=DRIVER))
    put(cluster, *objects)
    return cluster


def planned(cluster: Cluster, plugin: VolumeBinding, pod: Pod, node_name: str) -> Cycle:
    """The pod's cycle after Reserve on a node."""
    cycle = cycle_for(pod, cluster)
    assert plugin.pre_filter(cycle) is None
    plugin.filter(cycle, cluster.nodes.all_rows())
    assert plugin.reserve(cycle, node_name) is None
    return cycle
