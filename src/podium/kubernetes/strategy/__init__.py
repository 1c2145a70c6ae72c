"""What the server itself writes into an object before it is validated and stored.

    prepare_create(resource, obj, now) -> None
    prepare_update(resource, new, old, now) -> None
    prepare_status_update(resource, new, old, now) -> None
    prepare_subresource_update(resource, subresource, new, old, now) -> None
        for `resize` and `ephemeralcontainers` of pods, `finalize` of namespaces
    ServiceAddresses                           cluster IPs and node ports of services

`now` is the time of the request as it is written into objects (`2026-01-01T00:00:00Z`). Everything
is done in place on `obj` or `new`; `old` is the stored object and is never changed.

Contract: names, namespace, uid and creationTimestamp are already there (a Job's labels are made
from its uid), admission has run. `prepare_create` drops a status that clients may not set and sets
`metadata.generation`; `prepare_update` keeps the stored status and counts the generation up when
the part that it counts has changed; `prepare_status_update` keeps everything but the status.
"""

from podium.kubernetes.strategy.preparation import (
    prepare_create,
    prepare_status_update,
    prepare_subresource_update,
    prepare_update,
)
from podium.kubernetes.strategy.services import (
    SERVER_ADDRESS,
    SERVICE_RANGE,
    ServiceAddresses,
)

__all__ = [
    "SERVER_ADDRESS",
    "SERVICE_RANGE",
    "ServiceAddresses",
    "prepare_create",
    "prepare_status_update",
    "prepare_subresource_update",
    "prepare_update",
]
