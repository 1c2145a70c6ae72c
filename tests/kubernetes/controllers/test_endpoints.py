"""Who stands behind a service, in both forms."""

from typing import Any

from support.simulated.controller_objects import build, pod, timestamp

from podium.kubernetes.controllers.endpoints import (
    MAX_ADDRESSES,
    address_types,
    endpoint_subsets,
    is_selected,
    slice_endpoint,
    truncate_subsets,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Service

PORTS = [{"name": "http", "containerPort": 8080, "protocol": "TCP"}]


def service(**spec: Any) -> Service:
    written = {
        "selector": {"app": "web"},
        "clusterIP": "10.96.0.9",
        "ipFamilies": ["IPv4"],
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}],
        **spec,
    }
    return build(Service, "web", spec=written)


def member(name: str, ip: str, *, ports: Any = PORTS, **more: Any) -> Pod:
    containers = [{"name": "c", "ports": ports}]
    spec = {"containers": containers, **more.pop("spec", {})}
    status = {"podIP": ip, "podIPs": [{"ip": ip}]} if ip else {}
    return pod(name, spec=spec, status=status, labels={"app": "web"}, **more)


def shown(of: Service, *pods: Pod) -> list[Any]:
    """Subsets in short: ready addresses, those that are not, and ports."""
    return [
        (
            [each["ip"] for each in subset.get("addresses", ())],
            [each["ip"] for each in subset.get("notReadyAddresses", ())],
            [(each.get("name", ""), each["port"]) for each in subset.get("ports", ())],
        )
        for subset in endpoint_subsets(of, pods)
    ]


def test_pods_are_listed_by_whether_they_are_ready() -> None:
    pods = [
        member("b", "10.64.0.2"),
        member("a", "10.64.0.1"),
        member("c", "10.64.0.3", ready=False),
        member("starting", ""),
        member("going", "10.64.0.5", deletionTimestamp=timestamp()),
        pod("done", "Succeeded", status={"podIP": "10.64.0.6"}),
    ]
    assert shown(service(), *pods) == [
        (["10.64.0.1", "10.64.0.2"], ["10.64.0.3"], [("", 8080)]),
    ]
    (subset,) = endpoint_subsets(service(), pods[:1])
    assert subset["addresses"] == [
        {
            "ip": "10.64.0.2",
            "nodeName": "n1",
            "targetRef": {"kind": "Pod", "namespace": "ns", "name": "b", "uid": "uid-b"},
        }
    ]


def test_ports_are_found_by_name_and_pods_without_them_left_out() -> None:
    named = service(ports=[{"name": "web", "port": 80, "protocol": "TCP", "targetPort": "http"}])
    other = [{"name": "http", "containerPort": 9090, "protocol": "TCP"}]
    pods = [member("a", "10.64.0.1"), member("b", "10.64.0.2", ports=other)]
    nameless = member("c", "10.64.0.3", ports=[])
    assert shown(named, *pods, nameless) == [
        (["10.64.0.1"], [], [("web", 8080)]),
        (["10.64.0.2"], [], [("web", 9090)]),
    ]


def test_headless_services_need_no_ports_and_may_publish_what_is_not_ready() -> None:
    headless = service(clusterIP="None", ports=None)
    assert shown(headless, member("a", "10.64.0.1")) == [(["10.64.0.1"], [], [])]
    early = service(publishNotReadyAddresses=True)
    pods = [
        member("a", "10.64.0.1", ready=False),
        member("b", "10.64.0.2", deletionTimestamp=timestamp()),
    ]
    assert shown(early, *pods) == [(["10.64.0.1", "10.64.0.2"], [], [("", 8080)])]


def test_pods_of_a_stateful_set_have_their_host_name() -> None:
    named = member("web-0", "10.64.0.1", spec={"hostname": "web-0", "subdomain": "web"})
    (subset,) = endpoint_subsets(service(), [named])
    assert subset["addresses"][0]["hostname"] == "web-0"
    assert slice_endpoint(service(), named, "IPv4", "")["hostname"] == "web-0"


def test_slices_say_what_serves_and_what_is_on_its_way_out() -> None:
    going = member("a", "10.64.0.1", deletionTimestamp=timestamp())
    conditions = slice_endpoint(service(), going, "IPv4", "z")["conditions"]
    assert conditions == {"ready": False, "serving": True, "terminating": True}
    published = service(publishNotReadyAddresses=True)
    assert slice_endpoint(published, going, "IPv4", "z")["conditions"]["ready"] is True


def test_an_empty_selector_selects_everything() -> None:
    assert is_selected(service(selector={}), pod("any"))
    assert not is_selected(service(), pod("any"))


def test_families_follow_the_service() -> None:
    assert address_types(service(ipFamilies=None)) == ["IPv4"]
    assert address_types(service(ipFamilies=None, clusterIP="None")) == ["IPv4", "IPv6"]
    assert address_types(service(ipFamilies=["IPv6"])) == ["IPv6"]


def test_endpoints_hold_a_thousand_addresses_the_ready_ones_first() -> None:
    unready = {"notReadyAddresses": [{"ip": "x"}] * 800}
    kept, truncated = truncate_subsets([unready, {"addresses": [{"ip": "y"}] * 700}])
    assert truncated
    assert [len(each.get("notReadyAddresses", ())) for each in kept] == [300, 0]
    assert len(kept[1]["addresses"]) == 700
    assert truncate_subsets([{"addresses": [{"ip": "y"}] * MAX_ADDRESSES}])[1] is False
