"""Definitions, classes, webhooks and policies keep to the budget of `test_budget`, and so do the
requests of others while they are there."""

import pytest
from support.apiserver.metered_server import Meter
from support.suite.slow_cases import few_of

from podium.bench.hostile_definitions import DEFINITIONS, collection_of

THINGS = "/apis/hostile.example.com/v1/namespaces/ns/things"
THING = {
    "apiVersion": "hostile.example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "a"},
    "spec": {"n": 3, "s": "aaa"},
}


@pytest.mark.parametrize("what", few_of(DEFINITIONS, 4))
def test_a_definition_of_any_size_is_kept_within_the_budget(what: str) -> None:
    body = DEFINITIONS[what]
    path = collection_of(body)
    meter = Meter()

    if meter.ask("create", "POST", path, body).status == 201:
        meter.ask("a thing", "POST", THINGS, THING)
        meter.ask("its table", "GET", THINGS, accept="application/json;as=Table;g=meta.k8s.io;v=v1")
        meter.ask("discovery", "GET", "/apis/hostile.example.com/v1")
        meter.ask("OpenAPI", "GET", "/openapi/v3/apis/hostile.example.com/v1")
        pod = {"metadata": {"name": "z"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        meter.ask("another's pod", "POST", "/api/v1/namespaces/ns/pods?dryRun=All", pod)
        meter.ask("delete", "DELETE", f"{path}/{body['metadata']['name']}")

    assert meter.beyond_budget() == {}
