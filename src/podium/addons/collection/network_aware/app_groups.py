"""AppGroup, the custom resource: the workloads of an application and which depends on which.

Pods name their group and their workload in two labels. A controller writes the order in which
workloads are to be started into the group's status.

TopologicalSort: pods of one application in the order of its workloads, others by priority. The
order is the one in the status of the AppGroup; pods of one workload go by the time they entered the
queue. Upstream lets equal ones come before each other, which is no order.
"""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec
from msgspec import field

from podium.addons.collection.custom_kinds import (
    NUMBER,
    QUANTITY,
    TEXT,
    definition,
    list_schema,
    object_schema,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct, Quantity
from podium.plugin import Handle, KubeObject, Pod, QueuedPod, QueueSortPlugin
from podium.scheduler.framework.events import WatchedKind

GROUP_LABEL: Final = "appgroup.diktyo.x-k8s.io"
WORKLOAD_LABEL: Final = "appgroup.diktyo.x-k8s.io.workload"


class Workload(KubeStruct, frozen=True):
    kind: str = ""
    name: str = ""
    selector: str = ""
    api_version: str = ""
    namespace: str = ""


class Dependency(KubeStruct, frozen=True):
    """`max_network_cost` is how far away the other workload may be."""

    workload: Workload = field(default_factory=Workload)
    min_bandwidth: Quantity = 0
    max_network_cost: int = 0


class AppGroupWorkload(KubeStruct, frozen=True):
    workload: Workload = field(default_factory=Workload)
    dependencies: tuple[Dependency, ...] | None = None


class AppGroupSpec(KubeStruct, frozen=True):
    num_members: int = 0
    topology_sorting_algorithm: str = ""
    workloads: tuple[AppGroupWorkload, ...] | None = None


class OrderedWorkload(KubeStruct, frozen=True):
    workload: Workload = field(default_factory=Workload)
    index: int = 0


class AppGroupStatus(KubeStruct, frozen=True):
    UNREAD = frozenset({"scheduleStartTime", "topologyCalculationTime"})

    running_workloads: int = 0
    topology_order: tuple[OrderedWorkload, ...] | None = None


class AppGroup(KubeObject, frozen=True):
    api_version: Literal["appgroup.diktyo.x-k8s.io/v1alpha1"] = "appgroup.diktyo.x-k8s.io/v1alpha1"
    kind: Literal["AppGroup"] = "AppGroup"
    spec: AppGroupSpec = field(default_factory=AppGroupSpec)
    status: AppGroupStatus = field(default_factory=AppGroupStatus)


def group_name_of(pod: Pod) -> str:
    return (pod.metadata.labels or {}).get(GROUP_LABEL, "")


def workload_of(pod: Pod) -> str:
    return (pod.metadata.labels or {}).get(WORKLOAD_LABEL, "")


def find_app_group(handle: Handle, name: str, namespaces: Iterable[str]) -> AppGroup | None:
    """The group of a name in the first of some namespaces that has one."""
    found = (handle.get(AppGroup, name, namespace) for namespace in namespaces)
    return next((group for group in found if group is not None), None)


def dependencies_of(group: AppGroup, workload: str) -> list[Dependency]:
    return [
        dependency
        for each in group.spec.workloads or ()
        if each.workload.selector == workload
        for dependency in each.dependencies or ()
    ]


def _definition() -> JsonObject:
    workload = object_schema(kind=TEXT, name=TEXT, selector=TEXT, apiVersion=TEXT, namespace=TEXT)
    dependency = object_schema(workload=workload, minBandwidth=QUANTITY, maxNetworkCost=NUMBER)
    return definition(
        AppGroup,
        "appgroups",
        short_names=("ag", "ags"),
        properties={
            "spec": object_schema(
                numMembers=NUMBER,
                topologySortingAlgorithm=TEXT,
                workloads=list_schema(
                    object_schema(workload=workload, dependencies=list_schema(dependency))
                ),
            ),
            "status": object_schema(
                runningWorkloads=NUMBER,
                scheduleStartTime={"type": "string", "format": "date-time"},
                topologyCalculationTime={"type": "string", "format": "date-time"},
                topologyOrder=list_schema(object_schema(workload=workload, index=NUMBER)),
            ),
        },
    )


APP_GROUPS: Final = WatchedKind(AppGroup, "appgroups", definition=_definition)


NO_INDEX = -1


class TopologicalSort(QueueSortPlugin):
    name = "TopologicalSort"
    watched_kinds = (APP_GROUPS,)

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        namespaces: tuple[str, ...] = ()

    args: Args

    def less(self, one: QueuedPod, other: QueuedPod) -> bool:
        group = group_name_of(one.info.pod)
        if group and group == group_name_of(other.info.pod):
            order = self._order_of(group)
            first = order.get(workload_of(one.info.pod), NO_INDEX)
            second = order.get(workload_of(other.info.pod), NO_INDEX)
            return (first, one.timestamp) < (second, other.timestamp)
        mine, theirs = one.info.priority, other.info.priority
        return mine > theirs if mine != theirs else one.timestamp < other.timestamp

    def _order_of(self, group: str) -> dict[str, int]:
        found = find_app_group(self.handle, group, self.args.namespaces or ("default",))
        order = found.status.topology_order if found is not None else None
        return {each.workload.selector: each.index for each in order or ()}
