"""Making the claims of pods that are not there yet (`podium.kubernetes.controllers.claims`)."""

from collections.abc import Callable, Sequence

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.actions import NOTHING, Action, Create, Plan, status_patch
from podium.kubernetes.controllers.claims import (
    POD_CLAIM,
    ResourceClaimTemplate,
    device_claim,
    volume_claim,
)
from podium.kubernetes.controllers.controller import Wake
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.resources.resource_types import (
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_CLAIMS,
)
from podium.kubernetes.rules.moment import Moment


def volume_claims(pod: Pod, known: Callable[[str], bool]) -> list[Action]:
    """Claims for ephemeral volumes that are not there yet."""
    actions: list[Action] = []
    for volume in pod.spec.volumes or ():
        template = volume.ephemeral and volume.ephemeral.volume_claim_template
        if template:
            claim = volume_claim(pod.metadata, volume.name, template)
            if not known(claim["metadata"]["name"]):
                actions.append(Create(PERSISTENT_VOLUME_CLAIMS, pod.namespace, claim))
    return actions


def device_claims(
    pod: Pod,
    owned: Sequence[ResourceClaim],
    template: Callable[[str], ResourceClaimTemplate | None],
) -> list[Action]:
    """Claims from templates that are not there yet, and those of which the pod is not told."""
    told = {each.name for each in pod.status.resource_claim_statuses or ()}
    by_entry = {claim.metadata.annotation(POD_CLAIM): claim for claim in owned}
    actions: list[Action] = []
    news: list[JsonObject] = []
    for entry in pod.spec.resource_claims or ():
        if entry.name in told or not entry.resource_claim_template_name:
            continue
        made = by_entry.get(entry.name)
        if made is not None:
            news.append({"name": entry.name, "resourceClaimName": made.name})
            continue
        found = template(entry.resource_claim_template_name)
        if found is not None:
            claim = device_claim(pod.metadata, entry.name, found.spec)
            actions.append(Create(RESOURCE_CLAIMS, pod.namespace, claim))
    if news:
        actions.append(status_patch(PODS, pod, {"resourceClaimStatuses": news}))
    return actions


class EphemeralVolumes:
    """Keys are the namespace and name of a pod."""

    name = "ephemeralvolumes"

    def __init__(self, stores: Stores) -> None:
        self._pods, self._claims = stores.pods, stores.claims

    def watch(self, wake: Wake) -> None:
        def pod_changed(_: Pod | None, new: Pod | None) -> None:
            if new is not None and any(volume.ephemeral for volume in new.spec.volumes or ()):
                wake(new.metadata.key)

        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        del moment
        pod = self._pods.find(key)
        if pod is None or not pod.is_active:
            return NOTHING
        return Plan(volume_claims(pod, lambda name: bool(self._claims.get(key[0], name))))
