"""The CustomResourceDefinition of PodGroups, as `kubernetes-sigs/scheduler-plugins` has it."""

from typing import Final

from podium.addons.collection.custom_kinds import QUANTITIES
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.coscheduling import SchedulingSigsPodGroup, SchedulingXPodGroup
from podium.plugin import WatchedKind

_APPROVED: Final = "https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"
_COLUMNS: Final = (
    ("Phase", "string", ".status.phase"),
    ("MinMember", "integer", ".spec.minMember"),
    ("Running", "integer", ".status.running"),
    ("Succeeded", "integer", ".status.succeeded"),
    ("Failed", "integer", ".status.failed"),
    ("Age", "date", ".metadata.creationTimestamp"),
)


def pod_group_definition() -> JsonObject:
    """The manifest to apply."""
    count: JsonObject = {"type": "integer", "format": "int32", "minimum": 0}
    spec: JsonObject = {
        "type": "object",
        "properties": {
            "minMember": {**count, "minimum": 1},
            "minResources": QUANTITIES,
            "scheduleTimeoutSeconds": {"type": "integer", "format": "int32"},
        },
    }
    status: JsonObject = {
        "type": "object",
        "properties": {
            "phase": {"type": "string"},
            "occupiedBy": {"type": "string"},
            "running": count,
            "succeeded": count,
            "failed": count,
            "scheduleStartTime": {"type": "string", "format": "date-time"},
        },
    }
    version: JsonObject = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path} for name, kind, path in _COLUMNS
        ],
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "apiVersion": {"type": "string"},
                    "kind": {"type": "string"},
                    "metadata": {"type": "object"},
                    "spec": spec,
                    "status": status,
                },
            }
        },
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "podgroups.scheduling.x-k8s.io",
            "annotations": {"api-approved.kubernetes.io": _APPROVED},
        },
        "spec": {
            "group": "scheduling.x-k8s.io",
            "scope": "Namespaced",
            "names": {
                "kind": "PodGroup",
                "listKind": "PodGroupList",
                "plural": "podgroups",
                "singular": "podgroup",
                "shortNames": ["pg", "pgs"],
            },
            "versions": [version],
        },
    }


POD_GROUPS: Final = WatchedKind(SchedulingXPodGroup, "podgroups", definition=pod_group_definition)
OLDER_POD_GROUPS: Final = WatchedKind(SchedulingSigsPodGroup, "podgroups", optional=True)
