"""Admission policies, their bindings, and admission webhooks."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.tables.printer import Cells, Printer, age_of, columns_of, name_of, spec_of

_UNSET: Final = "<unset>"


def _policy(obj: JsonObject, now: float, counted: str = "validations") -> Cells:
    spec = spec_of(obj)
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else _UNSET
    return [name_of(obj), len(spec.get(counted) or ()), shown, age_of(obj, now)]


def _mutating_policy(obj: JsonObject, now: float) -> Cells:
    return _policy(obj, now, "mutations")


def _binding(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    return [
        name_of(obj),
        spec.get("policyName") or "",
        _parameters(spec.get("paramRef")),
        age_of(obj, now),
    ]


def _webhooks(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), len(obj.get("webhooks") or ()), age_of(obj, now)]


def _parameters(reference: JsonObject | None) -> str:
    if not reference:
        return _UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return go_text(reference["selector"]) if reference.get("selector") is not None else _UNSET


def go_text(selector: JsonObject) -> str:
    """A label selector as Go prints the struct."""
    labels = selector.get("matchLabels") or {}
    shown = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{shown}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


POLICY: Final = Printer(columns_of("Name", "Validations:integer", "ParamKind", "Age"), _policy)
MUTATING_POLICY: Final = Printer(
    columns_of("Name", "Mutations:integer", "ParamKind", "Age"), _mutating_policy
)
BINDING: Final = Printer(columns_of("Name", "PolicyName", "ParamRef", "Age"), _binding)
WEBHOOKS: Final = Printer(columns_of("Name", "Webhooks:integer", "Age"), _webhooks)
