"""What a claim on storage asks for: the spec of a PersistentVolumeClaim and of its templates."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid, not_supported, required
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_annotations,
    check_each,
    check_labels,
)
from podium.kubernetes.validation.selectors import check_label_selector

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")

_POSITIVE: Final = "must be greater than zero"
_TEMPLATE_FIELDS: Final = ("annotations", "labels")


def check_claim_template(errors: Errors, template: JsonObject, path: str) -> None:
    """A claim that a pod brings with it."""
    check_template_metadata(errors, template.get("metadata") or {}, f"{path}.metadata")
    check_claim_spec(errors, template.get("spec") or {}, f"{path}.spec")


def check_template_metadata(errors: Errors, metadata: JsonObject, path: str) -> None:
    """Of the metadata of what will be made, only labels and annotations can be given."""
    annotations, labels = metadata.get("annotations"), metadata.get("labels")
    if annotations:
        check_annotations(errors, annotations, f"{path}.annotations")
    if labels:
        check_labels(errors, labels, f"{path}.labels")
    for field, value in metadata.items():
        if field not in _TEMPLATE_FIELDS and value:
            errors.append(forbidden(f"{path}.{field}", "cannot be set"))


def check_claim_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    modes = spec.get("accessModes") or []
    if not modes:
        detail = "at least 1 access mode is required"
        errors.append(required(f"{path}.accessModes", detail))
    check_label_selector(errors, spec.get("selector"), f"{path}.selector")
    check_access_modes(errors, modes, path)
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        errors.append(required(f"{path}.resources[storage]"))
    elif nano(storage) <= 0:
        errors.append(invalid(f"{path}.resources[storage]", storage, _POSITIVE))
    _check_class(errors, spec.get("storageClassName"), f"{path}.storageClassName")
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    for field in ("dataSource", "dataSourceRef"):
        if spec.get(field) is not None:
            _check_source(errors, spec[field], f"{path}.{field}")
    _check_same_source(errors, spec.get("dataSource"), spec.get("dataSourceRef"), path)
    _check_class(errors, spec.get("volumeAttributesClassName"), f"{path}.volumeAttributesClassName")


def _check_same_source(
    errors: Errors, source: JsonObject | None, reference: JsonObject | None, path: str
) -> None:
    if source is None or reference is None:
        return
    # upstream: the value that is shown is a path, and paths are shown empty.
    if reference.get("namespace"):
        detail = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(invalid(path, {}, detail))
    elif source.get("apiGroup") != reference.get("apiGroup") or any(
        (source.get(field) or "") != (reference.get(field) or "") for field in ("kind", "name")
    ):
        errors.append(invalid(path, {}, "must match dataSourceRef"))


def check_access_modes(errors: Errors, modes: list[str], path: str) -> None:
    for mode in modes:
        if mode not in ACCESS_MODES:
            errors.append(not_supported(f"{path}.accessModes", mode, ACCESS_MODES))
    known = {mode for mode in modes if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        detail = "may not use ReadWriteOncePod with other access modes"
        errors.append(forbidden(f"{path}.accessModes", detail))


def _check_class(errors: Errors, name: str | None, path: str) -> None:
    if name:
        check_each(errors, subdomain_problems(name), name, path)


def _check_source(errors: Errors, source: JsonObject, path: str) -> None:
    kind, group = source.get("kind") or "", source.get("apiGroup") or ""
    if not source.get("name"):
        errors.append(required(f"{path}.name"))
    if not kind:
        errors.append(required(f"{path}.kind"))
    if not group and kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, detail))
    if group:
        check_each(errors, subdomain_problems(group), group, f"{path}.apiGroup")
    namespace = source.get("namespace")
    if namespace:
        check_each(errors, label_problems(namespace), namespace, f"{path}.namespace")
