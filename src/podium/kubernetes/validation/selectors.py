"""Label selectors and node selectors: what their terms must look like."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import duplicate, forbidden, invalid, required
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_each,
    check_label_key,
    check_label_value,
    check_labels,
)

_NOT_AN_OPERATOR: Final = "not a valid selector operator"
_VALUES_NEEDED: Final = "must be specified when `operator` is 'In' or 'NotIn'"
_NO_VALUES: Final = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def check_label_selector(errors: Errors, selector: JsonObject | None, path: str) -> None:
    if not selector:
        return
    labels = selector.get("matchLabels")
    if labels:
        check_labels(errors, labels, f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        _check_expression(errors, expression, f"{path}.matchExpressions[{index}]")


def _check_expression(errors: Errors, expression: JsonObject, path: str) -> None:
    values = expression.get("values") or ()
    _check_operator(errors, expression, path)
    check_label_key(errors, expression.get("key") or "", f"{path}.key")
    for index, value in enumerate(values):
        check_label_value(errors, value, f"{path}.values[{index}]")


def _check_operator(errors: Errors, expression: JsonObject, path: str) -> None:
    values = expression.get("values")
    operator = expression.get("operator") or ""
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(f"{path}.values", _VALUES_NEEDED))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(forbidden(f"{path}.values", _NO_VALUES))
    else:
        errors.append(invalid(f"{path}.operator", operator, _NOT_AN_OPERATOR))


def check_node_selector(errors: Errors, selector: JsonObject, path: str) -> None:
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        detail = "must have at least one node selector term"
        errors.append(required(f"{path}.nodeSelectorTerms", detail))
    for index, term in enumerate(terms):
        check_node_selector_term(errors, term, f"{path}.nodeSelectorTerms[{index}]")


def check_node_selector_term(
    errors: Errors, term: JsonObject, path: str, *, any_values: bool = False
) -> None:
    """`any_values`: label values are not looked at, as upstream does for preferred terms."""
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        at = f"{path}.matchExpressions[{index}]"
        _check_node_expression(errors, expression, at, any_values=any_values)
    for index, expression in enumerate(term.get("matchFields") or ()):
        _check_node_field(errors, expression, f"{path}.matchFields[{index}]")


def _check_node_expression(
    errors: Errors, expression: JsonObject, path: str, *, any_values: bool
) -> None:
    values = expression.get("values") or ()
    if expression.get("operator") in ("Gt", "Lt"):
        if len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{path}.values", detail))
    else:
        _check_operator(errors, expression, path)
    check_label_key(errors, expression.get("key") or "", f"{path}.key")
    if not any_values:
        for index, value in enumerate(values):
            check_label_value(errors, value, f"{path}.values[{index}]")


def _check_node_field(errors: Errors, expression: JsonObject, path: str) -> None:
    values = expression.get("values") or ()
    operator, key = expression.get("operator") or "", expression.get("key") or ""
    if operator in ("In", "NotIn"):
        if len(values) != 1:
            detail = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            )
            errors.append(required(f"{path}.values", detail))
    else:
        errors.append(invalid(f"{path}.operator", operator, _NOT_AN_OPERATOR))
    if key != "metadata.name":
        errors.append(invalid(f"{path}.key", key, "not a valid field selector key"))
        return
    for index, value in enumerate(values):
        check_each(errors, subdomain_problems(value), value, f"{path}.values[{index}]")


def check_topology_terms(errors: Errors, terms: list[JsonObject], path: str) -> None:
    """The `allowedTopologies` of a storage class."""
    seen: set[tuple[tuple[str, tuple[str, ...]], ...]] = set()
    for index, term in enumerate(terms):
        wanted: dict[str, tuple[str, ...]] = {}
        for number, expression in enumerate(term.get("matchLabelExpressions") or ()):
            at = f"{path}[{index}].matchLabelExpressions[{number}]"
            key, values = expression.get("key") or "", expression.get("values") or []
            if not values:
                errors.append(required(f"{at}.values"))
            distinct: set[str] = set()
            for place, value in enumerate(values):
                if value in distinct:
                    errors.append(duplicate(f"{at}.values[{place}]", value))
                distinct.add(value)
            check_label_key(errors, key, f"{at}.key")
            if key in wanted:
                errors.append(duplicate(f"{at}.key", key))
            wanted[key] = tuple(sorted(distinct))
        topology = tuple(sorted(wanted.items()))
        if topology in seen or not wanted:  # upstream: nothing counts as there already
            errors.append(duplicate(f"{path}[{index}].matchLabelExpressions", ""))
        seen.add(topology)
