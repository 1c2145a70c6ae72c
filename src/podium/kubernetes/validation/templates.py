"""Pod templates inside workloads, and the selectors that must match them."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import LabelSelector, LabelSelectorRequirement
from podium.kubernetes.rules.field_errors import forbidden, invalid, not_supported
from podium.kubernetes.rules.labels import Selector, SelectorError, selector_of
from podium.kubernetes.validation.go_forms import go_map
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_annotations,
    check_labels,
)
from podium.kubernetes.validation.pod_specs import check_pod_spec

SELECTOR_MISMATCH: Final = "`selector` does not match template `labels`"


def check_template(errors: Errors, template: JsonObject, path: str) -> None:
    metadata: JsonObject = template.get("metadata") or {}
    if metadata.get("labels"):
        check_labels(errors, metadata["labels"], f"{path}.labels")
    if metadata.get("annotations"):
        check_annotations(errors, metadata["annotations"], f"{path}.annotations")
    spec: JsonObject = template.get("spec") or {}
    check_pod_spec(errors, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", detail))


def check_runs_forever(errors: Errors, template: JsonObject, kind: str, path: str) -> None:
    """The pods of a workload that keeps pods running are restarted, and have no deadline."""
    spec: JsonObject = template.get("spec") or {}
    policy = spec.get("restartPolicy") or ""
    if policy != "Always":
        errors.append(not_supported(f"{path}.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{path}.spec.activeDeadlineSeconds", detail))


def compiled(selector: JsonObject | None) -> Selector | None:
    """None: the selector cannot be parsed, which has been told already."""
    if selector is None:
        return selector_of(None)
    expressions = [
        LabelSelectorRequirement(
            key=expression.get("key") or "",
            operator=expression.get("operator") or "",
            values=tuple(expression.get("values") or ()),
        )
        for expression in selector.get("matchExpressions") or ()
    ]
    labels = dict(selector.get("matchLabels") or {})
    try:
        return selector_of(LabelSelector(match_labels=labels, match_expressions=tuple(expressions)))
    except SelectorError:
        return None


def check_matches(errors: Errors, selector: Selector, template: JsonObject, path: str) -> None:
    labels = (template.get("metadata") or {}).get("labels")
    if not selector.matches(labels or {}):
        errors.append(invalid(f"{path}.metadata.labels", go_map(labels), SELECTOR_MISMATCH))
