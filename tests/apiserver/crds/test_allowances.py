"""Small schemas and objects that ask for much work are refused before it is done."""

from typing import Any

import pytest
from support.apiserver.api_calls import Api

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GIZMOS = "/apis/x.dev/v1/namespaces/default/gizmos"


def serve(spec: dict[str, Any]) -> Api:
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    api = Api()
    api.create(
        DEFINITIONS,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "gizmos.x.dev"},
            "spec": {
                "group": "x.dev",
                "scope": "Namespaced",
                "names": {"plural": "gizmos", "kind": "Gizmo"},
                "versions": [version],
            },
        },
    )
    return api


def refuse(api: Api, spec: Any) -> tuple[int, str]:
    gizmo = {"apiVersion": "x.dev/v1", "kind": "Gizmo", "metadata": {"name": "a"}, "spec": spec}
    answer = api.ask("POST", GIZMOS, gizmo)
    return answer.status, answer.message


def listing(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "array", "items": item}}}


@pytest.mark.parametrize(
    ("item", "value"),
    [
        ({"type": "integer", "anyOf": [{"minimum": n} for n in range(100)]}, -1),
        ({"type": "string", "enum": [str(n) for n in range(5_000)]}, "x"),
        (
            {
                "type": "object",
                "required": [f"r{n}" for n in range(1_000)],
                "properties": {f"r{n}": {"type": "integer"} for n in range(1_000)},
            },
            {},
        ),
    ],
)
def test_checks_are_counted(item: dict[str, Any], value: Any) -> None:
    status, told = refuse(serve(listing(item)), {"a": [value] * 2_000})

    assert status == 422
    assert told.endswith("<nil>: Forbidden: exceeded max number of checks (150000)")


def test_values_that_defaults_would_add_are_counted() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}, "default": list(range(1_000))}
    api = serve(listing({"type": "object", "properties": {"d": numbers}}))

    assert refuse(api, {"a": [{}] * 1_000}) == (400, "exceeded max number of checks (150000)")


def test_objects_of_too_many_values_are_refused() -> None:
    status, told = refuse(serve(listing({"type": "integer"})), {"a": [1] * 75_001})

    assert status == 400
    assert "exceeded max number of values (75000)" in told


def test_matching_is_counted_by_characters_and_instructions() -> None:
    api = serve({"type": "object", "properties": {"a": {"type": "string", "pattern": "a{999}b"}}})

    status, told = refuse(api, {"a": "a" * 100_000})

    assert status == 422
    assert told.endswith("spec.a in body should match 'a{999}b'")


def test_patterns_of_a_definition_are_counted_by_instructions() -> None:
    patterns = {f"p{n}": {"type": "string", "pattern": rf"\pL{{19}}x{{{n}}}"} for n in range(20)}
    with pytest.raises(AssertionError, match="expression too large"):
        serve({"type": "object", "properties": patterns})
