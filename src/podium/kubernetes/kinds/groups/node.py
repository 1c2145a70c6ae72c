"""The kinds of the group `node.k8s.io`."""

from collections.abc import Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, Warnings
from podium.kubernetes.rules.field_errors import duplicate, immutable, required
from podium.kubernetes.tables.printer import age_of, columns_of, name_of
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_labels,
    meta_of,
)
from podium.kubernetes.validation.placement import check_tolerations
from podium.kubernetes.validation.resource_amounts import ClaimNames, check_container_resources
from podium.kubernetes.warnings.node_labels import replacement_for


def _create_errors(runtime_class: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(runtime_class), False, subdomain_problems)
    handler = runtime_class.get("handler") or ""
    if handler:
        check_each(errors, label_problems(handler), handler, "handler")
    else:
        errors.append(required("handler"))
    fixed = (runtime_class.get("overhead") or {}).get("podFixed")
    if fixed:
        check_container_resources(errors, {"limits": fixed}, ClaimNames(), "overhead")
    scheduling = runtime_class.get("scheduling")
    if scheduling is not None:
        check_labels(errors, scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector")
        _check_tolerations(errors, scheduling.get("tolerations") or [])
    return errors


def _check_tolerations(errors: Errors, tolerations: list[JsonObject]) -> None:
    path = "scheduling.tolerations"
    check_tolerations(errors, tolerations, path)
    seen: set[tuple[str, ...]] = set()
    for number, each in enumerate(tolerations):
        key = tuple(each.get(name) or "" for name in ("key", "operator", "value", "effect"))
        if key in seen:
            errors.append(duplicate(f"{path}[{number}]", go_form("core", "Toleration", each)))
        seen.add(key)


def _update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    if new.get("handler") != old.get("handler"):
        errors.append(immutable("handler", new.get("handler")))
    return errors


def _about_runtime_class(runtime_class: JsonObject) -> Iterator[str]:
    for key in (runtime_class.get("scheduling") or {}).get("nodeSelector") or ():
        better = replacement_for(key)
        if better is not None:
            yield f"scheduling.nodeSelector: {better}"


def _runtime_class(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), obj.get("handler") or "", age_of(obj, now)]


_RUNTIME_CLASS: Final = Printer(columns_of("Name", "Handler", "Age"), _runtime_class)

KINDS: Final = (
    Kind(
        "node.k8s.io",
        "RuntimeClass",
        "runtimeclasses",
        description="A way to run containers, with what it costs and where it works.",
        namespaced=False,
        validation=Validation(_create_errors, _update_errors),
        printer=_RUNTIME_CLASS,
        warnings=Warnings(always=_about_runtime_class),
    ),
)
