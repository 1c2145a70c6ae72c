"""The command that writes all that scheduling reads of a cluster into a file.

`kubectl get KIND,KIND -o json` is of no use for that: it prints nothing at all if the server lacks
one of the kinds, and its answer for a kind without objects does not say which kind that was. So
each collection is asked for by its path. A server that lacks one says so and the others are still
there, and an empty collection has its kind in it: "there are none" can be told from "nobody asked".
"""

from typing import Final

from podium.client import resources

DUMPED: Final = (
    resources.NODES,
    resources.PODS,
    resources.NAMESPACES,
    resources.PRIORITY_CLASSES,
    resources.POD_DISRUPTION_BUDGETS,
    resources.SERVICES,
    resources.REPLICATION_CONTROLLERS,
    resources.REPLICA_SETS,
    resources.STATEFUL_SETS,
    resources.PERSISTENT_VOLUME_CLAIMS,
    resources.PERSISTENT_VOLUMES,
    resources.STORAGE_CLASSES,
    resources.CSI_NODES,
    resources.CSI_DRIVERS,
    resources.CSI_STORAGE_CAPACITIES,
    resources.VOLUME_ATTACHMENTS,
    resources.RESOURCE_CLAIMS,
    resources.RESOURCE_CLAIM_TEMPLATES,
    resources.RESOURCE_SLICES,
    resources.DEVICE_CLASSES,
    resources.POD_GROUPS,
    resources.WORKLOADS,
)
"""Every kind of `podium.api.kinds.KINDS`."""
HOW_TO_DUMP: Final = "podium dump-command prints the command that writes a whole cluster to a file"


def dump_command(target: str = "cluster.json") -> str:
    """A line for any POSIX shell; `target` must need no quoting."""
    paths = " ".join(resource.path() for resource in DUMPED)
    return (
        f"for path in {paths};"
        ' do kubectl get --raw "$path" || echo "left out: $path" >&2;'
        f" done > {target}"
    )
