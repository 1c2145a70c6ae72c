"""Mutating admission policies to be stored, and what they answer."""

from typing import Any

from support.apiserver.api_calls import CONFIG_MAPS, Answer, Api, config_map

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/mutatingadmissionpolicies"
BINDINGS = f"{GROUP}/mutatingadmissionpolicybindings"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
LABELLED = 'Object{metadata: Object.metadata{labels: {"set": "yes"}}}'
COUNTED = '[JSONPatch{op: "add", path: "/data/n" + string(size(object.data)), value: "1"}]'


def mutation(expression: str) -> dict[str, Any]:
    """A JSON patch where it is a list, else a configuration."""
    if expression.startswith("["):
        return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
    return {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": expression},
    }


def policy(*expressions: str, name: str = "p", resource: str = "configmaps", **spec: Any) -> Any:
    rule = {
        "apiGroups": ["*"],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [resource],
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "mutations": [mutation(each) for each in expressions],
            "reinvocationPolicy": "Never",
            **spec,
        },
    }


def bound(api: Api, *expressions: str, binding: dict[str, Any] | None = None, **more: Any) -> None:
    """A policy with one binding of the same name."""
    made = policy(*expressions, **more)
    api.create(POLICIES, made)
    name = made["metadata"]["name"]
    spec = {"policyName": name, **(binding or {})}
    api.create(BINDINGS, {"metadata": {"name": name}, "spec": spec})


def write(api: Api, name: str = "x", **data: str) -> Answer:
    return api.ask("POST", CONFIG_MAPS, config_map(name, **(data or {"k": "v"})))


def refused(answer: Answer) -> str:
    assert (answer.status, answer.body["reason"]) == (403, "Invalid")
    told, _, why = answer.message.partition(" denied request: ")
    assert told == "policy 'p' with binding 'p'"
    assert answer.body["details"]["causes"] == [{"message": answer.message}]
    return why
