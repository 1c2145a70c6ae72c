"""Device claims: made for pods from templates, and taken back when the pods are through.

A pod that has ended or is gone does not need what was reserved for it. A claim that nobody
reserves any more loses its allocation; one that was made for a pod is deleted with it
(`pkg/controller/resourceclaim/controller.go`).

Claims of pods that are not there yet, of devices and of ephemeral volumes, are made here as well
(`podium.kubernetes.controllers.pod_templates`).
"""

from collections.abc import Callable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    status_patch,
    without_finalizer,
)
from podium.kubernetes.controllers.pod_templates import (
    POD_CLAIM,
    ResourceClaimTemplate,
    device_claim,
    volume_claim,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimConsumerReference
from podium.kubernetes.resources.resource_types import (
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_CLAIMS,
)
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.timestamps import Moment

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
_UNALLOCATED: Final[JsonObject] = {"allocation": None, "devices": None}
_CLAIM: Final = "claim"
_POD: Final = "pod"


def decide(claim: ResourceClaim, pod_of: Callable[[str], Pod | None]) -> Plan:
    """The next step; each changes the claim, which brings it here again.

    `pod_of` finds pods of the claim's namespace by name.
    """
    status = claim.status
    reserved = status.reserved_for or ()
    kept = [each for each in reserved if _still_needs(each, pod_of)]
    if len(kept) < len(reserved):
        changed: JsonObject = {"reservedFor": [_write_consumer(each) for each in kept] or None}
        return _change_status(claim, changed if kept else {**changed, **_UNALLOCATED})
    if kept:
        return NOTHING
    owner = claim.metadata.controller
    orphaned = False
    if owner is not None and owner.kind == "Pod":
        orphaned = _is_through(owner.uid, owner.name, pod_of)
    if status.allocation is not None:
        unused = orphaned or claim.metadata.is_terminating
        return _change_status(claim, _UNALLOCATED) if unused else NOTHING
    if FINALIZER in (claim.metadata.finalizers or ()):
        return Plan([without_finalizer(RESOURCE_CLAIMS, claim, FINALIZER)])
    if orphaned and not claim.metadata.is_terminating:
        return Plan([delete(RESOURCE_CLAIMS, claim)])
    return NOTHING


def _change_status(claim: ResourceClaim, status: JsonObject) -> Plan:
    return Plan([status_patch(RESOURCE_CLAIMS, claim, status, PatchType.MERGE)])


def _still_needs(
    consumer: ResourceClaimConsumerReference, pod_of: Callable[[str], Pod | None]
) -> bool:
    if consumer.resource != "pods" or consumer.api_group:
        return True
    return not _is_through(consumer.uid, consumer.name, pod_of)


def _is_through(uid: str, name: str, pod_of: Callable[[str], Pod | None]) -> bool:
    pod = pod_of(name)
    return pod is None or pod.metadata.uid != uid or pod.is_ended


def _write_consumer(consumer: ResourceClaimConsumerReference) -> JsonObject:
    fields = {"resource": consumer.resource, "name": consumer.name, "uid": consumer.uid}
    return {**fields, **({"apiGroup": consumer.api_group} if consumer.api_group else {})}


class ResourceClaims:
    """Keys are (`pod`, namespace, name) and (`claim`, namespace, name)."""

    name = "resourceclaims"

    def __init__(self, stores: Stores) -> None:
        self._pods, self._claims = stores.pods, stores.resource_claims
        self._templates = stores.claim_templates
        self._reserved = self._claims.indexer.add_index(
            "reserved", lambda claim: tuple(each.uid for each in claim.status.reserved_for or ())
        )
        self._waiting = self._pods.indexer.add_index("claim templates", _templates_of)

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            pod = new or old
            if pod is None or not pod.spec.resource_claims:
                return
            if new is not None and new.is_active:
                wake((_POD, *new.metadata.key))
                return
            uid = pod.metadata.uid
            for claim in (*self._reserved.of(uid), *self._claims.owned_by.of(uid)):
                wake((_CLAIM, *claim.metadata.key))

        def claim_changed(_: ResourceClaim | None, new: ResourceClaim | None) -> None:
            if new is not None:
                wake((_CLAIM, *new.metadata.key))

        def template_changed(
            _: ResourceClaimTemplate | None, new: ResourceClaimTemplate | None
        ) -> None:
            if new is not None:
                for pod in self._waiting.of(new.metadata.key):
                    wake((_POD, *pod.metadata.key))

        self._pods.listen(pod_changed)
        self._claims.listen(claim_changed)
        self._templates.listen(template_changed)

    def plan(self, key: tuple[str, str, str], moment: Moment) -> Plan:
        del moment
        kind, namespace, name = key
        if kind == _CLAIM:
            claim = self._claims.get(namespace, name)
            if claim is None:
                return NOTHING
            return decide(claim, lambda pod: self._pods.get(namespace, pod))
        pod = self._pods.get(namespace, name)
        if pod is None or not pod.is_active:
            return NOTHING
        owned = self._claims.owned_by.of(pod.metadata.uid)
        actions = device_claims(pod, owned, lambda each: self._templates.get(namespace, each))
        # A claim that was just made is told to its pod the next time.
        return Plan(actions, 0.0 if actions else None)


def _templates_of(pod: Pod) -> list[tuple[str, str]]:
    return [
        (pod.namespace, entry.resource_claim_template_name)
        for entry in pod.spec.resource_claims or ()
        if entry.resource_claim_template_name
    ]


def volume_claims(pod: Pod, known: Callable[[str], bool]) -> list[Action]:
    """Claims for ephemeral volumes that are not there yet."""
    actions: list[Action] = []
    for volume in pod.spec.volumes or ():
        template = volume.ephemeral and volume.ephemeral.volume_claim_template
        if template:
            claim = volume_claim(pod.metadata, volume.name, template)
            if not known(claim["metadata"]["name"]):
                actions.append(CreateAction(PERSISTENT_VOLUME_CLAIMS, pod.namespace, claim))
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
            actions.append(CreateAction(RESOURCE_CLAIMS, pod.namespace, claim))
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
