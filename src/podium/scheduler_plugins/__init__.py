"""Plugins beside kube-scheduler's own: gangs, quotas, load, traffic, images.

Each has the name, the arguments and the behaviour that it has where it comes from, most of them in
the collection `kubernetes-sigs/scheduler-plugins`. They are part of Podium and off until a
configuration names them; only then is their code imported.

They are written with what every plugin is written with (`podium.plugin`). What they fetch from
outside comes through sources, and sources alone talk to the network.
"""

from importlib import import_module
from typing import Final

from podium.scheduler.framework.points import Plugin

COLLECTION: Final[dict[str, str]] = {
    "BestFit": "gpu_packing.plugin:BestFit",
    "CapacityScheduling": "capacity_scheduling.plugin:CapacityScheduling",
    "Coscheduling": "coscheduling.plugin:Coscheduling",
    "CrossNodePreemption": "cross_node_preemption:CrossNodePreemption",
    "defalut": "wyq.trace:Defalut",
    "DotProd": "gpu_packing.plugin:DotProd",
    "FGD": "gpu_packing.plugin:FGD",
    "FGDStranded": "gpu_packing.plugin:FGDStranded",
    "filteringNode": "wyq.label_filters:FilteringNode",
    "filteringPod": "wyq.label_filters:FilteringPod",
    "GpuClustering": "gpu_packing.plugin:GpuClustering",
    "GpuPacking": "gpu_packing.plugin:GpuPacking",
    "GPUShare": "gpu_share.plugin:GPUShare",
    "LoadVariationRiskBalancing": "load.load_variation_risk_balancing:LoadVariationRiskBalancing",
    "LowRiskOverCommitment": "load.low_risk_over_commitment:LowRiskOverCommitment",
    "NetworkOverhead": "network_aware.network_overhead:NetworkOverhead",
    "NetworkTraffic": "prometheus.network_traffic:NetworkTraffic",
    "NodeMetadata": "node_metadata:NodeMetadata",
    "NodeResourcesAllocatable": "node_resources_allocatable:NodeResourcesAllocatable",
    "NodeResourceTopologyMatch": "node_resource_topology.plugin:NodeResourceTopologyMatch",
    "Peaks": "load.peaks:Peaks",
    "PodState": "pod_state:PodState",
    "PreemptionToleration": "preemption_toleration:PreemptionToleration",
    "PrometheusFilter": "prometheus.prometheus_filter:PrometheusFilter",
    "PrometheusScore": "prometheus.prometheus_score:PrometheusScore",
    "QOSSort": "qos_sort:QOSSort",
    "Random": "gpu_packing.plugin:Random",
    "RandomScore": "wyq.random_score:RandomScore",
    "randScore": "wyq.rand_score:RandScore",
    "SySched": "sysched.plugin:SySched",
    "TargetLoadPacking": "load.target_load_packing:TargetLoadPacking",
    "TopologicalSort": "network_aware.topological_sort:TopologicalSort",
    "wyq": "wyq.trace:Wyq",
}
"""Where the class of a plugin stands, by the plugin's name: `module:Class` below this package."""


def find_plugin(name: str) -> type[Plugin] | None:
    """The plugin of the collection that has a name, if there is one."""
    place = COLLECTION.get(name)
    if place is None:
        return None
    module, _, cls = place.partition(":")
    found: type[Plugin] = getattr(import_module(f"{__name__}.{module}"), cls)
    return found
