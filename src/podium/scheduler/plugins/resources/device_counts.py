"""How many devices stand behind an extended resource on each node.

The resource scores weigh a resource that devices serve by what the node has of them and what is
taken, since such a resource has no amount in the node's status. This is where they ask; counting
devices is DynamicResources' knowledge.
"""

from podium.kubernetes.kinds.devices import DeviceClass
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.dynamic_resources.supply import Supply


def device_counts(cycle: Cycle, device_class: DeviceClass, rows: Rows) -> tuple[Ints, Ints]:
    """(devices that match the class, those of them in use) per row.

    Rows may include some that show no node. A row without matching devices takes no part in the
    score of the resource.
    """
    total, used = Supply.of(cycle.cluster).counts(device_class)
    return total[rows].copy(), used[rows].copy()
