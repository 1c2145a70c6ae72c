"""Clusters as kube-scheduler-simulator exports them.

Its `GET /api/v1/export` answers with one JSON object that has a list for each kind and neither
apiVersion nor kind; what the simulator found out about pods is in their annotations (see
`result_annotations`). Such a file is recognised by what is in it and read like a list of objects.

upstream: kube-scheduler-simulator, simulator/snapshot (ResourcesForSnap).
"""

from typing import Final

from podium.golang.documents import Document, with_type
from podium.golang.json_values import JsonValue
from podium.golang.mistakes import join

_KINDS: Final = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
"""In the order in which the simulator itself imports them."""
_CONFIGURATION: Final = "schedulerConfig"
_REQUIRED: Final = {"pods", "nodes"}


def is_export(value: JsonValue) -> bool:
    """Whether a document is an export of kube-scheduler-simulator."""
    if not isinstance(value, dict) or not value.keys() >= _REQUIRED:
        return False
    return value.keys() <= {*_KINDS, _CONFIGURATION} and all(
        value.get(name) is None or isinstance(value[name], list) for name in _KINDS
    )


def expand_export(document: Document) -> list[Document]:
    """The objects of an export as documents of their own."""
    value, found = document.value, []
    assert isinstance(value, dict)
    for name, (api_version, kind) in _KINDS.items():
        items = value.get(name)
        for index, item in enumerate(items if isinstance(items, list) else ()):
            found.append(
                Document(
                    document.source,
                    document.index,
                    document.line,
                    with_type(item, kind, api_version),
                    join(document.item, f"{name}[{index}]"),
                    document.of,
                )
            )
    return found


def describe_configuration(document: Document) -> str:
    """What becomes of the scheduler's configuration in an export; nothing if there is none."""
    value = document.value
    if not isinstance(value, dict) or not value.get(_CONFIGURATION):
        return ""
    return (
        f"{document.source}: {_CONFIGURATION} is not used;"
        f" jq .{_CONFIGURATION} writes a file for --config"
    )
