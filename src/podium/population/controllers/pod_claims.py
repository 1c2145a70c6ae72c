"""Claims that are made for a pod and go with it: of volumes, and of devices.

A generic ephemeral volume becomes a PersistentVolumeClaim named after pod and volume. A claim
template becomes a ResourceClaim whose name is written into the pod's status; the scheduler waits
for both (`pkg/controller/volume/ephemeral`, `pkg/controller/resourceclaim`).
"""

from collections.abc import Callable, Sequence
from typing import Final

from podium.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_CLAIMS
from podium.population.actions import NOTHING, Action, Create, Plan, status_patch
from podium.population.clock import Moment
from podium.population.control import Wake
from podium.population.objects.meta import JsonObject, owner_reference
from podium.population.objects.pods import Pod, PodClaim
from podium.population.objects.storage import ResourceClaim, ResourceClaimTemplate
from podium.population.world import World

POD_CLAIM: Final = "resource.kubernetes.io/pod-claim-name"


def volume_claims(pod: Pod, known: Callable[[str], bool]) -> list[Action]:
    """Claims for ephemeral volumes that are not there yet."""
    actions: list[Action] = []
    for volume in pod.spec.volumes or ():
        template = volume.ephemeral and volume.ephemeral.volume_claim_template
        name = f"{pod.name}-{volume.name}"
        if not template or known(name):
            continue
        metadata = template.get("metadata") or {}
        body = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name,
                "labels": metadata.get("labels") or {},
                "annotations": metadata.get("annotations") or {},
                "ownerReferences": [owner_reference("v1", "Pod", pod.metadata)],
            },
            "spec": template.get("spec") or {},
        }
        actions.append(Create(PERSISTENT_VOLUME_CLAIMS, pod.namespace, body))
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
            actions.append(_device_claim(pod, entry, found))
    if news:
        actions.append(status_patch(PODS, pod, {"resourceClaimStatuses": news}))
    return actions


def _device_claim(pod: Pod, entry: PodClaim, template: ResourceClaimTemplate) -> Create:
    metadata = template.spec.metadata
    annotations = {**(metadata.get("annotations") or {}), POD_CLAIM: entry.name}
    body = {
        "apiVersion": RESOURCE_CLAIMS.api_version,
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": f"{pod.name}-{entry.name}-",
            "labels": metadata.get("labels") or {},
            "annotations": annotations,
            "ownerReferences": [owner_reference("v1", "Pod", pod.metadata)],
        },
        "spec": template.spec.spec,
    }
    return Create(RESOURCE_CLAIMS, pod.namespace, body)


class EphemeralVolumes:
    """Keys are the namespace and name of a pod."""

    name = "ephemeralvolumes"

    def __init__(self, world: World) -> None:
        self._pods, self._claims = world.pods, world.claims

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
