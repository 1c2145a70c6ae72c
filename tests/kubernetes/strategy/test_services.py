"""Addresses and node ports of services."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.smallest_objects import smallest
from support.apiserver.written_objects import Object, Shelf, read, resource_of

from podium.kubernetes.strategy import ServiceAddresses

SERVICE = resource_of("Service")


def service(uid: str, **spec: Any) -> Object:
    written = smallest(SERVICE)
    obj = read(SERVICE, {**written, "spec": {**written["spec"], **spec}})
    obj["metadata"]["uid"] = uid
    return obj


def allocated(addresses: ServiceAddresses, uid: str, **spec: Any) -> Object:
    obj = service(uid, **spec)
    assert addresses.allocate(obj) == []
    found: Object = obj["spec"]
    return found


def test_addresses_are_handed_out_in_order_behind_the_server_s_own() -> None:
    addresses = ServiceAddresses()
    found = [allocated(addresses, uid)["clusterIP"] for uid in "abc"]
    assert found == ["10.0.0.2", "10.0.0.3", "10.0.0.4"]


def test_a_service_gets_one_address_of_one_family() -> None:
    spec = allocated(ServiceAddresses(), "a")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")


def test_headless_services_get_no_address() -> None:
    spec = allocated(ServiceAddresses(), "a", clusterIP="None", selector={"a": "b"})
    assert (spec["clusterIP"], spec["ipFamilies"]) == ("None", ["IPv4"])
    spec = allocated(ServiceAddresses(), "a", clusterIP="None")
    assert spec["ipFamilyPolicy"] == "RequireDualStack"


def test_an_address_that_was_asked_for_is_granted_if_it_is_free_and_in_range() -> None:
    addresses = ServiceAddresses()
    assert allocated(addresses, "a", clusterIP="10.0.0.9")["clusterIP"] == "10.0.0.9"
    (taken,) = addresses.allocate(service("b", clusterIP="10.0.0.9"))
    assert str(taken) == (
        'spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: '
        "provided IP is already allocated"
    )
    (outside,) = addresses.allocate(service("b", clusterIP="192.0.2.1"))
    assert "is not in the valid range. The range of valid IPs is 10.0.0.0/24" in str(outside)


def test_node_ports_come_from_their_range_and_are_not_given_twice() -> None:
    addresses = ServiceAddresses()
    first = allocated(addresses, "a", type="NodePort")["ports"][0]["nodePort"]
    second = allocated(addresses, "b", type="NodePort")["ports"][0]["nodePort"]
    assert first != second
    assert all(30000 <= port <= 32767 for port in (first, second))
    (taken,) = addresses.allocate(
        service("c", type="NodePort", ports=[{"port": 1, "nodePort": first}])
    )
    assert str(taken) == (
        f"spec.ports[0].nodePort: Invalid value: {first}: provided port is already allocated"
    )
    (outside,) = addresses.allocate(
        service("c", type="NodePort", ports=[{"port": 1, "nodePort": 80}])
    )
    assert "The range of valid ports is 30000-32767" in str(outside)


def test_what_is_released_can_be_had_again() -> None:
    addresses = ServiceAddresses()
    wish = {"type": "NodePort", "clusterIP": "10.0.0.7", "ports": [{"port": 1, "nodePort": 30007}]}
    first = service("a", **wish)
    assert addresses.allocate(first) == []
    addresses.release(first)
    allocated(addresses, "b", **wish)


def test_services_that_are_adopted_keep_what_they_have() -> None:
    addresses = ServiceAddresses()
    addresses.adopt(service("a", clusterIP="10.0.0.2", clusterIPs=["10.0.0.2"]))
    assert allocated(addresses, "b")["clusterIP"] == "10.0.0.3"
    assert allocated(addresses, "a", clusterIP="10.0.0.2")["clusterIP"] == "10.0.0.2"


def test_a_dry_run_takes_nothing() -> None:
    addresses = ServiceAddresses()
    assert addresses.allocate(service("a", clusterIP="10.0.0.9"), dry_run=True) == []
    allocated(addresses, "b", clusterIP="10.0.0.9")


def test_external_names_need_nothing() -> None:
    spec = allocated(ServiceAddresses(), "a", type="ExternalName", externalName="example.com")
    assert "clusterIP" not in spec


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured'
            " for dual-stack services",
        ),
        (
            {"ipFamilies": ["IPv6"]},
            'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
        ),
        (
            {"clusterIP": "fd00::1", "clusterIPs": ["fd00::1"]},
            'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this'
            " cluster",
        ),
        (
            {"ipFamilies": ["IPv4", "IPv6"]},
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or"
            " 'PreferDualStack' when multiple IP families are specified",
        ),
    ],
)
def test_addresses_of_the_other_family_are_refused(spec: Object, text: str) -> None:
    (error,) = ServiceAddresses().allocate(service("a", **spec))
    assert str(error) == text


def test_two_families_are_fine_where_one_will_do() -> None:
    spec = allocated(ServiceAddresses(), "a", ipFamilyPolicy="PreferDualStack")
    assert spec["ipFamilies"] == ["IPv4"]


def test_a_full_range_is_an_error_and_not_an_empty_address() -> None:
    addresses = ServiceAddresses()
    found = {allocated(addresses, str(index))["clusterIP"] for index in range(253)}
    assert len(found) == 253
    (error,) = addresses.allocate(service("last"))
    assert "range is full" in str(error)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=30))
@settings(max_examples=60, deadline=None)
def test_no_two_services_ever_share_an_address_or_a_port(steps: list[tuple[int, bool]]) -> None:
    addresses = ServiceAddresses()
    held: dict[int, Object] = {}
    for uid, comes in steps:
        if comes and uid not in held:
            held[uid] = service(str(uid), type="NodePort")
            assert addresses.allocate(held[uid]) == []
        elif not comes and uid in held:
            addresses.release(held.pop(uid))
    specs = [each["spec"] for each in held.values()]
    assert len({spec["clusterIP"] for spec in specs}) == len(specs)
    assert len({spec["ports"][0]["nodePort"] for spec in specs}) == len(specs)


def stored(**spec: Any) -> tuple[Shelf, Object]:
    shelf = Shelf()
    shelf.add_namespace("ns")
    written = smallest(SERVICE)
    return shelf, shelf.create(SERVICE, "ns", {**written, "spec": {**written["spec"], **spec}})


def test_an_update_that_leaves_addresses_out_keeps_them() -> None:
    shelf, old = stored(type="NodePort")
    written = smallest(SERVICE)
    written["spec"] = {**written["spec"], "type": "NodePort"}
    new = shelf.update(SERVICE, "", old, written)
    assert new["spec"] == old["spec"]


def test_a_service_that_is_no_longer_on_node_ports_gives_them_up() -> None:
    shelf, old = stored(type="NodePort")
    new = shelf.patch(SERVICE, "", old, {"spec": {"type": "ClusterIP"}})
    assert "nodePort" not in new["spec"]["ports"][0]
    assert "externalTrafficPolicy" not in new["spec"]
    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]


def test_a_service_that_becomes_an_external_name_gives_its_address_up() -> None:
    shelf, old = stored()
    change = {"type": "ExternalName", "externalName": "example.com"}
    new = shelf.patch(SERVICE, "", old, {"spec": change})
    assert not {"clusterIP", "clusterIPs", "ipFamilies"} & set(new["spec"])
