"""Resizing a pod and adding containers to debug it: changes with subresources of their own."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.rules.field_errors import forbidden, invalid
from podium.kubernetes.rules.nodes import CONFIG_MIRROR
from podium.kubernetes.rules.pod_level_resources import qos_class
from podium.kubernetes.validation.go_forms import difference
from podium.kubernetes.validation.object_meta import Errors, built_in_meta_update_errors, meta_of
from podium.kubernetes.validation.pods import check_annotation_changes, metadata_and_spec_errors

_RESIZABLE: Final = ("cpu", "memory")
_ONLY_THESE: Final = "only cpu and memory resources are mutable"


def ephemeral_containers_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    errors.extend(metadata_and_spec_errors(new))
    check_annotation_changes(errors, new, old)
    if CONFIG_MIRROR in (meta_of(old).get("annotations") or {}):
        return [forbidden("<nil>", "static pods do not support ephemeral containers")]
    at = "spec.ephemeralContainers"
    kept = {each.get("name"): each for each in (new.get("spec") or {}).get(at[5:]) or ()}
    for container in (old.get("spec") or {}).get(at[5:]) or ():
        name = container.get("name") or ""
        if name not in kept:
            detail = f"existing ephemeral containers {go_quote(name)} may not be removed\n"
            errors.append(forbidden(at, detail))
        elif kept[name] != container:
            shown = difference("core", "EphemeralContainer", container, kept[name])
            detail = f"existing ephemeral containers {go_quote(name)} may not be changed\n{shown}"
            errors.append(forbidden(at, detail))
    return errors


def resize_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    errors.extend(metadata_and_spec_errors(new))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    if CONFIG_MIRROR in (meta_of(old).get("annotations") or {}):
        return [forbidden("<nil>", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("<nil>", "windows pods cannot be resized")]
    earlier = (old.get("status") or {}).get("qosClass") or qos_class(before)
    if earlier != qos_class(spec):
        detail = "Pod QOS Class may not change as a result of resizing"
        found = (new.get("status") or {}).get("qosClass") or ""
        errors.append(invalid("spec", found, detail))
    if not _node_can_resize(old):
        detail = "Pod running on node without support for resize"
        errors.append(forbidden("spec", detail))
    masked = dict(spec)
    _check_pod_level(errors, masked, before)
    if (old.get("status") or {}).get("nodeAllocatableResourceClaimStatuses"):
        detail = "pods with node allocatable resource claims cannot be resized"
        errors.append(forbidden("spec", detail))
    if _check_order(errors, spec, before):
        _check_containers(errors, masked, before)
        if not errors and masked != before:
            errors.append(forbidden("spec", _ONLY_THESE))
    return errors


def _node_can_resize(pod: JsonObject) -> bool:
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if (status.get("state") or {}).get("running") is not None:
            return status.get("resources") is not None
    return True


def _check_pod_level(errors: Errors, masked: JsonObject, before: JsonObject) -> None:
    resources, earlier = masked.get("resources"), before.get("resources")
    if not resources and not earlier:
        return
    if earlier is not None and resources is None:
        detail = "pod-level resources cannot be removed"
        errors.append(forbidden("spec.resources", detail))
        return
    for part in ("requests", "limits"):
        if _is_removed((resources or {}).get(part), (earlier or {}).get(part)):
            detail = f"pod-level resource {part} cannot be removed"
            errors.append(forbidden(f"spec.resources.{part}", detail))
    hidden = _mask_resizable(resources or {}, earlier or {})
    if hidden or earlier is not None:
        masked["resources"] = hidden
    else:
        masked.pop("resources", None)
    if masked.get("resources") != earlier:
        detail = f"{_ONLY_THESE} at pod-level"
        errors.append(forbidden("spec", detail))


def _check_order(errors: Errors, spec: JsonObject, before: JsonObject) -> bool:
    found = len(errors)
    for kind in ("containers", "initContainers"):
        new, old = spec.get(kind) or [], before.get(kind) or []
        if len(new) != len(old):
            detail = f"{kind} may not be added or removed on resize"
            errors.append(forbidden(f"spec.{kind}", detail))
            continue
        for index, (container, earlier) in enumerate(zip(new, old, strict=True)):
            if container.get("name") != earlier.get("name"):
                detail = f"{kind} may not be renamed or reordered on resize"
                errors.append(forbidden(f"spec.{kind}[{index}].name", detail))
    return len(errors) == found


def _check_containers(errors: Errors, masked: JsonObject, before: JsonObject) -> None:
    pairs = {
        kind: list(zip(masked.get(kind) or (), before.get(kind) or (), strict=True))
        for kind in ("initContainers", "containers")
    }
    for kind, containers in pairs.items():
        for index, (container, earlier) in enumerate(containers):
            new, old = container.get("resources") or {}, earlier.get("resources") or {}
            for part in ("requests", "limits"):
                if _is_removed(new.get(part), old.get(part)):
                    at = f"spec.{kind}[{index}].resources.{part}"
                    errors.append(forbidden(at, f"resource {part} cannot be removed"))
    for kind in ("containers", "initContainers"):
        shown: list[JsonObject] = []
        for index, (container, earlier) in enumerate(pairs[kind]):
            hidden = {**container, "resources": _mask_resizable(*_resources(container, earlier))}
            shown.append(hidden)
            if hidden != earlier:
                first = kind == "initContainers"
                at = f"spec.{kind}[{index}]" if first else "spec"
                detail = "only cpu and memory resources for init or sidecar containers are mutable"
                errors.append(forbidden(at, detail if first else _ONLY_THESE))
        if shown:
            masked[kind] = shown


def _resources(container: JsonObject, earlier: JsonObject) -> tuple[JsonObject, JsonObject]:
    return container.get("resources") or {}, earlier.get("resources") or {}


def _mask_resizable(resources: JsonObject, earlier: JsonObject) -> JsonObject:
    """The resources with the old amounts of what may be resized.

    upstream: claims are left out, so that a container with claims always counts as changed.
    """
    masked: JsonObject = {}
    for part in ("requests", "limits"):
        amounts = {
            name: amount
            for name, amount in (resources.get(part) or {}).items()
            if name not in _RESIZABLE
        }
        old = earlier.get(part) or {}
        amounts.update({name: old[name] for name in _RESIZABLE if name in old})
        if amounts:
            masked[part] = amounts
    return masked


def _is_removed(amounts: JsonObject | None, earlier: JsonObject | None) -> bool:
    return any(name not in (amounts or {}) for name in earlier or ())
