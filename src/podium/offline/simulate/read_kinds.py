"""What is read of a cluster, be it from a dump or over the network: all that decisions depend on.

Kinds with the longest lists come first, so that whoever reads several at a time is done soonest.

The command that writes all that scheduling reads of a cluster into a file. `kubectl get KIND,KIND
-o json` is of no use for that: it prints nothing at all if the server lacks one of the kinds, and
its answer for a kind without objects does not say which kind that was. So each collection is asked
for by its path. A server that lacks one says so and the others are still there, and an empty
collection has its kind in it: "there are none" can be told from "nobody asked".
"""

import shlex
from collections.abc import Iterable
from typing import ClassVar, Final

from podium.client import ResourceType, resources
from podium.golang.document_structs import Document, DocumentPart
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
"""What decides about pods that files add to a cluster (`workloads.py`); pods that are there
have gone through it."""


def resource_of(kind: WatchedKind) -> ResourceType:
    return ResourceType(kind.group, kind.version, kind.plural, kind.kind, kind.namespaced)


HOW_TO_DUMP: Final = "podium dump-command prints the command that writes a whole cluster to a file"


def kinds_to_dump(watched: Iterable[WatchedKind] = ()) -> tuple[ResourceType, ...]:
    """All that scheduling and admission read, and what plugins have `watched` besides."""
    return tuple(dict.fromkeys((*READ, *ADMISSION, *map(resource_of, watched))))


def dump_command(target: str = "cluster.json", watched: Iterable[WatchedKind] = ()) -> str:
    """A line for any POSIX shell; `target` must need no quoting."""
    paths = " ".join(shlex.quote(resource.path()) for resource in kinds_to_dump(watched))
    return (
        f"for path in {paths};"
        ' do kubectl get --raw "$path" || echo "left out: $path" >&2;'
        f" done > {target}"
    )


class DumpedKind(DocumentPart, frozen=True):
    """A kind that a dump asks for."""

    api_version: str
    """The kind's group and version."""
    kind: str
    """The kind."""
    path: str
    """Where its list is."""


class DumpCommand(Document, frozen=True):
    """What `podium dump-command -o json` prints: how a cluster gets into a file."""

    KIND: ClassVar[str] = "DumpCommand"

    command: str
    """One line for a POSIX shell."""
    kinds: tuple[DumpedKind, ...]
    """What it asks for."""

    @classmethod
    def of(cls, watched: Iterable[WatchedKind]) -> "DumpCommand":
        """With the kinds that plugins have `watched`."""
        asked = tuple(watched)
        kinds = (
            DumpedKind(each.api_version, each.kind, each.path()) for each in kinds_to_dump(asked)
        )
        return cls(dump_command(watched=asked), tuple(kinds))
