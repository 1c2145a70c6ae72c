"""Who holds the devices that a pod waits for."""

from collections.abc import Iterator

from podium.explain.proposals.situation import Situation
from podium.kubernetes.kinds.devices import ResourceClaim

MAX_CLAIMS = 8


def holders_of_devices(situation: Situation) -> Iterator[tuple[str, ...]]:
    """UIDs of the pods that use an allocated claim, claim by claim. The pod's own claims come
    first: one that is held elsewhere may be given up and allocated again."""
    own = _own_claims(situation)
    held = [
        claim
        for claim in situation.catalog.all(ResourceClaim)
        if claim.status.allocation is not None and claim.status.reserved_for
    ]
    held.sort(key=lambda claim: ((claim.namespace, claim.name) not in own, claim.name))
    for claim in held[:MAX_CLAIMS]:
        yield tuple(user.uid for user in claim.status.reserved_for or ())


def _own_claims(situation: Situation) -> set[tuple[str, str]]:
    pod = situation.pod
    statuses = pod.status.resource_claim_statuses or ()
    names = {entry.resource_claim_name for entry in pod.spec.resource_claims or ()}
    names |= {status.resource_claim_name for status in statuses}
    return {(pod.metadata.namespace, name) for name in names if name is not None}
