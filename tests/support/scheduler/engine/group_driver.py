"""Pod groups under a small driver: the same world, with groups in it.

Nodes hold whole cpus and members ask for whole cpus, so a test can count on its fingers what fits.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

GENERIC = {"GenericWorkload": True}
GANGS = {**GENERIC, "GangScheduling": True}
TOPOLOGY = {**GANGS, "TopologyAwareWorkloadScheduling": True}
PREEMPTING = {**GANGS, "WorkloadAwarePreemption": True}
EVERYTHING = {**TOPOLOGY, **PREEMPTING}

TOO_FEW = (
    "waiting for minCount pods from a gang to be scheduled,"
    " one or more plugins asked to wait and no plugin rejected pod"
)


def make_group(
    name: str = "g",
    *,
    min_count: int | None = None,
    topology: str | None = None,
    conditions: Iterable[Mapping[str, Any]] = (),
    generation: int = 1,
    uid: str = "",
    **spec: Any,
) -> PodGroup:
    """A group; a gang if it has a `min_count`. Other keywords go into the spec."""
    policy: dict[str, Any] = (
        {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    )
    if topology is not None:
        spec["schedulingConstraints"] = {"topology": [{"key": topology}]}
    raw = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid or f"uid-{name}",
            "generation": generation,
        },
        "spec": {"schedulingPolicy": policy, **spec},
        "status": {"conditions": list(conditions)},
    }
    return msgspec.convert(raw, PodGroup)


def node(name: str, cpu: int = 2, **fields: Any) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "memory": "64Gi", "pods": 110}, **fields)


def member(name: str, group: str = "g", *, cpu: int = 1, **fields: Any) -> Pod:
    return pending(name, requests={"cpu": cpu}, schedulingGroup={"podGroupName": group}, **fields)


def running(name: str, on: str, *, cpu: int = 1, **fields: Any) -> Pod:
    return pending(name, node=on, requests={"cpu": cpu}, **fields)


class GroupDriver(FakeCluster):
    def __init__(
        self, *objects: KubeStruct, gates: Mapping[str, bool] | None = None, **more: Any
    ) -> None:
        super().__init__(*objects, gates=GANGS if gates is None else gates, **more)

    def told(self) -> dict[str, tuple[str, str]]:
        """Pod -> reason and message of its last condition."""
        return {p.pod.pod.metadata.name: (p.reason, p.message) for p in self.patches}

    def nominations_written(self) -> dict[str, str | None]:
        return {p.pod.pod.metadata.name: p.nominated_node for p in self.patches}

    def condition(self) -> tuple[str, str, str]:
        """The last condition written to a group."""
        wanted = self.group_patches[-1].condition
        return wanted.status, wanted.reason, wanted.message
