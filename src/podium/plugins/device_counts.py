"""How many devices stand behind an extended resource on each node.

The resource scores weigh a resource that devices serve by what the node has of them and what is
taken, since such a resource has no amount in the node's status. This is where they ask; counting
devices is DynamicResources' knowledge.
"""

import numpy as np

from podium.api.devices import DeviceClass
from podium.cluster.growth import Ints, Rows, count_of
from podium.framework.cycle import Cycle


def device_counts(
    cycle: Cycle,  # noqa: ARG001
    device_class: DeviceClass,  # noqa: ARG001
    rows: Rows,
) -> tuple[Ints, Ints]:
    """(devices that match the class, those of them in use) per row.

    Rows may include some that show no node. A row without matching devices takes no part in the
    score of the resource, which is what every row says until devices are counted.
    """
    none: Ints = np.zeros(count_of(rows), dtype=np.int64)
    return none, none
