"""What is read of a cluster, be it from a dump or over the network: all that decisions depend on.

Kinds with the longest lists come first, so that whoever reads several at a time is done soonest.
"""

from typing import Final

from podium.client import ResourceType, resources
from podium.scheduler.framework.events import WatchedKind

REQUIRED: Final = (resources.NODES, resources.PODS)
"""Without these there can be no answer at all."""
UNFINISHED_PODS: Final = "status.phase!=Succeeded,status.phase!=Failed"
"""A field selector: finished pods take nothing of a node any more."""
DEVICES: Final = (
    resources.RESOURCE_SLICES,
    resources.RESOURCE_CLAIMS,
    resources.RESOURCE_CLAIM_TEMPLATES,
    resources.DEVICE_CLASSES,
)
TAINT_RULES: Final = (resources.DEVICE_TAINT_RULES,)
GROUPS: Final = (resources.POD_GROUPS, resources.WORKLOADS)
READ: Final[tuple[ResourceType, ...]] = (
    *REQUIRED,
    resources.PERSISTENT_VOLUMES,
    resources.PERSISTENT_VOLUME_CLAIMS,
    resources.REPLICA_SETS,
    resources.SERVICES,
    resources.STORAGE_CLASSES,
    resources.CSI_NODES,
    resources.CSI_DRIVERS,
    resources.CSI_STORAGE_CAPACITIES,
    resources.VOLUME_ATTACHMENTS,
    resources.NAMESPACES,
    resources.POD_DISRUPTION_BUDGETS,
    resources.PRIORITY_CLASSES,
    resources.REPLICATION_CONTROLLERS,
    resources.STATEFUL_SETS,
    *DEVICES,
    *TAINT_RULES,
    *GROUPS,
)
"""Every kind of `podium.kubernetes.kinds.typed_objects.KINDS`."""


ADMISSION: Final[tuple[ResourceType, ...]] = (
    resources.LIMIT_RANGES,
    resources.RESOURCE_QUOTAS,
    resources.RUNTIME_CLASSES,
)
"""What decides about pods that files add to a cluster (`admission_kinds.py`); pods that are there
have gone through it."""


def resource_of(kind: WatchedKind) -> ResourceType:
    return ResourceType(kind.group, kind.version, kind.plural, kind.kind, kind.namespaced)
