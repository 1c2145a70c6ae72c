"""Webhooks that are named by a service: where it leads."""

from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, Api, config_map
from support.apiserver.hooked_api import HookedApi, hook
from support.apiserver.webhook_server import webhook_server

from podium.apiserver.http.outside_services import Address, Unresolved, resolve_service

SERVICES = "/api/v1/namespaces/hooks/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/hooks/endpointslices"
ENDPOINTS = "/api/v1/namespaces/hooks/endpoints"
REFERENCE = {"namespace": "hooks", "name": "s", "port": 443}


@pytest.fixture
def api() -> Api:
    api = HookedApi()
    api.create("/api/v1/namespaces", {"metadata": {"name": "hooks"}})
    return api


def add_service(api: Api, **spec: Any) -> None:
    ports = [{"name": "https", "port": 443, "targetPort": 8443}]
    api.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": ports, **spec}})


def add_slice(api: Api, *endpoints: dict[str, Any]) -> None:
    api.create(
        SLICES,
        {
            "metadata": {"name": "s-1", "labels": {"kubernetes.io/service-name": "s"}},
            "addressType": "IPv4",
            "ports": [{"name": "https", "port": 8443}],
            "endpoints": list(endpoints),
        },
    )


def test_a_service_leads_to_an_endpoint_that_is_ready(api: Api) -> None:
    add_service(api)
    add_slice(
        api,
        {"addresses": ["10.1.0.1"], "conditions": {"ready": False}},
        {"addresses": ["10.1.0.2"]},
    )

    assert resolve_service(api.registry.lookup, REFERENCE) == Address("10.1.0.2", 8443)


def test_endpoints_count_where_there_are_no_slices(api: Api) -> None:
    add_service(api)
    subset = {"addresses": [{"ip": "10.1.0.3"}], "ports": [{"name": "https", "port": 9443}]}
    api.create(ENDPOINTS, {"metadata": {"name": "s"}, "subsets": [subset]})

    assert resolve_service(api.registry.lookup, REFERENCE) == Address("10.1.0.3", 9443)


def test_a_service_that_leads_nowhere_says_why(api: Api) -> None:
    def problem(**change: Any) -> str:
        with pytest.raises(Unresolved) as found:
            resolve_service(api.registry.lookup, {**REFERENCE, **change})
        return str(found.value)

    assert problem() == 'service "s" not found'
    add_service(api)
    assert problem() == 'no endpoints available for service "s"'
    assert problem(port=8080) == 'no service port 8080 found for service "s"'


def test_an_external_name_is_called_under_the_name_of_the_service(api: HookedApi) -> None:
    with webhook_server("s.hooks.svc") as server:
        ports = [{"name": "https", "port": 443, "targetPort": server.port}]
        add_service(api, type="ExternalName", externalName="localhost", ports=ports)
        client = server.at("/v")
        reference = {"namespace": "hooks", "name": "s", "path": "/v"}
        api.validated_by(hook({"service": reference, "caBundle": client["caBundle"]}))

        api.create(CONFIG_MAPS, config_map("x"))

    (seen,) = server.seen
    assert seen.headers["host"] == "s.hooks.svc:443"
    assert seen.path == "/v?timeout=10s"


def test_a_service_that_is_not_there_fails_the_write(api: HookedApi) -> None:
    api.validated_by(hook({"service": REFERENCE}))

    answer = api.ask("POST", CONFIG_MAPS, config_map("x"))

    url = "https://s.hooks.svc:443/?timeout=10s"
    assert answer.message == (
        'Internal error occurred: failed calling webhook "a.hook.example": failed to call webhook:'
        f' Post "{url}": service "s" not found'
    )
