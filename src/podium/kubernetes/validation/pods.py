"""Pods: what may be created.

What may change afterwards stands in `pod_updates`, what the status may say in `pod_statuses`.
"""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid
from podium.kubernetes.rules.node_pods import CONFIG_MIRROR
from podium.kubernetes.validation.containers import check_image_is_trimmed
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import Errors, built_in_meta_errors, meta_of
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
