"""Rules of custom resources over a socket: what is too expensive is refused, and soon."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.apiserver_process import RunningServer, serving

from podium.kubernetes.crds.expressions import RUNTIME_COST_BUDGET

COST_OF_A_SUM = 114
"""What CEL charges for a sum of 99 numbers and a comparison."""
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUADRATIC = "self.a.all(x, self.a.all(y, x + y > %d))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(Path(tmp_path_factory.mktemp("rules"))) as running:
        yield running


def define(
    server: RunningServer, plural: str, items: dict[str, Any], rules: list[str]
) -> tuple[int, Any]:
    spec = {
        "type": "object",
        "properties": {"a": items},
        "x-kubernetes-validations": [{"rule": rule} for rule in rules],
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    kind = plural.capitalize().removesuffix("s")
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.x.dev"},
        "spec": {
            "group": "x.dev",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind},
            "versions": [version],
        },
    }
    return server.ask("POST", DEFINITIONS, body)


def create(server: RunningServer, plural: str, value: Any) -> tuple[int, Any]:
    kind = plural.capitalize().removesuffix("s")
    body = {"apiVersion": "x.dev/v1", "kind": kind, "metadata": {"name": "a"}, "spec": {"a": value}}
    return server.ask("POST", f"/apis/x.dev/v1/namespaces/default/{plural}", body)


INTEGERS = {"type": "array", "items": {"type": "integer"}}


def test_forty_quadratic_rules_are_refused_with_the_definition(server: RunningServer) -> None:
    status, answer = define(server, "forties", INTEGERS, [QUADRATIC % n for n in range(40)])

    assert status == 422
    assert len(answer["details"]["causes"]) == 45
    assert "estimated rule cost exceeds budget by factor of more than 100x" in answer["message"]


def test_a_rule_that_spends_all_it_may_is_stopped(server: RunningServer) -> None:
    bounded = {**INTEGERS, "maxItems": 1000}
    assert define(server, "quadrats", bounded, [QUADRATIC % -1])[0] == 201

    status, answer = create(server, "quadrats", list(range(1000)))

    assert status == 422
    assert answer["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": 'Invalid value: "object": \'operation cancelled: actual cost limit'
            " exceeded': no further validation rules will be run due to call cost exceeds limit"
            f" for rule: {QUADRATIC % -1}",
            "field": "spec",
        }
    ]


def test_rules_that_together_spend_the_budget_are_stopped(server: RunningServer) -> None:
    item = {
        "type": "integer",
        "x-kubernetes-validations": [{"rule": "+".join(["1"] * 99) + " > 0"}],
    }
    items = {"type": "array", "items": item, "maxItems": 74_000}
    assert define(server, "pluses", items, [])[0] == 201

    status, answer = create(server, "pluses", [1] * 74_000)

    assert status == 422
    (cause,) = answer["details"]["causes"]
    assert cause["message"] == (
        'Invalid value: "integer": validation failed due to running out of cost budget, no further'
        " validation rules will be run"
    )
    assert cause["field"] == f"spec.a[{RUNTIME_COST_BUDGET // COST_OF_A_SUM}]"


def test_objects_within_the_budget_are_judged_by_all_their_rules(server: RunningServer) -> None:
    bounded = {**INTEGERS, "maxItems": 100}
    rules = [QUADRATIC % -1, "self.a.size() < 5"]
    assert define(server, "smalls", bounded, rules)[0] == 201

    assert create(server, "smalls", [1, 2, 3])[0] == 201
    status, answer = create(server, "smalls", [1] * 9)
    assert status == 422
    assert "failed rule: self.a.size() < 5" in answer["message"]
