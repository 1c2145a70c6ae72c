"""The requests of leader election: one Lease read, created, updated, and an event about it.

Contract: every request, with all its repetitions and its wait for a token, ends within the time
limit, which is told to the server as well (`?timeout=5s`). It ends with the lease as the server has
it now, or raises one of `FAILURES`.
"""

import asyncio
from typing import Final

import msgspec

from podium.client import KubeClient, RequestFailed, Unreachable
from podium.client.resources import EVENTS, LEASES
from podium.golang.durations import Duration
from podium.golang.errors import InputError
from podium.kubernetes.kinds.storage import ObjectReference
from podium.kubernetes.rules.timestamps import time_text
from podium.live.event_objects import CoreEventBody, EventMeta, EventSource
from podium.live.lease import LeaderElectionRecord, Lease, new_lease, read_lease
from podium.scheduler.config.types import LeaderElectionConfiguration

FAILURES: Final = (RequestFailed, InputError)

_SHORTEST: Final = Duration.of_seconds(1)


class LeaseLock:
    """One lease, by namespace and name."""

    def __init__(self, client: KubeClient, settings: LeaderElectionConfiguration) -> None:
        self.namespace = settings.resource_namespace
        self.name = settings.resource_name
        self.time_limit = max(_SHORTEST, Duration(settings.renew_deadline.nanoseconds // 2))
        self._client = client

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    async def read(self) -> Lease:
        return read_lease(await self._request("GET", LEASES.path(self.namespace, self.name)))

    async def create(self, record: LeaderElectionRecord) -> Lease:
        body = new_lease(self.namespace, self.name, record)
        return read_lease(await self._request("POST", LEASES.path(self.namespace), body))

    async def update(self, lease: Lease, record: LeaderElectionRecord) -> Lease:
        path = LEASES.path(self.namespace, self.name)
        return read_lease(await self._request("PUT", path, lease.rewritten(record)))

    async def announce(self, lease: Lease, message: str, component: str, wall_s: float) -> None:
        """An event about the lease; of the core group, whatever group other events are in."""
        body = msgspec.json.encode(_event(lease, message, component, wall_s))
        await self._request("POST", EVENTS.path(self.namespace), body)

    async def _request(self, method: str, path: str, body: bytes = b"") -> bytes:
        query = (("timeout", str(self.time_limit)),)
        try:
            async with asyncio.timeout(self.time_limit.seconds):
                return await self._client.request(method, path, query, body)
        except TimeoutError:
            raise Unreachable(
                f"no answer to {method} {path} within {self.time_limit}", in_time=False
            ) from None


def _event(lease: Lease, message: str, component: str, wall_s: float) -> CoreEventBody:
    return CoreEventBody(
        metadata=EventMeta(f"{lease.name}.{int(wall_s * 1e9):x}", lease.namespace),
        involved_object=ObjectReference(
            api_version=LEASES.api_version,
            kind=LEASES.kind,
            namespace=lease.namespace,
            name=lease.name,
            uid=lease.uid,
            resource_version=lease.resource_version,
        ),
        reason="LeaderElection",
        message=message,
        source=EventSource(component),
        first_timestamp=time_text(wall_s),
        last_timestamp=time_text(wall_s),
        count=1,
        type="Normal",
        api_version=EVENTS.api_version,
        kind=EVENTS.kind,
        reporting_component=component,
    )
