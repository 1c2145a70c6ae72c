"""Names that mean something else in a path are refused before anything is looked for."""

import pytest
from support.apiserver.api_calls import APPLY, CONFIG_MAPS, MERGE, PODS, Api


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{PODS}/%2e%2e"),
        ("GET", f"{PODS}/.."),
        ("GET", f"{PODS}/%2e%2e/status"),
        ("GET", f"{PODS}/%2e%2e/log"),
        ("DELETE", f"{PODS}/%2e%2e"),
        ("GET", "/apis/apps/v1/namespaces/default/deployments/%2e%2e/scale"),
    ],
)
def test_two_dots_are_no_name(method: str, path: str) -> None:
    answer = Api().ask(method, path)
    assert (answer.status, answer.message) == (
        400,
        "Name parameter invalid: \"..\": may not be '..'",
    )


def test_a_percent_sign_is_in_no_name() -> None:
    answer = Api().ask("GET", f"{PODS}/a%25b")
    assert (answer.status, answer.message) == (
        400,
        "Name parameter invalid: \"a%b\": may not contain '%'",
    )


@pytest.mark.parametrize(
    ("method", "query", "content_type"),
    [
        ("PUT", "", "application/json"),
        ("PATCH", "", MERGE),
        ("PATCH", "?fieldManager=m", APPLY),
    ],
)
def test_nothing_is_written_under_such_a_name(method: str, query: str, content_type: str) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ".."}}
    answer = Api().ask(method, f"{CONFIG_MAPS}/%2e%2e{query}", body, content_type=content_type)
    assert answer.status == 400
    assert answer.message.startswith("Name parameter invalid")


def test_a_name_that_nobody_has_is_still_not_found() -> None:
    assert Api().ask("GET", f"{PODS}/a%3Fb").status == 404
