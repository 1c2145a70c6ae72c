"""Admission webhooks: how long they are waited for, and what happens when they do not answer."""

from podium.golang.json_values import JsonObject


def set_validating_defaults(configuration: JsonObject) -> None:
    for hook in configuration.get("webhooks") or ():
        _set_hook_defaults(hook)


def set_mutating_defaults(configuration: JsonObject) -> None:
    for hook in configuration.get("webhooks") or ():
        _set_hook_defaults(hook)
        hook.setdefault("reinvocationPolicy", "Never")


def _set_hook_defaults(hook: JsonObject) -> None:
    hook.setdefault("failurePolicy", "Fail")
    hook.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        if hook.get(selector) is None:
            hook[selector] = {}
    hook.setdefault("timeoutSeconds", 10)
    for rule in hook.get("rules") or ():
        rule.setdefault("scope", "*")
    service = (hook.get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)
