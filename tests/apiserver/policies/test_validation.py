"""Admission policies that would not be what their writers mean are refused."""

from typing import Any

import pytest
from support.apiserver.api_calls import STRATEGIC, Api

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/validatingadmissionpolicies"
BINDINGS = f"{GROUP}/validatingadmissionpolicybindings"
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}
TRUE = [{"expression": "true"}]


def policy(**spec: Any) -> dict[str, Any]:
    spec.setdefault("matchConstraints", {"resourceRules": [RULE]})
    return {"metadata": {"name": "a"}, "spec": spec}


def refusal(path: str, obj: dict[str, Any]) -> str:
    answer = Api().ask("POST", path, obj)
    assert answer.status == 422
    return answer.message.partition(" is invalid: ")[2]


def test_defaults_are_filled_in() -> None:
    spec = Api().create(POLICIES, policy(validations=TRUE))["spec"]
    assert spec["failurePolicy"] == "Fail"
    assert spec["matchConstraints"] == {
        "namespaceSelector": {},
        "objectSelector": {},
        "resourceRules": [{**RULE, "scope": "*"}],
        "matchPolicy": "Equivalent",
    }


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {},
            "[spec.validations: Required value: validations or auditAnnotations must contain at"
            " least one item, spec.auditAnnotations: Required value: validations or"
            " auditAnnotations must contain at least one item]",
        ),
        (
            {"validations": [{"expression": "1"}]},
            'spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int',
        ),
        (
            {"validations": [{"expression": "object.x"}]},
            'spec.validations[0].expression: Invalid value: "object.x": must evaluate to bool but'
            " got dyn",
        ),
        (
            {"validations": [{"expression": "params.x == 1"}]},
            'spec.validations[0].expression: Invalid value: "params.x == 1": compilation failed:'
            " ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n"
            " | params.x == 1\n | ^",
        ),
        (
            {"validations": [{"expression": "true", "reason": "Unauthorized"}]},
            'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values:'
            ' "Forbidden", "Invalid", "RequestEntityTooLarge"',
        ),
        (
            {"validations": TRUE, "variables": [{"name": "for", "expression": "1"}]},
            'spec.variables[0].name: Invalid value: "for": must be a valid CEL identifier',
        ),
        (
            {"validations": TRUE, "matchConstraints": {}},
            "spec.matchConstraints.resourceRules: Required value",
        ),
        (
            {"validations": TRUE, "paramKind": {"apiVersion": "a/b/c", "kind": "K"}},
            'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string:'
            " a/b/c",
        ),
        (
            {"auditAnnotations": [{"key": "k", "valueExpression": "1"}]},
            'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of'
            " [string null_type] but got int",
        ),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(spec: dict[str, Any], told: str) -> None:
    assert refusal(POLICIES, policy(**spec)) == told


def test_rules_that_contradict_themselves_are_refused() -> None:
    rule = {
        "apiGroups": ["*", "a"],
        "apiVersions": ["v1"],
        "operations": ["*", "X"],
        "resources": ["a/*", "a/b", "*/*"],
        "scope": "Y",
    }
    path = "spec.matchConstraints.resourceRules[0]"
    told = refusal(POLICIES, policy(validations=TRUE, matchConstraints={"resourceRules": [rule]}))
    for part in (
        f'{path}.operations: Invalid value: ["*","X"]: if \'*\' is present',
        f'{path}.operations[1]: Unsupported value: "X"',
        f"{path}.apiGroups: Invalid value",
        f"{path}.resources[1]: Invalid value: \"a/b\": if 'a/*' is present, must not specify a/b",
        f'{path}.resources: Invalid value: ["a/*","a/b","*/*"]: if \'*/*\' is present',
        f'{path}.scope: Unsupported value: "Y"',
    ):
        assert part in told


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"policyName": ""}, "spec.policyName: Required value"),
        (
            {"validationActions": []},
            "spec.validationActions: Required value: at least one validation action is required",
        ),
        (
            {"validationActions": ["Deny", "Warn"]},
            'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and'
            " Warn (repeating the same validation failure information in the API response and"
            " headers serves no purpose)",
        ),
        (
            {"paramRef": {"name": "a"}},
            "spec.paramRef.parameterNotFoundAction: Required value",
        ),
        (
            {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
            "[spec.paramRef.name: Forbidden: name and selector are mutually exclusive,"
            " spec.paramRef.selector: Forbidden: name and selector are mutually exclusive]",
        ),
    ],
)
def test_a_binding_that_makes_no_sense_is_refused(spec: dict[str, Any], told: str) -> None:
    whole = {"policyName": "a", "validationActions": ["Deny"], **spec}
    assert refusal(BINDINGS, {"metadata": {"name": "b"}, "spec": whole}) == told


def test_an_update_says_which_version_it_replaces() -> None:
    api = Api()
    api.create(POLICIES, policy(validations=TRUE))
    answer = api.ask("PUT", f"{POLICIES}/a", policy(validations=TRUE))
    assert answer.status == 422
    assert "must be specified for an update" in answer.message


def test_variables_are_merged_by_name() -> None:
    api = Api()
    one, two = {"name": "a", "expression": "1"}, {"name": "b", "expression": "2"}
    api.create(POLICIES, policy(validations=TRUE, variables=[one]))
    patched = api.patch(f"{POLICIES}/a", {"spec": {"variables": [two]}}, STRATEGIC)
    assert {each["name"] for each in patched["spec"]["variables"]} == {"a", "b"}
    assert patched["metadata"]["generation"] == 2


def test_a_table_shows_what_a_policy_is_about() -> None:
    api = Api()
    api.create(POLICIES, policy(validations=TRUE))
    api.create(
        BINDINGS,
        {
            "metadata": {"name": "b"},
            "spec": {
                "policyName": "a",
                "validationActions": ["Deny"],
                "paramRef": {"name": "x", "parameterNotFoundAction": "Allow"},
            },
        },
    )
    table = "application/json;as=Table;g=meta.k8s.io;v=v1"
    [row] = api.get(POLICIES, accept=table)["rows"]
    assert row["cells"] == ["a", 1, "<unset>", "0s"]
    [row] = api.get(BINDINGS, accept=table)["rows"]
    assert row["cells"] == ["b", "a", "*/x", "0s"]
