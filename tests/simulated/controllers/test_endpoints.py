"""Endpoints and endpoint slices follow services and their pods."""

from typing import Any

from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    patches,
    pod,
    shown,
)

from podium.kubernetes.controllers import endpoint_slices, endpoints
from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Endpoints, EndpointSlice, Service
from podium.simulated.informers import Informers


def service(**spec: Any) -> Service:
    written = {
        "selector": {"app": "web"},
        "clusterIP": "10.96.0.9",
        "ipFamilies": ["IPv4"],
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}],
        **spec,
    }
    return build(Service, "web", metadata={"labels": {"team": "a"}}, spec=written)


def member(number: int, **more: Any) -> Pod:
    status = {"podIP": f"10.64.{number // 250}.{number % 250 + 1}"}
    return pod(f"web-{number:03}", labels={"app": "web"}, status=status, **more)


def zone(_: str) -> str:
    return "z1"


def slices_of(made: Plan) -> list[EndpointSlice]:
    """The slices that a plan makes, as the server would store them."""
    return [
        build(
            EndpointSlice,
            f"web-{at}",
            **{key: value for key, value in body.items() if key not in ("apiVersion", "kind")},
        )
        for at, body in enumerate(creations(made))
    ]


def test_endpoints_are_made_for_services_with_selectors_only() -> None:
    made = endpoints.decide(service(), [member(1)], None)
    (body,) = creations(made)
    assert body["metadata"]["name"] == "web"
    assert body["metadata"]["labels"] == {
        "team": "a",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }
    assert [each["ip"] for each in body["subsets"][0]["addresses"]] == ["10.64.0.2"]
    for other in (service(selector=None), service(type="ExternalName")):
        assert shown(endpoints.decide(other, [], None)) == []
        assert shown(endpoint_slices.decide(other, [], [], zone)) == []


def test_endpoints_are_written_when_they_change() -> None:
    (body,) = creations(endpoints.decide(service(), [member(1)], None))
    known = build(Endpoints, "web", metadata=body["metadata"], subsets=body["subsets"])
    assert shown(endpoints.decide(service(), [member(1)], known)) == []
    (patch,) = patches(endpoints.decide(service(clusterIP="None"), [], known))
    assert patch.body["subsets"] is None
    assert patch.body["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_endpoints_go_with_their_service_unless_somebody_else_made_them() -> None:
    informers = Informers()
    controller = endpoints.EndpointsController(informers)
    informers.endpoints.put(build(Endpoints, "own"))
    assert shown(controller.plan(("ns", "own"), moment())) == []
    marked = {"labels": {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}}
    informers.endpoints.put(build(Endpoints, "web", metadata=marked))
    assert shown(controller.plan(("ns", "web"), moment())) == ["-endpoints web"]


def test_a_slice_holds_a_hundred_endpoints() -> None:
    pods = [member(number) for number in range(250)]
    made = slices_of(endpoint_slices.decide(service(), pods, [], zone))
    assert [len(each.endpoints or ()) for each in made] == [100, 100, 50]
    assert made[0].ports == ({"name": "", "port": 8080, "protocol": "TCP"},)
    assert (made[0].endpoints or ())[0]["zone"] == "z1"
    assert shown(endpoint_slices.decide(service(), pods, made, zone)) == []


def test_only_the_slice_is_written_in_which_something_changed() -> None:
    pods = [member(number) for number in range(150)]
    made = slices_of(endpoint_slices.decide(service(), pods, [], zone))
    changed = [member(0, ready=False), *pods[1:]]
    assert shown(endpoint_slices.decide(service(), changed, made, zone)) == [
        "~endpointslices web-0"
    ]
    more = [*pods, member(200)]
    assert shown(endpoint_slices.decide(service(), more, made, zone)) == ["~endpointslices web-1"]
    fewer = endpoint_slices.decide(service(), pods[:100], made, zone)
    assert shown(fewer) == ["-endpointslices web-1"]


def test_a_service_without_pods_keeps_one_empty_slice() -> None:
    (empty,) = slices_of(endpoint_slices.decide(service(), [], [], zone))
    assert (empty.endpoints or (), empty.ports or ()) == ((), ())
    assert shown(endpoint_slices.decide(service(), [], [empty], zone)) == []
    first = endpoint_slices.decide(service(), [member(1)], [empty], zone)
    assert shown(first) == ["+endpointslices web-*", "-endpointslices web-0"]


def test_a_pod_wakes_the_services_that_select_it() -> None:
    informers = Informers()
    woken: list[Any] = []
    endpoints.wake_services(informers, woken.append)
    informers.services.put(service())
    informers.services.put(build(Service, "other", spec={"selector": {"app": "db"}}))
    woken.clear()
    informers.pods.put(member(1))
    assert woken == [("ns", "web")]
    woken.clear()
    informers.pods.put(member(1, resourceVersion="2", annotations={"note": "x"}))
    assert woken == []
