"""A run of the study as Kubernetes objects, for what goes through the scheduler's engine.

Nodes are in the order in which ties are broken, pods in the order of their arrival; copies of pods
have a number.
"""

from collections.abc import Iterator
from typing import Any, Final

from podium.addons.gpu.packing.openb_manifests import node_manifest, pod_manifest
from podium.addons.gpu.packing.openb_rows import NodeRow, PodRow
from podium.addons.gpu.study.workloads import Workload, nodes_in_order
from podium.golang.json_values import JsonObject

PODS_NOT_ON_NODES: Final = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
)


def node_manifests(workload: Workload) -> Iterator[JsonObject]:
    nodes = nodes_in_order(workload)
    models = {1 << number: model for number, model in enumerate(nodes.models)}
    for row, name in enumerate(nodes.names):
        yield node_manifest(
            NodeRow(
                name,
                int(nodes.cpu_milli[row]),
                int(nodes.memory_mib[row]),
                int(nodes.gpus[row]),
                models.get(int(nodes.model_bit[row]), ""),
            )
        )


def pod_manifests(workload: Workload) -> Iterator[JsonObject]:
    """Raises InputError for shares that are no hundredths of a card."""
    pods = workload.trace.pods
    seen: dict[int, int] = {}
    for number in workload.stream.tolist():
        copy = seen[number] = seen.get(number, -1) + 1
        yield pod_manifest(
            PodRow(
                pods.names[number] + (f"-tuned-{copy}" if copy else ""),
                int(pods.cpu_milli[number]),
                int(pods.memory_mib[number]),
                int(pods.gpus[number]),
                int(pods.gpu_milli[number]),
                pods.specs[number],
            )
        )


def scheduler_configuration(policy: str) -> JsonObject:
    """GPUShare, and of all scores only the policy's."""
    score: dict[str, Any] = {"enabled": [{"name": policy}], "disabled": [{"name": "*"}]}
    drawing = {"enabled": [{"name": policy}]}
    ignored = {"ignoredResources": list(PODS_NOT_ON_NODES)}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {
                    "multiPoint": {"enabled": [{"name": "GPUShare"}]},
                    **({"preScore": drawing} if policy == "Random" else {}),
                    "score": score,
                    "postFilter": {"disabled": [{"name": "*"}]},
                },
                "pluginConfig": [
                    {"name": "GPUShare", "args": {"dialect": "hami"}},
                    {"name": "NodeResourcesFit", "args": ignored},
                ],
            }
        ],
    }
