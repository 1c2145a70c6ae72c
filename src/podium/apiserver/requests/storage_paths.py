"""Where etcd would keep an object. The path shows in a few errors, and nowhere else."""

from typing import Final

from podium.apiserver.store.stored import Stored
from podium.kubernetes.resources.resource import Resource

_FOLDERS: Final = {
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "replicationcontrollers"): "controllers",
    ("", "services"): "services/specs",
    ("apiextensions.k8s.io", "customresourcedefinitions"): (
        "apiextensions.k8s.io/customresourcedefinitions"
    ),
    ("events.k8s.io", "events"): "events",
}


def path_of(resource: Resource, version: Stored) -> str:
    folder = _FOLDERS.get((resource.group, resource.plural))
    if folder is None:
        folder = f"{resource.group}/{resource.plural}" if resource.is_custom else resource.plural
    return f"/registry/{folder}/{version.key}"
