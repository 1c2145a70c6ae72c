"""Which events are worth another attempt for a pod that this plugin rejected.

Source: `EventsToRegister`, `isSchedulableAfterClaimChange` and `isSchedulableAfterPodChange` in
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.plugins.dynamic_resources.pod_claims import ClaimProblem, FindClaim, claims_of


class ClaimHints:
    def __init__(self, find: FindClaim, *, of_groups: bool = False) -> None:
        self._find = find
        self._of_groups = of_groups

    def registrations(self) -> Sequence[Registration]:
        node_changes = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
        return (
            Registration(Resource.NODE, node_changes),
            Registration(Resource.RESOURCE_CLAIM, Action.ADD | Action.UPDATE, self.on_claim),
            Registration(
                Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, self.on_generated_claim
            ),
            Registration(Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE),
            Registration(Resource.RESOURCE_SLICE, Action.ADD | Action.UPDATE),
        )

    def on_claim(self, pod: PodInfo, old: ResourceClaim | None, new: ResourceClaim | None) -> bool:
        """A claim appeared or changed."""
        if new is None:
            return True
        try:
            own = claims_of(pod.pod, self._find, of_groups=self._of_groups)
        except ClaimProblem:
            # upstream: a pod that still lacks a claim is not woken by devices becoming free
            return False
        if old is not None and old.status.allocation is not None and new.status.allocation is None:
            return True
        if all(claim.metadata.uid != new.metadata.uid for claim in own):
            return False
        return old is None or old.status != new.status

    def on_generated_claim(self, pod: PodInfo, old: Pod | None, new: Pod | None) -> bool:  # noqa: ARG002
        """A pod was told of a claim made from its template."""
        if new is None or new.metadata.uid != pod.pod.metadata.uid:
            return False
        try:
            claims_of(new, self._find, of_groups=self._of_groups)
        except ClaimProblem:
            return False
        return True
