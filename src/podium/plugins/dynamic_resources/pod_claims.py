"""The claims of a pod, found by name, template or annotation.

The texts of what can be wrong with them are shown to users and decide nothing else, so each is an
exception with that text (spec 7.3).
"""

from collections.abc import Callable, Iterator

from podium.api.devices import ResourceClaim
from podium.api.pod import Pod, PodResourceClaim

FindClaim = Callable[[str, str], ResourceClaim | None]
"""(namespace, name) -> the latest state of a claim."""

EXTENDED_RESOURCE_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


class ClaimProblem(Exception):
    """The pod cannot have its claims; the text says why."""


def claims_of(pod: Pod, find: FindClaim) -> list[ResourceClaim]:
    """The claims a pod refers to, in the order it lists them; raises ClaimProblem."""
    claims: list[ResourceClaim] = []
    for name, owned in claim_names(pod):
        claim = find(pod.metadata.namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
        if owned and not is_controlled_by(claim, pod):
            raise ClaimProblem(
                f"ResourceClaim {claim_key(claim)} was not created for Pod {pod_key(pod)}"
                " (Pod is not owner)"
            )
        claims.append(claim)
    return claims


def claim_names(pod: Pod) -> Iterator[tuple[str, bool]]:
    """(name of a claim, must it belong to the pod); raises ClaimProblem."""
    for reference in pod.spec.resource_claims or ():
        if reference.resource_claim_name is not None:
            yield reference.resource_claim_name, False
            continue
        if reference.resource_claim_template_name is None:
            raise ClaimProblem(
                f'pod "{pod_key(pod)}", spec.resourceClaim "{reference.name}": none of the'
                " supported fields are set"
            )
        generated = _generated_name(pod, reference)
        if generated is not None:
            yield generated, True


def _generated_name(pod: Pod, reference: PodResourceClaim) -> str | None:
    """The claim made from a template; None if the pod turned out not to need one."""
    for status in pod.status.resource_claim_statuses or ():
        if status.name == reference.name:
            return status.resource_claim_name
    raise ClaimProblem(f'pod "{pod_key(pod)}": ResourceClaim not created yet')


def is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    return any(
        owner.controller and owner.uid == pod.metadata.uid
        for owner in claim.metadata.owner_references or ()
    )


def is_reserved_for(claim: ResourceClaim, pod: Pod) -> bool:
    return any(user.uid == pod.metadata.uid for user in claim.status.reserved_for or ())


def is_idle_for(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether nobody but perhaps this pod uses the claim."""
    users = claim.status.reserved_for or ()
    return not users or (len(users) == 1 and users[0].uid == pod.metadata.uid)


def is_extended_resource_claim_of(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether the claim was made for the pod's extended resources."""
    if (claim.metadata.annotations or {}).get(EXTENDED_RESOURCE_ANNOTATION) != "true":
        return False
    return any(
        owner.controller and owner.name == pod.metadata.name and owner.uid == pod.metadata.uid
        for owner in claim.metadata.owner_references or ()
    )


def claim_key(claim: ResourceClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"


def pod_key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"
