"""Admission policies: what fails when they cannot be asked, and what they match."""

from podium.golang.json_values import JsonObject


def set_policy_defaults(policy: JsonObject) -> None:
    spec = policy["spec"]
    spec.setdefault("failurePolicy", "Fail")
    _set_match_defaults(spec.get("matchConstraints"))


def set_binding_defaults(binding: JsonObject) -> None:
    _set_match_defaults(binding["spec"].get("matchResources"))


def _set_match_defaults(matched: JsonObject | None) -> None:
    if matched is None:
        return
    matched.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        if matched.get(selector) is None:
            matched[selector] = {}
    for rules in ("resourceRules", "excludeResourceRules"):
        for rule in matched.get(rules) or ():
            rule.setdefault("scope", "*")
