"""A cluster that runs, as a simulation starts from it: what is read of it, and what it means if
something of that cannot be read.

Nodes and pods there must be; whoever may not read another kind still gets an answer, with a word on
what was not read, and that word comes first if the answer depends on it (`completeness.py`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from podium.client import ResourceType, Selection, resources
from podium.client.snapshot import Listing, Snapshot, Unread
from podium.kubernetes.kinds.admission_kinds import ADMISSION_KINDS
from podium.kubernetes.kinds.typed_objects import KINDS, KubeObject
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.read_kinds import (
    ADMISSION,
    DEVICES,
    GROUPS,
    READ,
    REQUIRED,
    TAINT_RULES,
    UNFINISHED_PODS,
    resource_of,
)
from podium.offline.simulate.shared_parts import SharedParts
from podium.scheduler.framework.events import WatchedKind

_MAX_PROBLEMS: Final = 3


def listings_for(
    gates: FeatureGates, watched: Iterable[WatchedKind] = (), *, with_files: bool
) -> list[Listing]:
    """What to read of a cluster, the longest lists first; `watched` are kinds that plugins read
    beside the rest. Files `with` it may bring pods, about which admission decides."""
    closed: set[ResourceType] = set()
    closed.update(() if gates["DynamicResourceAllocation"] else DEVICES)
    closed.update(() if gates["GenericWorkload"] else GROUPS)
    closed.update(() if gates["DRADeviceTaintRules"] else TAINT_RULES)
    parts = SharedParts()
    return [
        Listing(
            resource,
            KINDS[resource.api_version, resource.kind],
            Selection(fields=UNFINISHED_PODS if resource is resources.PODS else ""),
            parts.share,
        )
        for resource in READ
        if resource not in closed
    ] + [
        *(
            Listing(resource, ADMISSION_KINDS[resource.api_version, resource.kind])
            for resource in (ADMISSION if with_files else ())
        ),
        *(Listing(resource_of(kind), kind.struct) for kind in watched),
    ]


@dataclass(frozen=True, slots=True)
class LiveCluster:
    """What was read, where, and what was not."""

    server: str
    objects: tuple[KubeObject, ...]
    unread: Mapping[ResourceType, Unread] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, server: str, snapshot: Snapshot, watched: Iterable[WatchedKind] = ()
    ) -> "LiveCluster":
        for kind in watched:
            if kind.optional and snapshot.unread.get(resource_of(kind)) is Unread.NOT_SERVED:
                del snapshot.unread[resource_of(kind)]
        pods = snapshot.objects.pop(resources.PODS, [])
        objects = [obj for listed in snapshot.objects.values() for obj in listed]
        # Pods wait in the order in which they came, which is not that of their names.
        objects += sorted(pods, key=lambda pod: pod.metadata.creation_timestamp or "")
        return cls(server, tuple(objects), snapshot.unread, tuple(_notes(server, snapshot)))

    @property
    def missing(self) -> str:
        """Why there can be no answer at all, "" if there can."""
        for resource in REQUIRED:
            if resource in self.unread:
                return f"cannot read {resource.plural}: {self.unread[resource]}"
        return ""

    @property
    def unread_kinds(self) -> dict[str, str]:
        """Kind -> why there is nothing of it."""
        return {resource.kind: _tell_unread(resource, why) for resource, why in self.unread.items()}


def _notes(server: str, snapshot: Snapshot) -> Iterable[str]:
    yield f"read from {server} at revision {snapshot.revision}"
    if snapshot.later:
        kinds = ", ".join(resource.plural for resource in snapshot.later)
        yield f"read a little later, since that revision was gone: {kinds}"
    for resource, why in snapshot.unread.items():
        if why is Unread.FORBIDDEN:
            yield _tell_unread(resource, why)
    unserved = [r.plural for r, why in snapshot.unread.items() if why is Unread.NOT_SERVED]
    if unserved:
        yield f"not served by this cluster: {', '.join(unserved)}"
    if snapshot.problems:
        shown = "; ".join(snapshot.problems[:_MAX_PROBLEMS])
        left = len(snapshot.problems) - _MAX_PROBLEMS
        more = f"; {left} more" if left > 0 else ""
        yield f"left out because they cannot be read: {shown}{more}"


def _tell_unread(resource: ResourceType, why: Unread) -> str:
    return f"cannot read {resource.plural}: {why}"
