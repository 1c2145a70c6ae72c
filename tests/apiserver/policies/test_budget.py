"""Policies, and tokens that nobody has, keep to the budget of one request."""

from typing import Any

import pytest
from support.apiserver.api_calls import good
from support.apiserver.metered_server import Meter

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{GROUP}/validatingadmissionpolicies"
BINDINGS = f"{GROUP}/validatingadmissionpolicybindings"
CONFIG_MAPS = "/api/v1/namespaces/ns/configmaps"
LOOP = "object.data.all(%s, %s)"
RULE = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}


def policy(name: str, *expressions: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": [RULE]},
            "validations": [{"expression": each} for each in expressions],
            **spec,
        },
    }


def bind(meter: Meter, name: str) -> None:
    spec = {"policyName": name, "validationActions": ["Deny"]}
    good(meter.api.ask("POST", BINDINGS, {"metadata": {"name": name}, "spec": spec}))


HARD = {
    "loops": LOOP % ("a", LOOP % ("b", LOOP % ("c", "a != '' && b != c + 'z'"))),
    "patterns": LOOP % ("a", LOOP % ("b", "a.matches('(a|b|c)*' + b) || true")),
    "copies": "object.data.map(a, object.data.map(b, object.data)).size() >= 0",
    "joins": "object.data.map(a, object.data.map(b, a + b).join(',').split(',')).size() >= 0",
}


@pytest.mark.parametrize("what", HARD)
def test_expressions_that_would_take_long_are_stopped(what: str) -> None:
    meter = Meter()
    variable = {"name": "v", "expression": HARD[what]}
    good(meter.api.ask("POST", POLICIES, policy("hard", *[HARD[what]] * 10)))
    good(
        meter.api.ask("POST", POLICIES, policy("late", *["variables.v"] * 10, variables=[variable]))
    )
    for name in ("hard", "late"):
        bind(meter, name)
    data = {f"k{number}": "v" * 3_000 for number in range(200)}

    answer = meter.ask("create", "POST", CONFIG_MAPS, {"metadata": {"name": "x"}, "data": data})

    assert answer.status == 422
    assert meter.beyond_budget() == {}


def test_the_most_expressions_are_compiled_within_the_budget() -> None:
    meter = Meter()
    many = [f"size(object.metadata.name) > 0 || {number} == 0" for number in range(500)]
    long = " || ".join(["object.metadata.name == 'name'"] * 2_900)

    assert meter.ask("many", "POST", POLICIES, policy("many", *many)).status == 201
    assert meter.ask("long", "POST", POLICIES, policy("long", long)).status in (201, 422)
    bind(meter, "many")
    first = {"metadata": {"name": "x"}}
    assert meter.ask("first request", "POST", CONFIG_MAPS, first).status == 201

    assert meter.beyond_budget() == {}


def test_tokens_of_nobody_are_refused_within_the_budget() -> None:
    meter = Meter()
    for what, token in {
        "long": "a." + "b" * 1_000_000 + ".c",
        "dots": "." * 1_000_000,
        "nested": f"a.{'W1tb' * 4_000}.c",
    }.items():
        assert meter.ask(what, "GET", CONFIG_MAPS, token=token).status == 401

    assert meter.beyond_budget() == {}
