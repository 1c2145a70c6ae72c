"""A run of the study as Kubernetes objects, for what goes through the scheduler's engine.

Nodes and pods speak HAMi's dialect, which counts hundredths of a card. Nodes are in the order in
which ties are broken, pods in the order of their arrival; copies of pods have a number.
"""

from collections.abc import Iterator
from typing import Any, Final

from podium.api.errors import InputError
from podium.api.json_values import JsonObject
from podium.gpu.cards import Card
from podium.gpu.dialects import find_dialect
from podium.gpu.packing.node_columns import WHOLE
from podium.study.workloads import Workload, nodes_in_order

CARD_MEMORY: Final = 10_000
"""Of every card: hundredths of it are whole numbers."""
CARD_SLOTS: Final = 100
MAX_PODS: Final = 1001
# upstream: so many pods on a node.
PODS_NOT_ON_NODES: Final = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
)


def node_manifests(workload: Workload) -> Iterator[JsonObject]:
    nodes, dialect = nodes_in_order(workload), find_dialect("hami")
    models = {1 << number: model for number, model in enumerate(nodes.models)}
    for row, name in enumerate(nodes.names):
        model = models.get(int(nodes.model_bit[row]), "")
        cards = [
            Card(at, f"{name}-{at}", _model(model), CARD_MEMORY, slots=CARD_SLOTS)
            for at in range(int(nodes.gpus[row]))
        ]
        written = dialect.register(cards, 0.0)
        room = {
            "cpu": f"{nodes.cpu_milli[row]}m",
            "memory": f"{nodes.memory_mib[row]}Mi",
            "pods": str(MAX_PODS),
            **written.capacity,
        }
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": name,
                "annotations": {k: v for k, v in written.annotations.items() if v is not None},
            },
            "status": {"capacity": room, "allocatable": room},
        }


def pod_manifests(workload: Workload) -> Iterator[JsonObject]:
    """Raises InputError for shares that are no hundredths of a card."""
    pods = workload.trace.pods
    seen: dict[int, int] = {}
    for number in workload.stream.tolist():
        copy = seen[number] = seen.get(number, -1) + 1
        name = pods.names[number] + (f"-tuned-{copy}" if copy else "")
        gpus, milli = int(pods.gpus[number]), int(pods.gpu_milli[number])
        if milli % 10:
            raise InputError(f"pod {name}: {milli} thousandths of a GPU are no hundredths")
        asked = {"cpu": f"{pods.cpu_milli[number]}m", "memory": f"{pods.memory_mib[number]}Mi"}
        if gpus:
            percent = str(milli * 100 // WHOLE)
            asked["nvidia.com/gpu"] = str(gpus)
            asked |= dict.fromkeys(("nvidia.com/gpucores", "nvidia.com/gpumem-percentage"), percent)
        metadata: JsonObject = {"name": name, "namespace": "default"}
        spec = pods.specs[number]
        if spec:
            allowed = ",".join(_model(model) for model in spec.split("|"))
            metadata["annotations"] = {"nvidia.com/use-gputype": allowed}
        resources = {"requests": asked, "limits": asked}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"containers": [{"name": "main", "image": "gpu", "resources": resources}]},
        }


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


def _model(name: str) -> str:
    """In brackets, as HAMi takes a part of a name for the name: A10 would match A100."""
    return f"[{name}]" if name else ""
