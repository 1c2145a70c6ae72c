"""`default/kubernetes`: there from the start, and again when somebody has deleted it."""

from random import Random

import pytest
from support.apiserver.api_calls import START, TOKEN, Api

from podium.apiserver.access.tokens import Tokens
from podium.apiserver.requests.registry import Registry
from podium.apiserver.serving.assembly import build_service
from podium.apiserver.serving.own_service import Advertised
from podium.apiserver.serving.server import find_advertised_address
from podium.apiserver.store.store import Store
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.testing import FakeClock

SERVICES = "/api/v1/namespaces/default/services"


def test_the_service_is_there_from_the_start() -> None:
    service = Api().get(f"{SERVICES}/kubernetes")
    assert service["metadata"]["labels"] == {"component": "apiserver", "provider": "kubernetes"}
    assert service["spec"] == {
        "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
        "clusterIP": "10.0.0.1",
        "clusterIPs": ["10.0.0.1"],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "internalTrafficPolicy": "Cluster",
    }


def test_it_comes_back_when_it_is_deleted() -> None:
    api = Api()
    before = api.get(f"{SERVICES}/kubernetes")["metadata"]["uid"]
    watching = api.watch(f"{SERVICES}?watch=1&resourceVersion={api.store.revision}")

    deleted = api.delete(f"{SERVICES}/kubernetes")

    assert deleted["metadata"]["uid"] == before
    again = api.get(f"{SERVICES}/kubernetes")
    assert again["metadata"]["uid"] != before
    assert again["spec"]["clusterIP"] == "10.0.0.1"
    assert watching.seen() == [("DELETED", "kubernetes"), ("ADDED", "kubernetes")]


def test_nobody_else_gets_its_address() -> None:
    spec = {"clusterIP": "10.0.0.1", "ports": [{"port": 80}]}
    answer = Api().ask("POST", SERVICES, {"metadata": {"name": "a"}, "spec": spec})
    assert answer.status == 422
    assert "provided IP is already allocated" in answer.message


def registry_at(store: Store, address: str, port: int) -> Registry:
    return build_service(
        store,
        Tokens(TOKEN),
        clock=FakeClock(START),
        randomness=Random(7),
        advertised=Advertised(address, port),
        gates=FeatureGates(),
    ).registry


@pytest.mark.parametrize(("address", "family"), [("192.0.2.7", "IPv4"), ("2001:db8::7", "IPv6")])
def test_its_endpoints_say_where_the_server_is(address: str, family: str) -> None:
    registry = registry_at(Store(), address, 6444)
    endpoints = registry.lookup.find("", "endpoints", "default", "kubernetes")
    assert endpoints is not None
    port = {"name": "https", "port": 6444, "protocol": "TCP"}
    assert endpoints["subsets"] == [{"addresses": [{"ip": address}], "ports": [port]}]
    slice_ = registry.lookup.find("discovery.k8s.io", "endpointslices", "default", "kubernetes")
    assert slice_ is not None
    assert slice_["addressType"] == family
    assert slice_["endpoints"] == [{"addresses": [address], "conditions": {"ready": True}}]
    assert slice_["ports"] == [port]


def test_a_server_that_moved_says_so() -> None:
    store = Store()
    registry_at(store, "192.0.2.7", 6444)
    endpoints = registry_at(store, "192.0.2.8", 6445).lookup.find(
        "", "endpoints", "default", "kubernetes"
    )
    assert endpoints is not None
    [subset] = endpoints["subsets"]
    assert (subset["addresses"], subset["ports"][0]["port"]) == ([{"ip": "192.0.2.8"}], 6445)


def test_an_address_of_its_own_is_advertised_as_it_is() -> None:
    assert find_advertised_address("192.0.2.7") == "192.0.2.7"


def test_loopback_is_never_advertised() -> None:
    assert find_advertised_address("127.0.0.1") != "127.0.0.1"
