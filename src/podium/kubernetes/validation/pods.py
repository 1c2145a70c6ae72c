"""Pods: what may be created, and what may change afterwards.

What the status may say is in `pod_statuses`.

Changes of a pod's spec: almost none are allowed once the pod exists. Images, the deadline and
additional tolerations may change; scheduling gates may go, and while there are any, node selectors
and node affinity may become narrower. Everything else is refused with a diff of the two specs.
"""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid, required
from podium.kubernetes.rules.nodes import CONFIG_MIRROR
from podium.kubernetes.validation.containers import check_image_is_trimmed
from podium.kubernetes.validation.go_forms import difference, go_form, go_forms
from podium.kubernetes.validation.names import in_range, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)
from podium.kubernetes.validation.placement import check_tolerations
from podium.kubernetes.validation.pod_specs import check_pod_spec

_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")
_MAX_INT32: Final = 2**31


def create_errors(pod: JsonObject) -> Errors:
    errors = metadata_and_spec_errors(pod)
    spec: JsonObject = pod.get("spec") or {}
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", detail))
    return errors


def metadata_and_spec_errors(pod: JsonObject, known: JsonObject | None = None) -> Errors:
    """What is wrong with a pod whether it is new or changed.

    A spec equal to the `known` one was judged when that was stored.
    """
    metadata, spec = meta_of(pod), pod.get("spec") or {}
    errors = built_in_meta_errors(metadata, True, subdomain_problems)
    check_annotations(errors, metadata.get("annotations") or {}, spec)
    if spec == known:
        return errors
    check_pod_spec(errors, spec, "spec", pod_name=metadata.get("name") or "")
    if not spec.get("serviceAccountName") and spec.get("volumes"):
        _check_tokens(errors, spec["volumes"])
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            check_image_is_trimmed(errors, container, f"spec.{kind}[{index}]")
    return errors


def check_annotations(errors: Errors, annotations: JsonObject, spec: JsonObject) -> None:
    """Annotations that mean something to the server."""
    if not annotations:
        return
    if CONFIG_MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(
            invalid(f"metadata.annotations[{CONFIG_MIRROR}]", annotations[CONFIG_MIRROR], detail)
        )
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not (
        _INTEGER.fullmatch(cost) and -_MAX_INT32 <= int(cost) < _MAX_INT32
    ):
        at = f"metadata.annotations[{_DELETION_COST}]"
        errors.append(invalid(at, cost, "must be a 32bit integer"))


def _check_tokens(errors: Errors, volumes: list[JsonObject]) -> None:
    for index, volume in enumerate(volumes):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("serviceAccountToken") is not None:
                at = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                detail = "must not be specified when serviceAccountName is not set"
                errors.append(forbidden(at, detail))


_LARGEST_INT32: Final = 2**31 - 1
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_REFUSAL: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
    "set to 1 if it was previously negative)"
)


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    errors.extend(metadata_and_spec_errors(new, before))
    check_annotation_changes(errors, new, old)
    if spec == before:
        return errors
    for kind in ("containers", "initContainers"):
        if not _check_containers(errors, spec.get(kind) or [], before.get(kind) or [], kind):
            return errors
    if not _check_deadline(errors, spec, before):
        return errors
    _check_tolerations(errors, spec.get("tolerations") or [], before.get("tolerations") or [])
    _check_gates(errors, spec.get("schedulingGates") or [], before.get("schedulingGates") or [])
    munged = _restore_mutable_fields(spec, before)
    if before.get("schedulingGates"):
        _allow_narrowing(errors, munged, before)
    if munged != before:
        shown = difference("core", "PodSpec", before, munged)
        errors.append(forbidden("spec", f"{_REFUSAL}\n{shown}"))
    return errors


def check_annotation_changes(errors: Errors, new: JsonObject, old: JsonObject) -> None:
    annotations = meta_of(new).get("annotations") or {}
    before = meta_of(old).get("annotations") or {}
    at = f"metadata.annotations[{CONFIG_MIRROR}]"
    if CONFIG_MIRROR in before and annotations.get(CONFIG_MIRROR) != before[CONFIG_MIRROR]:
        errors.append(forbidden(at, "may not remove or update mirror pod annotation"))
    if CONFIG_MIRROR in annotations and CONFIG_MIRROR not in before:
        errors.append(forbidden(at, "may not add mirror pod annotation"))
    check_annotations(errors, annotations, new.get("spec") or {})


def _check_containers(
    errors: Errors, new: list[JsonObject], old: list[JsonObject], kind: str
) -> bool:
    """False: there is no sense in looking further."""
    if len(new) != len(old):
        errors.append(forbidden(f"spec.{kind}", "pod updates may not add or remove containers"))
        return False
    for index, container in enumerate(new):
        at, image = f"spec.{kind}[{index}].image", container.get("image") or ""
        if not image:
            errors.append(required(at))
        if image != image.strip():
            errors.append(invalid(at, image, "must not have leading or trailing whitespace"))
    return True


def _check_deadline(errors: Errors, spec: JsonObject, before: JsonObject) -> bool:
    at = "spec.activeDeadlineSeconds"
    deadline, earlier = spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if deadline is None:
        if earlier is not None:
            detail = "must not update from a positive integer to nil value"
            errors.append(invalid(at, None, detail))
        return True
    if not 0 <= deadline <= _LARGEST_INT32:
        errors.append(invalid(at, deadline, in_range(0, _LARGEST_INT32)))
        return False
    if earlier is not None and earlier < deadline:
        detail = "must be less than or equal to previous value"
        errors.append(invalid(at, deadline, detail))
        return False
    return True


def _check_tolerations(errors: Errors, new: list[JsonObject], old: list[JsonObject]) -> None:
    known = {_without_seconds(toleration) for toleration in new}
    for toleration in old:
        if _without_seconds(toleration) not in known:
            detail = "existing toleration can not be modified except its tolerationSeconds"
            errors.append(forbidden("spec.tolerations", detail))
            return
    check_tolerations(errors, new, "spec.tolerations")


def _without_seconds(toleration: JsonObject) -> frozenset[tuple[str, str]]:
    return frozenset(each for each in toleration.items() if each[0] != "tolerationSeconds")


def _check_gates(errors: Errors, new: list[JsonObject], old: list[JsonObject]) -> None:
    known = {gate.get("name") for gate in old}
    for index, gate in enumerate(new):
        name = gate.get("name") or ""
        if name not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{name}'"
            errors.append(forbidden(f"spec.schedulingGates[{index}].name", detail))


def _restore_mutable_fields(spec: JsonObject, before: JsonObject) -> JsonObject:
    """The new spec with everything that may change put back."""
    munged = dict(spec)
    for kind in ("containers", "initContainers"):
        if spec.get(kind):
            munged[kind] = [
                {**container, "image": earlier.get("image")}
                for container, earlier in zip(spec[kind], before[kind], strict=True)
            ]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _put_back(munged, before, field)
    return munged


def _put_back(munged: JsonObject, before: JsonObject, field: str) -> None:
    if field in before:
        munged[field] = before[field]
    else:
        munged.pop(field, None)


def _allow_narrowing(errors: Errors, munged: JsonObject, before: JsonObject) -> None:
    selector, earlier = munged.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if selector != earlier:
        if any(selector.get(key) != value for key, value in earlier.items()):
            detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
            errors.append(invalid("spec.nodeSelector", munged.get("nodeSelector"), detail))
        _put_back(munged, before, "nodeSelector")
    affinity = (munged.get("affinity") or {}).get("nodeAffinity")
    kept = (before.get("affinity") or {}).get("nodeAffinity")
    if affinity != kept:
        _check_affinity(errors, affinity or {}, kept or {})
        _put_back_affinity(munged, before, kept)


def _put_back_affinity(munged: JsonObject, before: JsonObject, kept: JsonObject | None) -> None:
    whole = dict(munged.get("affinity") or {})
    if kept is None:
        whole.pop("nodeAffinity", None)
    else:
        whole["nodeAffinity"] = kept
    if whole or before.get("affinity") is not None:
        munged["affinity"] = whole
    else:
        munged.pop("affinity", None)


def _check_affinity(errors: Errors, new: JsonObject, old: JsonObject) -> None:
    if old.get(_REQUIRED) is None:
        return
    at = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    earlier = old[_REQUIRED].get("nodeSelectorTerms") or []
    terms = (new.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if earlier and len(earlier) != len(terms):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.append(invalid(at, go_forms("core", "NodeSelectorTerm", terms or None), detail))
        return
    for index, term in enumerate(earlier):
        if not _only_adds(terms[index], term):
            detail = "only additions are allowed (no mutations or deletions)"
            shown = go_form("core", "NodeSelectorTerm", terms[index])
            errors.append(invalid(f"{at}[{index}]", shown, detail))


def _only_adds(new: JsonObject, old: JsonObject) -> bool:
    if not old.get("matchExpressions") and not old.get("matchFields"):
        return not new.get("matchExpressions") and not new.get("matchFields")
    for field in ("matchExpressions", "matchFields"):
        earlier = old.get(field) or []
        if (new.get(field) or [])[: len(earlier)] != earlier:
            return False
    return True
