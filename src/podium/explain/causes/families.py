"""Which function knows what a plugin's refusals are about.

A plugin that is not in the tables, such as one of a user, speaks for itself (`refusals.py`).
"""

from collections.abc import Callable, Mapping
from functools import partial

from podium.cluster.growth import Mask
from podium.explain.causes.attempt_view import AttemptView, Narrowing
from podium.explain.causes.devices import find_devices, narrow_by_devices
from podium.explain.causes.finding import Finding
from podium.explain.causes.host_ports import find_ports
from podium.explain.causes.legacy_rules import (
    find_disk_limits,
    find_label_presence,
    find_service_affinity,
)
from podium.explain.causes.node_features import find_features, narrow_by_features
from podium.explain.causes.node_labels import find_labels, find_node_name, narrow_by_labels
from podium.explain.causes.pod_affinity import (
    find_affinity,
    find_affinity_conflicts,
    narrow_by_affinity,
)
from podium.explain.causes.refusals import find_own_words
from podium.explain.causes.resources import find_shortages, find_too_small, narrow_by_size
from podium.explain.causes.taints import find_cordons, find_taints
from podium.explain.causes.topology_spread import find_skew
from podium.explain.causes.volume_binding import find_bindings
from podium.explain.causes.volume_reach import (
    find_zones,
    narrow_by_volumes,
    narrow_by_zones,
)
from podium.explain.causes.volume_use import find_limits, find_restrictions

Find = Callable[[AttemptView, Mask], list[Finding]]
"""(view, nodes that the plugin rejects) -> what it holds against them."""

FINDERS: Mapping[str, Find] = {
    "NodeUnschedulable": find_cordons,
    "NodeName": find_node_name,
    "TaintToleration": find_taints,
    "NodeAffinity": find_labels,
    "NodePorts": find_ports,
    "NodeResourcesFit": find_shortages,
    "NodeDeclaredFeatures": find_features,
    "VolumeRestrictions": find_restrictions,
    "NodeVolumeLimits": find_limits,
    "VolumeBinding": find_bindings,
    "VolumeZone": find_zones,
    "PodTopologySpread": find_skew,
    "InterPodAffinity": find_affinity_conflicts,
    "DynamicResources": find_devices,
    "NodeLabel": find_label_presence,
    "ServiceAffinity": find_service_affinity,
    **{
        name: partial(find_disk_limits, name=name)
        for name in ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
    },
}

NARROWINGS: Mapping[str, tuple[Callable[[AttemptView], Narrowing], Find]] = {
    "NodeAffinity": (narrow_by_labels, find_labels),
    "NodeDeclaredFeatures": (narrow_by_features, find_features),
    "NodeResourcesFit": (narrow_by_size, find_too_small),
    "VolumeBinding": (narrow_by_volumes, find_bindings),
    "VolumeZone": (narrow_by_zones, find_zones),
    "DynamicResources": (narrow_by_devices, find_devices),
    "InterPodAffinity": (narrow_by_affinity, find_affinity),
}
"""What the pod asks of a node that no change of other pods can give it, in the order in which a
person would look; with what to say when no node is left."""


def find(view: AttemptView, plugin: str, among: Mask) -> list[Finding]:
    """What a plugin holds against nodes that it rejects; in its own words if nothing is known."""
    finder = FINDERS.get(plugin)
    found = finder(view, among) if finder is not None else []
    return found or find_own_words(view, plugin, among)
