"""The claims of a pod, found by name, template or annotation.

The texts of what can be wrong with them are shown to users and decide nothing else, so each is an
exception with that text.

Source: `Name` and `IsForPod` in
`staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go`.
"""

from collections.abc import Callable, Iterator

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimConsumerReference
from podium.kubernetes.kinds.pod import Pod, PodResourceClaim
from podium.kubernetes.kinds.pod_groups import PodGroup

FindClaim = Callable[[str, str], ResourceClaim | None]
"""(namespace, name) -> the latest state of a claim."""

SCHEDULING_GROUP = "scheduling.k8s.io"
POD_GROUPS = "podgroups"
EXTENDED_RESOURCE_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


_NEITHER_OWNS = "neither Pod nor PodGroup {} is the owner"


class ClaimProblem(Exception):
    """The pod cannot have its claims; the text says why."""


def claims_of(pod: Pod, find: FindClaim, *, of_groups: bool = False) -> list[ResourceClaim]:
    """The claims a pod refers to, in the order it lists them; raises ClaimProblem.

    With `of_groups`, a claim may have been made for the pod's group.
    """
    return [claim for _, claim in named_claims(pod, find, of_groups=of_groups)]


def named_claims(
    pod: Pod, find: FindClaim, *, of_groups: bool
) -> list[tuple[PodResourceClaim, ResourceClaim]]:
    """The same, each with what the pod says of it."""
    claims: list[tuple[PodResourceClaim, ResourceClaim]] = []
    for reference, name, owned in claim_names(pod):
        claim = find(pod.metadata.namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimProblem(f'resourceclaim "{name}" is being deleted')
        if owned and not is_made_for(claim, pod, of_groups=of_groups):
            raise ClaimProblem(_not_made_for(claim, pod, group_name(pod) if of_groups else None))
        claims.append((reference, claim))
    return claims


def _not_made_for(claim: ResourceClaim, pod: Pod, group: str | None) -> str:
    owners = "Pod is not owner" if group is None else _NEITHER_OWNS.format(group)
    return f"ResourceClaim {claim_key(claim)} was not created for Pod {pod_key(pod)} ({owners})"


def is_made_for(claim: ResourceClaim, pod: Pod, *, of_groups: bool) -> bool:
    """Whether a claim belongs to the pod or, if groups may have claims, to its group."""
    group = group_name(pod) if of_groups else None
    return is_controlled_by(claim, pod) or (group is not None and _is_made_for_group(claim, group))


def _is_made_for_group(claim: ResourceClaim, group: str) -> bool:
    return any(
        owner.controller
        and owner.kind == "PodGroup"
        and owner.name == group
        and owner.api_version.startswith(f"{SCHEDULING_GROUP}/")
        for owner in claim.metadata.owner_references or ()
    )


def group_name(pod: Pod) -> str | None:
    group = pod.spec.scheduling_group
    return group.pod_group_name if group is not None else None


def user_of(
    reference: PodResourceClaim, group: PodGroup | None
) -> ResourceClaimConsumerReference | None:
    """The group, if it lists the claim just as the pod does; None if the claim is the pod's own."""
    listed = group.spec.resource_claims or () if group is not None else ()
    for other in listed:
        if group is not None and (
            other.name,
            other.resource_claim_name,
            other.resource_claim_template_name,
        ) == (
            reference.name,
            reference.resource_claim_name,
            reference.resource_claim_template_name,
        ):
            return ResourceClaimConsumerReference(
                api_group=SCHEDULING_GROUP,
                resource=POD_GROUPS,
                name=group.metadata.name,
                uid=group.metadata.uid,
            )
    return None


def claims_of_group(group: PodGroup, find: FindClaim) -> Iterator[ResourceClaim]:
    """The claims that a group lists and that are there; raises ClaimProblem."""
    namespace = group.metadata.namespace
    for reference in group.spec.resource_claims or ():
        name, owned = reference.resource_claim_name, False
        if name is None:
            made = group.status.resource_claim_statuses or ()
            status = next((each for each in made if each.name == reference.name), None)
            if status is None:
                raise ClaimProblem(f"PodGroup {group.key}: ResourceClaim not created yet")
            name, owned = status.resource_claim_name, True
        if name is None:
            continue
        claim = find(namespace, name)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{namespace}/{name}"')
        if not owned or _is_made_for_group(claim, group.metadata.name):
            yield claim


def claim_names(pod: Pod) -> Iterator[tuple[PodResourceClaim, str, bool]]:
    """(what the pod says, name of a claim, must it belong to the pod); raises ClaimProblem."""
    for reference in pod.spec.resource_claims or ():
        if reference.resource_claim_name is not None:
            yield reference, reference.resource_claim_name, False
            continue
        if reference.resource_claim_template_name is None:
            raise ClaimProblem(
                f'pod "{pod_key(pod)}", spec.resourceClaim "{reference.name}": none of the'
                " supported fields are set"
            )
        generated = _generated_name(pod, reference)
        if generated is not None:
            yield reference, generated, True


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


def is_reserved_for(claim: ResourceClaim, pod: Pod, *, of_groups: bool = False) -> bool:
    """Whether the pod may use the claim, be it as a member of a group."""
    group = group_name(pod) if of_groups else None
    return any(
        user.uid == pod.metadata.uid
        or (
            group is not None
            and (user.api_group, user.resource, user.name) == (SCHEDULING_GROUP, POD_GROUPS, group)
        )
        for user in claim.status.reserved_for or ()
    )


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
