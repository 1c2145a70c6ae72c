"""Whether somebody else already does what controllers would do here.

Two controllers of the same kind in one cluster undo each other's work. kube-controller-manager
holds a lease in kube-system; while that is renewed, Podium's controllers have no place there.
"""

import time
from collections.abc import Callable, Collection
from typing import Final, NamedTuple

import msgspec

from podium.client import KubeClient
from podium.client.api_errors import NotFound
from podium.client.resources import LEASES
from podium.kubernetes.controllers.nodes import Lease
from podium.kubernetes.rules.timestamps import seconds_of

_NAMESPACE: Final = "kube-system"
_NAME: Final = "kube-controller-manager"
_FRESH_S: Final = 60.0


class Rival(NamedTuple):
    name: str
    age_s: float


async def rival_of(
    client: KubeClient, controllers: Collection[str], wall: Callable[[], float] = time.time
) -> Rival | None:
    """Who is at work already, if any of these controllers is to run. Raises ApiError."""
    if not controllers:
        return None
    try:
        lease = msgspec.json.decode(await client.get(LEASES, _NAME, _NAMESPACE), type=Lease)
    except NotFound:
        return None
    if not lease.spec.holder_identity or not lease.spec.renew_time:
        return None
    age_s = wall() - seconds_of(lease.spec.renew_time)
    return Rival(_NAME, max(0.0, age_s)) if age_s < _FRESH_S else None
