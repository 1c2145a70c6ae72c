"""Where the plugins of add-ons are found, by name; their code is imported when one is asked for."""

from importlib import import_module
from typing import Final

from podium.plugin import Plugin

_COLLECTION: Final = {
    "CapacityScheduling": "capacity_scheduling:CapacityScheduling",
    "Coscheduling": "coscheduling.plugin:Coscheduling",
    "CrossNodePreemption": "preemption:CrossNodePreemption",
    "defalut": "wyq.trace:Defalut",
    "filteringNode": "wyq.trace:FilteringNode",
    "filteringPod": "wyq.trace:FilteringPod",
    "LoadVariationRiskBalancing": "load.load_variation_risk_balancing:LoadVariationRiskBalancing",
    "LowRiskOverCommitment": "load.low_risk_over_commitment:LowRiskOverCommitment",
    "NetworkOverhead": "network_aware:NetworkOverhead",
    "NetworkTraffic": "prometheus.plugins:NetworkTraffic",
    "NodeMetadata": "node_scores:NodeMetadata",
    "NodeResourcesAllocatable": "node_scores:NodeResourcesAllocatable",
    "NodeResourceTopologyMatch": "node_resource_topology.plugin:NodeResourceTopologyMatch",
    "Peaks": "load.peaks:Peaks",
    "PodState": "node_scores:PodState",
    "PreemptionToleration": "preemption:PreemptionToleration",
    "PrometheusFilter": "prometheus.plugins:PrometheusFilter",
    "PrometheusScore": "prometheus.plugins:PrometheusScore",
    "QOSSort": "qos_sort:QOSSort",
    "RandomScore": "wyq.rand_score:RandomScore",
    "randScore": "wyq.rand_score:RandScore",
    "SySched": "sysched:SySched",
    "TargetLoadPacking": "load.target_load_packing:TargetLoadPacking",
    "TopologicalSort": "network_aware:TopologicalSort",
    "wyq": "wyq.trace:Wyq",
}

_GPU: Final = {
    "BestFit": "plugin.gpu_packing:BestFit",
    "DotProd": "plugin.gpu_packing:DotProd",
    "FGD": "plugin.gpu_packing:FGD",
    "FGDStranded": "plugin.gpu_packing:FGDStranded",
    "GpuClustering": "plugin.gpu_packing:GpuClustering",
    "GpuPacking": "plugin.gpu_packing:GpuPacking",
    "GPUShare": "plugin.gpu_share:GPUShare",
    "Random": "plugin.gpu_packing:Random",
}

COLLECTION: Final[dict[str, str]] = {
    **{name: f"collection.{place}" for name, place in _COLLECTION.items()},
    **{name: f"gpu.{place}" for name, place in _GPU.items()},
}
"""Where a plugin's class stands, by the plugin's name: `module:Class` below `podium.addons`."""


def find_plugin(name: str) -> type[Plugin] | None:
    """The plugin among the add-ons that has a name, if there is one."""
    place = COLLECTION.get(name)
    if place is None:
        return None
    module, _, cls = place.partition(":")
    found: type[Plugin] = getattr(import_module(f"podium.addons.{module}"), cls)
    return found
