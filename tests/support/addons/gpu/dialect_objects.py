"""Pods and nodes with resources and metadata, and what writes make of them."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.dialects.dialect import NodeWrite, PodWrite
from podium.kubernetes.kinds.meta import ObjectMeta, ResourceList
from podium.kubernetes.kinds.node import Node, NodeStatus
from podium.kubernetes.kinds.pod import Pod

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
Limits = Mapping[str, int | str]


def container(name: str, limits: Limits | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, **more} | ({"resources": {"limits": dict(limits)}} if limits else {})


def pod(
    *containers: Limits | dict[str, Any],
    init: tuple[dict[str, Any], ...] = (),
    node: str = "",
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    name: str = "p",
    status: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> Pod:
    """A pod of containers c0, c1, …, given by their limits."""
    return msgspec.convert(
        {
            "metadata": {
                "name": name,
                "namespace": "ns",
                "uid": f"uid-{name}",
                "annotations": dict(annotations or {}),
                "labels": dict(labels or {}),
                **metadata,
            },
            "spec": {
                "nodeName": node,
                "containers": [
                    each if "name" in each else container(f"c{at}", each)
                    for at, each in enumerate(containers)
                ],
                "initContainers": list(init),
            },
            "status": dict(status or {}),
        },
        Pod,
    )


def node(
    capacity: Mapping[str, int | str] | None = None,
    annotations: Mapping[str, str] | None = None,
    name: str = "n1",
) -> Node:
    resources: ResourceList = dict(capacity or {})
    return Node(
        metadata=ObjectMeta(name=name, annotations=dict(annotations or {})),
        status=NodeStatus(capacity=resources, allocatable=resources),
    )


def registered(write: NodeWrite, name: str = "n1") -> Node:
    """A node on which an agent wrote that."""
    found = node(write.capacity, _kept({}, write.annotations), name)
    metadata = replace(found.metadata, labels=_kept({}, write.labels))
    return replace(found, metadata=metadata)


def written(on: Pod, write: PodWrite) -> Pod:
    """The pod after a patch of its metadata."""
    metadata = replace(
        on.metadata,
        annotations=_kept(on.metadata.annotations or {}, write.annotations),
        labels=_kept(on.metadata.labels or {}, write.labels),
    )
    return replace(on, metadata=metadata)


def bound(on: Pod, node_name: str) -> Pod:
    return replace(on, spec=replace(on.spec, node_name=node_name))


def _kept(before: Mapping[str, str], write: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in {**before, **write}.items() if value is not None}
