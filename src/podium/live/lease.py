"""A Lease as leader election reads and writes it.

Of a lease's fields an elector owns five; everything else that it carries (labels, owners, a
strategy, fields of later releases) belongs to others. So a lease is read twice: into a record for
deciding, and into pieces that are kept as they came and go back with the next update.

Contract: `rewritten` changes the five fields of the record and nothing else. Times stay the texts
that they are: a record is compared with other records, never with a clock.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from podium.client.resources import LEASES
from podium.golang.errors import InputError


class LeaderElectionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who leads, and for how long others have to respect that."""

    holder: str = ""
    """Empty if nobody leads: whoever wants may."""
    duration_s: int = 0
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def record(self) -> LeaderElectionRecord:
        return LeaderElectionRecord(
            holder=self.holder_identity or "",
            duration_s=self.lease_duration_seconds or 0,
            acquired=self.acquire_time or "",
            renewed=self.renew_time or "",
            transitions=self.lease_transitions or 0,
        )


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Seen(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec | None = None


class _Pieces(msgspec.Struct):
    spec: dict[str, msgspec.Raw] | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease as the server had it at `resource_version`."""

    record: LeaderElectionRecord
    name: str
    namespace: str
    uid: str
    resource_version: str
    _document: Mapping[str, msgspec.Raw]
    _spec: Mapping[str, msgspec.Raw]

    def rewritten(self, record: LeaderElectionRecord) -> bytes:
        """The same lease with another record; refused by the server if it has changed since."""
        return msgspec.json.encode({**self._document, "spec": {**self._spec, **_fields(record)}})


def read_lease(body: bytes) -> Lease:
    """Raises InputError."""
    try:
        seen = msgspec.json.decode(body, type=_Seen)
        document = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        spec = msgspec.json.decode(body, type=_Pieces).spec or {}
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise InputError(f"the answer is no Lease: {problem}") from None
    return Lease(
        record=seen.spec.record if seen.spec is not None else LeaderElectionRecord(),
        name=seen.metadata.name,
        namespace=seen.metadata.namespace,
        uid=seen.metadata.uid,
        resource_version=seen.metadata.resource_version,
        _document=document,
        _spec=spec,
    )


def new_lease(namespace: str, name: str, record: LeaderElectionRecord) -> bytes:
    return msgspec.json.encode(
        {
            "kind": LEASES.kind,
            "apiVersion": LEASES.api_version,
            "metadata": {"name": name, "namespace": namespace},
            "spec": _fields(record),
        }
    )


def _fields(record: LeaderElectionRecord) -> dict[str, str | int]:
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration_s,
        "acquireTime": record.acquired,
        "renewTime": record.renewed,
        "leaseTransitions": record.transitions,
    }
