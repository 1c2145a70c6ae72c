"""Devices: claims, templates and classes that are missing, and claims that ask for too much.

The devices of a claim cannot be changed in place, so other values for one mean a new claim in its
place; a claim that was made from a template is changed there.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.controllers.pod_templates import device_claim
from podium.kubernetes.kinds.devices import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
    ResourceSlice,
)
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Container, Pod, PodResourceClaim, PodResourceClaimStatus
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.dynamic_resources.plugin import DynamicResources

MAX_CLAIMS = 8
"""Allocated claims that are looked at for holders."""


def propose_other_devices(situation: Situation) -> Iterator[ProposedChange]:
    pod = situation.pod
    if situation.refusal is None and not situation.nodes_near(DynamicResources.name):
        return
    statuses = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses or ()}
    for entry in pod.spec.resource_claims or ():
        name = entry.resource_claim_name or statuses.get(entry.name)
        claim = situation.catalog.get(ResourceClaim, name or "", pod.metadata.namespace)
        if name is None:
            yield from _propose_template(situation, entry)
        elif claim is None:
            yield from _propose_for_missing(situation, entry, name)
        elif claim.metadata.deletion_timestamp is not None:
            yield from _propose_other_claim(situation, entry, claim)
        elif claim.status.allocation is None:
            yield from _propose_classes(situation, claim)
            yield from _propose_less(situation, claim)


# --- what is missing --------------------------------------------------------------------------


def _propose_for_missing(
    situation: Situation, entry: PodResourceClaim, name: str
) -> Iterator[ProposedChange]:
    pod = situation.pod
    namespace = pod.metadata.namespace
    known = [c.name for c in situation.catalog.all(ResourceClaim) if c.namespace == namespace]
    alike = closest(name, known)
    if alike:
        yield situation.change_pod(
            "correct-name",
            f"use ResourceClaim {alike} in place of {name}, which does not exist",
            disturbance.CORRECT_NAME,
            _with_claim(pod, entry.name, alike),
        )
    for class_name in _classes(situation, name)[:MAX_STEPS_OF_A_KIND]:
        yield ProposedChange(
            "create-object",
            f"create ResourceClaim {namespace}/{name} for a device of DeviceClass {class_name}",
            disturbance.CREATE_OBJECT,
            objects=(_new_claim(namespace, name, class_name),),
        )
    yield _drop_claim(situation, entry, f"ResourceClaim {name}")


def _drop_claim(situation: Situation, entry: PodResourceClaim, what: str) -> ProposedChange:
    """The pod without a claim, and without what its containers say of it."""
    spec = situation.pod.spec
    kept = tuple(each for each in spec.resource_claims or () if each.name != entry.name)

    def without(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        return containers and tuple(_without_claim(each, entry.name) for each in containers)

    changed = replace(
        spec,
        resource_claims=kept or None,
        containers=without(spec.containers),
        init_containers=without(spec.init_containers),
    )
    return situation.change_pod(
        "drop-resource-claim",
        f"drop {what}, which does not exist, from the pod",
        disturbance.DROP_REQUIREMENT,
        replace(situation.pod, spec=changed),
    )


def _without_claim(container: Container, name: str) -> Container:
    resources = container.resources
    if resources is None or not resources.claims:
        return container
    kept = tuple(claim for claim in resources.claims if claim.name != name)
    return replace(container, resources=replace(resources, claims=kept or None))


def _propose_other_claim(
    situation: Situation, entry: PodResourceClaim, claim: ResourceClaim
) -> Iterator[ProposedChange]:
    name = f"{claim.name}-new"
    made = ResourceClaim(metadata=_metadata(claim.namespace, name), spec=claim.spec)
    yield ProposedChange(
        "replace-claim",
        f"create ResourceClaim {claim.namespace}/{name} and use it in place of {claim.name}, which"
        " is being deleted",
        disturbance.REPLACE_OBJECT,
        pod=_with_claim(situation.pod, entry.name, name),
        objects=(made,),
    )


def _propose_template(situation: Situation, entry: PodResourceClaim) -> Iterator[ProposedChange]:
    """A claim is made from its template as soon as there is one."""
    pod, name = situation.pod, entry.resource_claim_template_name
    namespace = pod.metadata.namespace
    if name is None:
        return
    templates = {
        t.name: t for t in situation.catalog.all(ResourceClaimTemplate) if t.namespace == namespace
    }
    alike = closest(name, list(templates))
    if alike and name not in templates:
        made, changed = _claim_of(_with_template(pod, entry.name, alike), entry, templates[alike])
        yield ProposedChange(
            "correct-name",
            f"use ResourceClaimTemplate {alike} in place of {name}, which does not exist",
            disturbance.CORRECT_NAME,
            pod=changed,
            objects=(made,),
        )
    for class_name in _classes(situation, name)[:MAX_STEPS_OF_A_KIND]:
        claim = _new_claim(namespace, name, class_name)
        spec = ResourceClaimTemplateSpec(spec=claim.spec)
        template = ResourceClaimTemplate(metadata=_metadata(namespace, name), spec=spec)
        made, changed = _claim_of(pod, entry, template)
        yield ProposedChange(
            "create-object",
            f"create ResourceClaimTemplate {namespace}/{name} for a device of DeviceClass"
            f" {class_name}",
            disturbance.CREATE_OBJECT,
            pod=changed,
            objects=(template, made),
        )


def _claim_of(
    pod: Pod, entry: PodResourceClaim, template: ResourceClaimTemplate
) -> tuple[ResourceClaim, Pod]:
    """What the claim controller makes of a template, and the pod that knows of it."""
    body = device_claim(pod.metadata, entry.name, msgspec.to_builtins(template.spec))
    name = f"{pod.name}-{entry.name}"
    body["metadata"] |= {"name": name, "namespace": pod.metadata.namespace, "uid": f"new-{name}"}
    told = (
        *(pod.status.resource_claim_statuses or ()),
        PodResourceClaimStatus(name=entry.name, resource_claim_name=name),
    )
    status = replace(pod.status, resource_claim_statuses=told)
    return msgspec.convert(body, ResourceClaim), replace(pod, status=status)


def _propose_classes(situation: Situation, claim: ResourceClaim) -> Iterator[ProposedChange]:
    """The class of each request: made, or another one in its place."""
    known = {c.name for c in situation.catalog.all(DeviceClass)}
    for at, request in enumerate(claim.spec.devices.requests or ()):
        exactly = request.exactly
        if exactly is None:
            continue
        wanted = exactly.device_class_name
        for name in _classes(situation, wanted)[:MAX_STEPS_OF_A_KIND]:
            if name == wanted:
                continue
            typo = wanted not in known and closest(wanted, [name]) == name
            yield _replace_claim(
                _with_request(claim, at, replace(exactly, device_class_name=name)),
                f"ask for DeviceClass {name} in place of {wanted}",
                disturbance.CORRECT_NAME
                if typo
                else disturbance.CHANGE_DEVICE_CLASS
                if wanted in known
                else disturbance.REPLACE_OBJECT,
            )
        if wanted not in known:
            made = DeviceClass(metadata=ObjectMeta(name=wanted))
            yield ProposedChange(
                "create-object",
                f"create DeviceClass {wanted}, for example without selectors",
                disturbance.CREATE_OBJECT,
                objects=(made,),
            )


# --- what is too much -------------------------------------------------------------------------


def _propose_less(situation: Situation, claim: ResourceClaim) -> Iterator[ProposedChange]:
    for at, request in enumerate(claim.spec.devices.requests or ()):
        if request.exactly is not None:
            yield from _propose_less_of(situation, claim, at, request.exactly)
    if claim.spec.devices.constraints:
        devices = replace(claim.spec.devices, constraints=None)
        told = " and ".join(
            c.match_attribute or c.distinct_attribute or "" for c in claim.spec.devices.constraints
        )
        yield _replace_claim(
            replace(claim, spec=ResourceClaimSpec(devices=devices)),
            f"drop the constraint on {told}",
            disturbance.DROP_REQUIREMENT,
        )


def _propose_less_of(
    situation: Situation, claim: ResourceClaim, at: int, exactly: ExactDeviceRequest
) -> Iterator[ProposedChange]:
    count = _largest_count(situation, claim, at, exactly)
    if count:
        lost = disturbance.LOWER_REQUEST * (exactly.count - count) / exactly.count
        yield _replace_claim(
            _with_request(claim, at, replace(exactly, count=count)),
            f"ask for {count} device{'s' if count > 1 else ''} in place of {exactly.count}",
            disturbance.LOWER_REQUEST + round(lost),
        )
    if exactly.selectors:
        yield _replace_claim(
            _with_request(claim, at, replace(exactly, selectors=None)),
            "drop the selector"
            + " and ".join(f" {s.cel.expression}" for s in exactly.selectors if s.cel is not None),
            disturbance.DROP_REQUIREMENT,
        )
    taints = {
        (taint.key, taint.value, taint.effect)
        for piece in situation.catalog.all(ResourceSlice)
        for device in piece.spec.devices or ()
        for taint in device.taints or ()
    }
    for key, value, effect in sorted(taints)[:MAX_STEPS_OF_A_KIND]:
        toleration = DeviceToleration(
            key=key, operator="Equal" if value else "Exists", value=value, effect=effect
        )
        tolerations = (*(exactly.tolerations or ()), toleration)
        told = f"{key}{'=' if value else ''}{value}:{effect}"
        yield _replace_claim(
            _with_request(claim, at, replace(exactly, tolerations=tolerations)),
            f"tolerate the device taint {told}",
            disturbance.TOLERATE,
        )


def _largest_count(
    situation: Situation, claim: ResourceClaim, at: int, exactly: ExactDeviceRequest
) -> int:
    """The most devices that some node has for the claim; 0 if even one is too many."""

    def passes(count: int) -> bool:
        smaller = _with_request(claim, at, replace(exactly, count=count))
        examination = situation.examine(situation.pod, (smaller,))
        near = situation.nodes_near(DynamicResources.name)
        return any(examination.status(DynamicResources.name, name) is None for name in near)

    low, high = 0, exactly.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low


def _replace_claim(claim: ResourceClaim, what: str, weight: int) -> ProposedChange:
    return ProposedChange(
        "change-resource-claim",
        f"make ResourceClaim {claim.namespace}/{claim.name} anew: {what}",
        weight,
        objects=(claim,),
    )


# --- objects ----------------------------------------------------------------------------------


def _classes(situation: Situation, like: str) -> list[str]:
    names = sorted(c.name for c in situation.catalog.all(DeviceClass))
    alike = closest(like, names)
    return sorted(names, key=lambda name: name != alike)


def _metadata(namespace: str, name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=namespace, uid=f"new-{namespace}-{name}")


def _new_claim(namespace: str, name: str, class_name: str) -> ResourceClaim:
    exactly = ExactDeviceRequest(
        device_class_name=class_name, allocation_mode="ExactCount", count=1
    )
    request = DeviceRequest(name="device", exactly=exactly)
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=(request,)))
    return ResourceClaim(metadata=_metadata(namespace, name), spec=spec)


def _with_request(claim: ResourceClaim, at: int, exactly: ExactDeviceRequest) -> ResourceClaim:
    requests = list(claim.spec.devices.requests or ())
    requests[at] = replace(requests[at], exactly=exactly)
    devices = replace(claim.spec.devices, requests=tuple(requests))
    spec = ResourceClaimSpec(devices=devices)
    return replace(claim, spec=spec, status=ResourceClaimStatus())


def _change_entry(
    pod: Pod, name: str, change: Callable[[PodResourceClaim], PodResourceClaim]
) -> Pod:
    entries = tuple(change(e) if e.name == name else e for e in pod.spec.resource_claims or ())
    return replace(pod, spec=replace(pod.spec, resource_claims=entries))


def _with_claim(pod: Pod, entry: str, name: str) -> Pod:
    return _change_entry(pod, entry, lambda e: replace(e, resource_claim_name=name))


def _with_template(pod: Pod, entry: str, name: str) -> Pod:
    return _change_entry(pod, entry, lambda e: replace(e, resource_claim_template_name=name))


# --- who has the devices ----------------------------------------------------------------------


def find_holders(situation: Situation) -> Iterator[tuple[str, ...]]:
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
