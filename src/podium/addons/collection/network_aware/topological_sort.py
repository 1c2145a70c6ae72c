"""TopologicalSort: pods of one application in the order of its workloads, others by priority.

The order is the one in the status of the AppGroup; pods of one workload go by the time they entered
the queue. Upstream lets equal ones come before each other, which is no order.
"""

import msgspec

from podium.addons.collection.network_aware.app_groups import (
    APP_GROUPS,
    find_app_group,
    group_name_of,
    workload_of,
)
from podium.plugin import QueuedPod, QueueSortPlugin

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
