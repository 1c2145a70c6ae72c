"""Lines of the `openb` traces as Kubernetes objects, and the format as `podium simulate` reads it.

Nodes and pods speak HAMi's dialect, which counts hundredths of a card.
"""

from collections.abc import Iterable
from typing import Final

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.packing.openb_rows import (
    NodeRow,
    PodRow,
    is_node_list,
    is_pod_list,
    read_node_rows,
    read_pod_rows,
)
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject

CARD_MEMORY: Final = 10_000
"""Of every card: hundredths of it are whole numbers."""
CARD_SLOTS: Final = 100
MAX_PODS: Final = 1001
# upstream: so many pods on a node.


def node_manifest(row: NodeRow) -> JsonObject:
    cards = [
        Card(at, f"{row.name}-{at}", _model(row.model), CARD_MEMORY, slots=CARD_SLOTS)
        for at in range(row.gpus)
    ]
    written = find_dialect("hami").register(cards, 0.0)
    room = {
        "cpu": f"{row.cpu_milli}m",
        "memory": f"{row.memory_mib}Mi",
        "pods": str(MAX_PODS),
        **written.capacity,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": row.name,
            "annotations": {k: v for k, v in written.annotations.items() if v is not None},
        },
        "status": {"capacity": room, "allocatable": room},
    }


def pod_manifest(row: PodRow) -> JsonObject:
    """Raises InputError for shares that are no hundredths of a card."""
    if row.gpu_milli % 10:
        raise InputError(f"pod {row.name}: {row.gpu_milli} thousandths of a GPU are no hundredths")
    asked = {"cpu": f"{row.cpu_milli}m", "memory": f"{row.memory_mib}Mi"}
    if row.gpus:
        percent = str(row.gpu_milli * 100 // WHOLE)
        asked["nvidia.com/gpu"] = str(row.gpus)
        asked |= dict.fromkeys(("nvidia.com/gpucores", "nvidia.com/gpumem-percentage"), percent)
    metadata: JsonObject = {"name": row.name, "namespace": "default"}
    if row.spec:
        allowed = ",".join(_model(model) for model in row.spec.split("|"))
        metadata["annotations"] = {"nvidia.com/use-gputype": allowed}
    resources = {"requests": asked, "limits": asked}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "main", "image": "gpu", "resources": resources}]},
    }


def _model(name: str) -> str:
    """In brackets, as HAMi takes a part of a name for the name: A10 would match A100."""
    return f"[{name}]" if name else ""


class OpenbFormat:
    """What a file of the traces holds (a `podium.offline.simulate.openb_trace.TableFormat`)."""

    def is_node_list(self, columns: Iterable[str]) -> bool:
        return is_node_list(columns)

    def is_pod_list(self, columns: Iterable[str]) -> bool:
        return is_pod_list(columns)

    def read_nodes(self, text: str, source: str) -> list[JsonObject]:
        return [node_manifest(row) for row in read_node_rows(text, source)]

    def read_pods(self, text: str, source: str) -> list[PodRow]:
        return read_pod_rows(text, source)

    def write_pod(self, row: PodRow) -> JsonObject:
        return pod_manifest(row)
