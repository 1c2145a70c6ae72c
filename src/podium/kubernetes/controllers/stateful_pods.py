"""The pod of one ordinal of a stateful set, the claims that are made with it, and who owns those.

Name, labels, host name and claims follow from the ordinal, so a pod that comes back is the same.
Claims are deleted as garbage is, with their owners: with `whenDeleted: Delete` the set is an owner,
with `whenScaled: Delete` the pod that a smaller set does not want any more is. Claims that somebody
else controls, or a pod or set of the same name that is gone, are left alone
(`pkg/controller/statefulset/stateful_set_utils.go`).
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.pod_templates import REVISION_HASH, pod_from_template
from podium.kubernetes.controllers.workloads import PodTemplate, StatefulSet
from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference

STATEFUL_SET: Final = OwnerKind("apps/v1", "StatefulSet")
_POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
_POD_INDEX: Final = "apps.kubernetes.io/pod-index"


def ordinal_of(stateful: StatefulSet, pod_name: str) -> int | None:
    ordinal = pod_name.removeprefix(f"{stateful.name}-")
    return int(ordinal) if ordinal.isdecimal() else None


def pod_of_ordinal(
    stateful: StatefulSet, template: PodTemplate, ordinal: int, revision: str
) -> JsonObject:
    name = f"{stateful.name}-{ordinal}"
    return pod_from_template(
        STATEFUL_SET,
        stateful.metadata,
        template,
        name=name,
        labels={_POD_NAME: name, _POD_INDEX: str(ordinal), REVISION_HASH: revision},
        spec=_with_identity(stateful, template, name),
    )


def claims_of_ordinal(stateful: StatefulSet, ordinal: int) -> list[JsonObject]:
    """upstream: a claim carries the labels that the set selects, over those of its template."""
    selected = (stateful.spec.selector.match_labels if stateful.spec.selector else None) or {}
    made = []
    for template in stateful.spec.volume_claim_templates or ():
        metadata = template.get("metadata") or {}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": _claim_name(template, f"{stateful.name}-{ordinal}"),
                    "labels": {**(metadata.get("labels") or {}), **selected},
                    "annotations": metadata.get("annotations") or {},
                },
                "spec": template.get("spec") or {},
            }
        )
    return made


def claim_names_of_ordinal(stateful: StatefulSet, ordinal: int) -> list[str]:
    pod_name = f"{stateful.name}-{ordinal}"
    templates = stateful.spec.volume_claim_templates or ()
    return [_claim_name(template, pod_name) for template in templates]


def _with_identity(stateful: StatefulSet, template: PodTemplate, pod_name: str) -> JsonObject:
    """The template's spec with a host name, and a volume for each claim."""
    spec = {**template.spec, "hostname": pod_name}
    if stateful.spec.service_name:
        spec["subdomain"] = stateful.spec.service_name
    added = {
        _name_of(each): {
            "name": _name_of(each),
            "persistentVolumeClaim": {"claimName": _claim_name(each, pod_name)},
        }
        for each in stateful.spec.volume_claim_templates or ()
    }
    if added:
        kept = [each for each in spec.get("volumes") or () if each.get("name") not in added]
        spec["volumes"] = [*added.values(), *kept]
    return spec


def _claim_name(template: JsonObject, pod_name: str) -> str:
    return f"{_name_of(template)}-{pod_name}"


def _name_of(template: JsonObject) -> str:
    name: str = (template.get("metadata") or {}).get("name") or ""
    return name


POD: Final = OwnerKind("v1", "Pod")
DELETE: Final = "Delete"


def owners_to_write(
    claim: ObjectMeta, stateful: StatefulSet, pod: ObjectMeta
) -> list[JsonObject] | None:
    """The owners that a pod's claim is to have; None if it has them, or is not to be touched."""
    present = claim.owner_references or ()
    ours = [(STATEFUL_SET, stateful.metadata), (POD, pod)]
    if any(_is_stale(present, kind, owner) for kind, owner in ours):
        return None
    named = [ref for ref in present if any(_names(ref, kind, owner) for kind, owner in ours)]
    others = [ref for ref in present if ref not in named]
    wanted = _find_wanted_owners(stateful, pod)
    strangers = any(_is_stale([ref], kind, owner) for ref in named for kind, owner in ours)
    if _deletes_something(stateful) and (strangers or any(ref.controller for ref in others)):
        wanted = []
    held = [ref for ref in present if ref.uid in (stateful.metadata.uid, pod.uid)]
    right = {ref.uid for ref in held} == {owner.uid for _, owner in wanted}
    if right and all(ref.controller for ref in held):
        return None
    kept = {ref.uid for ref in others}
    added = [owner_reference(kind, owner) for kind, owner in wanted if owner.uid not in kept]
    return [*(msgspec.to_builtins(ref) for ref in others), *added]


def waits_for_deletion(claim: ObjectMeta, stateful: StatefulSet, pod_name: str) -> bool:
    """Whether a claim still goes with the pod that had the name before; a new one has to wait."""
    policy = stateful.spec.persistent_volume_claim_retention_policy
    if policy is None or policy.when_scaled != DELETE:
        return False
    unborn = ObjectMeta(name=pod_name)
    return _is_stale(claim.owner_references or (), POD, unborn)


def _find_wanted_owners(
    stateful: StatefulSet, pod: ObjectMeta
) -> list[tuple[OwnerKind, ObjectMeta]]:
    policy = stateful.spec.persistent_volume_claim_retention_policy
    if policy is None:
        return []
    if policy.when_scaled == DELETE and ordinal_of(stateful, pod.name) not in stateful.ordinals:
        return [(POD, pod)]
    return [(STATEFUL_SET, stateful.metadata)] if policy.when_deleted == DELETE else []


def _deletes_something(stateful: StatefulSet) -> bool:
    policy = stateful.spec.persistent_volume_claim_retention_policy
    return policy is not None and DELETE in (policy.when_scaled, policy.when_deleted)


def _names(reference: OwnerReference, kind: OwnerKind, owner: ObjectMeta) -> bool:
    written = (reference.api_version, reference.kind, reference.name)
    return written == (kind.api_version, kind.name, owner.name)


def _is_stale(references: Sequence[OwnerReference], kind: OwnerKind, owner: ObjectMeta) -> bool:
    """Whether another object of the same name is meant, which is gone."""
    named = next((each for each in references if _names(each, kind, owner)), None)
    return named is not None and named.uid != owner.uid
