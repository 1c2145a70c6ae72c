"""What the add-ons that ship with Podium offer, by name: their entry points.

An add-on is found as an installed package is, by `group`, `name` and `module:object`, and imported
when somebody asks for what it offers; nobody below add-ons imports one. The table stands here and
not in the package's metadata: reading that of everything installed takes longer than most commands
do, and a checkout that was never installed has none.

    podium.plugins              name of a plugin -> its class
    podium.recorded_annotations annotations that an add-on's plugins read or write: a trace keeps
                                them (`podium.offline.traces`)
    podium.input_formats        readers of files that are no Kubernetes objects
                                (`podium.offline.simulate`)
    podium.source_answers       what a source reads from the answer of whom it asks
    podium.device_agents        device plugins and their kubelets' side, on simulated nodes
                                (`podium.simulated`)

Installed packages of others can offer plugins (`podium.user_code.plugins`); the other groups are
Podium's own for now.
"""

from importlib import import_module
from typing import Any, Final

PLUGINS: Final = "podium.plugins"
RECORDED_ANNOTATIONS: Final = "podium.recorded_annotations"
INPUT_FORMATS: Final = "podium.input_formats"
SOURCE_ANSWERS: Final = "podium.source_answers"
DEVICE_AGENTS: Final = "podium.device_agents"

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

ENTRY_POINTS: Final[dict[str, dict[str, str]]] = {
    PLUGINS: {
        **{name: f"podium.addons.collection.{place}" for name, place in _COLLECTION.items()},
        **{name: f"podium.addons.gpu.{place}" for name, place in _GPU.items()},
    },
    RECORDED_ANNOTATIONS: {
        "gpu": "podium.addons.gpu.dialects.recorded_annotations:RECORDED",
        "preemption": "podium.addons.collection.preemption:RECORDED_ANNOTATIONS",
    },
    INPUT_FORMATS: {"openb": "podium.addons.gpu.packing.openb_manifests:OpenbFormat"},
    SOURCE_ANSWERS: {"load-watcher": "podium.addons.collection.load.load_source:read_watcher"},
    DEVICE_AGENTS: {"gpu": "podium.addons.gpu.agents.node_agents:GPUAgents"},
}
SHIPPED_PLUGINS: Final = frozenset(ENTRY_POINTS[PLUGINS])


def load_entry_point(group: str, name: str) -> Any:
    """What is offered there; whoever asks says which type it has."""
    module, _, attribute = ENTRY_POINTS[group][name].partition(":")
    return getattr(import_module(module), attribute)
