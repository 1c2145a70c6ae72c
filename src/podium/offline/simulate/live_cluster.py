"""A cluster that runs, as a simulation starts from it: what is read of it, and what it means if
something of that cannot be read.

Nodes and pods there must be; whoever may not read another kind still gets an answer, with a word on
what was not read, and that word comes first if the answer depends on it (`completeness.py`).

The cluster is read once and without a word on any screen.

Objects that hold the same things hold them together. A cluster has a few hundred templates and tens
of thousands of pods: containers, tolerations, constraints, labels and owners are the same over and
over, and so are the images of nodes. As they are decoded each object has its own; here equal parts
become one. For 50,000 pods of 500 templates that is 30 MB instead of 210. Names of volumes and of
nodes differ from pod to pod and stay.

Contract: objects are equal to what they were. They are changed in place and must be new: nobody
has hashed or kept a part of them yet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import force_setattr

from podium import __version__
from podium.client import KubeClient, ResourceType, Selection, Unreachable, resources
from podium.client.api_errors import ApiError, Unauthorized
from podium.client.connection import find_ended_process, transport_for
from podium.client.snapshot import Listing, OnProgress, Snapshot, Unread, read_snapshot
from podium.golang.errors import InputError, ObjectError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KINDS, KubeObject
from podium.kubernetes.kinds.workloads import ADMISSION_KINDS
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
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.kubeconfig import ClusterEntry
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


_UNTRUSTED: Final = "CERTIFICATE_VERIFY_FAILED"


async def fetch_snapshot(
    settings: ClientSettings,
    listings: Sequence[Listing],
    on_progress: OnProgress = lambda _: None,
) -> Snapshot:
    """Some collections at one revision; nothing is written."""
    transport = transport_for(settings, user_agent=f"podium/{__version__}")
    try:
        return await read_snapshot(KubeClient(transport), listings, on_progress=on_progress)
    finally:
        await transport.close()


@contextmanager
def refusals_told(cluster: ClusterEntry) -> Iterator[None]:
    """What keeps a server from answering, as errors that a user can do something about."""
    server = cluster.server
    try:
        yield
    except Unauthorized as problem:
        raise InputError(
            f"does not accept the credentials: {problem}",
            source=server,
            remedy="the user of the kubeconfig's context says who asks",
        ) from None
    except ApiError as problem:
        raise InputError(f"says no: {problem}", source=server) from None
    except ObjectError as problem:
        raise InputError(f"is no API server: its answer {problem}", source=server) from None
    except Unreachable as problem:
        cause = str(problem).removeprefix(f"{server}: ")
        if _UNTRUSTED in cause:
            raise InputError(
                f"its certificate is not trusted: {cause}",
                source=server,
                remedy="certificate-authority names who has signed it",
            ) from None
        if problem.refused:
            if (ended := find_ended_process(cluster)) is not None:
                raise ended from None
            cause = "connection refused"
        raise InputError(f"does not answer: {cause}", source=server) from None


_SPEC: Final = (
    "containers",
    "init_containers",
    "tolerations",
    "topology_spread_constraints",
    "affinity",
    "node_selector",
)
_METADATA: Final = ("labels", "annotations", "owner_references")
_NODE_STATUS: Final = ("images",)


class SharedParts:
    """Parts by what they say, for the objects of one snapshot."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Any, ...]] = {}
        self._encode = msgspec.json.Encoder().encode

    def share(self, objects: Iterable[KubeObject]) -> None:
        """Give objects the parts that others have already."""
        for obj in objects:
            if isinstance(obj, Pod):
                self._share(obj.spec, _SPEC)
            elif isinstance(obj, Node):
                self._share(obj.status, _NODE_STATUS)
            self._share(obj.metadata, _METADATA)

    def _share(self, struct: msgspec.Struct, fields: tuple[str, ...]) -> None:
        parts = tuple([getattr(struct, name) for name in fields])
        said = self._encode((fields[0], parts))
        known = self._known.setdefault(said, parts)
        if known is not parts:
            for name, part in zip(fields, known, strict=True):
                force_setattr(struct, name, part)
