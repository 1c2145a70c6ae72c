"""APIServices: those that the server registers, what discovery makes of them, their conditions."""

from typing import Any

import pytest
from support.apiserver.api_calls import Api
from support.apiserver.hooked_api import HookedApi

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LABEL = "kube-aggregator.kubernetes.io/automanaged"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def definition(**versions: bool) -> dict[str, Any]:
    """Of widgets; each version says whether it is served."""
    listed = [
        {
            "name": name,
            "served": served,
            "storage": index == 0,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        }
        for index, (name, served) in enumerate(versions.items())
    ]
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "x.dev", "scope": "Namespaced", "names": names, "versions": listed}
    return {"metadata": {"name": "widgets.x.dev"}, "spec": spec}


def api_service(group: str = "remote.dev", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": f"v1.{group}"},
        "spec": {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 500,
            "versionPriority": 10,
            **spec,
        },
    }


def names(api: Api) -> list[str]:
    return [each["metadata"]["name"] for each in api.ask("GET", SERVICES).body["items"]]


def groups(api: Api) -> list[str]:
    return [each["name"] for each in api.ask("GET", "/apis").body["groups"]]


def test_every_group_version_of_the_server_is_registered() -> None:
    api = Api()

    served = {"v1."} | {
        f"{version['version']}.{group['name']}"
        for group in api.ask("GET", "/apis").body["groups"]
        for version in group["versions"]
    }

    assert set(names(api)) == served - {"v1.apiregistration.k8s.io"}


def test_a_registered_one_says_its_place_and_that_it_is_available() -> None:
    found = Api().ask("GET", f"{SERVICES}/v1.apps").body

    assert found["metadata"]["labels"] == {LABEL: "onstart"}
    assert found["spec"] == {
        "group": "apps",
        "version": "v1",
        "groupPriorityMinimum": 17800,
        "versionPriority": 15,
    }
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Available", "True")
    assert (condition["reason"], condition["message"]) == (
        "Local",
        "Local APIServices are always available",
    )


def test_groups_are_told_in_the_order_of_their_priorities() -> None:
    api = Api()
    api.create(SERVICES, api_service("early.dev", groupPriorityMinimum=17790))

    told = groups(api)

    assert told[:4] == ["apiregistration.k8s.io", "apps", "early.dev", "events.k8s.io"]
    assert told[-1] == "flowcontrol.apiserver.k8s.io"


def test_versions_are_told_in_the_order_of_their_priorities() -> None:
    versions = Api().ask("GET", "/apis/autoscaling").body["versions"]

    assert [each["version"] for each in versions] == ["v2", "v1"]


def test_definitions_bring_theirs_and_take_them_along() -> None:
    api = Api()
    before = set(names(api))
    api.create(DEFINITIONS, definition(v1=True, v1beta1=True, v1alpha1=False))

    assert set(names(api)) - before == {"v1.x.dev", "v1beta1.x.dev"}
    found = api.ask("GET", f"{SERVICES}/v1.x.dev").body
    assert found["metadata"]["labels"] == {LABEL: "true"}
    assert found["spec"]["groupPriorityMinimum"] == 1000
    assert groups(api)[-1] == "x.dev"

    api.ask("DELETE", f"{DEFINITIONS}/widgets.x.dev")
    assert set(names(api)) == before
    assert "x.dev" not in groups(api)


def test_one_of_a_definition_comes_back_as_it_was() -> None:
    api = Api()
    api.create(DEFINITIONS, definition(v1=True))
    found = api.ask("GET", f"{SERVICES}/v1.x.dev").body
    found["spec"]["groupPriorityMinimum"] = 5
    api.ask("PUT", f"{SERVICES}/v1.x.dev", found)
    assert api.ask("GET", f"{SERVICES}/v1.x.dev").body["spec"]["groupPriorityMinimum"] == 1000

    api.ask("DELETE", f"{SERVICES}/v1.x.dev")

    assert "v1.x.dev" in names(api)


def test_one_of_the_server_is_missed_until_it_starts_again() -> None:
    api = Api()
    api.ask("DELETE", f"{SERVICES}/v1.batch")

    assert "batch" not in groups(api)
    assert api.ask("GET", "/apis/batch/v1").status == 200
    api.service.api_services.register_built_in({})
    assert "batch" in groups(api)


def test_one_for_which_nobody_serves_is_told_and_not_found() -> None:
    api = Api()
    api.create(SERVICES, api_service("local.dev"))

    assert "local.dev" in groups(api)
    assert api.ask("GET", "/apis/local.dev/v1").status == 404
    aggregated = api.ask("GET", "/apis", accept=AGGREGATED).body["items"]
    assert "local.dev" not in [each["metadata"]["name"] for each in aggregated]


@pytest.mark.parametrize(
    ("service", "slices", "reason", "message"),
    [
        (None, [], "ServiceNotFound", 'service/s in "default" is not present'),
        (8080, [], "ServicePortError", 'service/s in "default" is not listening on port 443'),
        (443, [], "EndpointsNotFound", 'cannot find endpointslices for service/s in "default"'),
        (
            443,
            [{"addresses": ["10.1.0.1"], "conditions": {"ready": False}}],
            "MissingEndpoints",
            'endpointslices for service/s in "default" have no addresses with port name "https"',
        ),
    ],
)
def test_one_whose_service_cannot_be_asked_says_why(
    service: int | None, slices: list[Any], reason: str, message: str
) -> None:
    api = Api()
    if service is not None:
        spec = {"ports": [{"name": "https", "port": service}]}
        path = "/api/v1/namespaces/default/services"
        api.create(path, {"metadata": {"name": "s"}, "spec": spec})
    if slices:
        labels = {"kubernetes.io/service-name": "s"}
        api.create(
            "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
            {
                "metadata": {"name": "s-1", "labels": labels},
                "addressType": "IPv4",
                "ports": [{"name": "https", "port": 8443}],
                "endpoints": slices,
            },
        )
    api.create(SERVICES, api_service(service={"namespace": "default", "name": "s"}))

    found = api.ask("GET", f"{SERVICES}/v1.remote.dev").body
    (condition,) = found["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", reason)
    assert condition["message"] == message
    assert found["spec"]["service"]["port"] == 443


def test_requests_for_a_service_that_cannot_be_asked_are_refused() -> None:
    api = HookedApi()
    api.create(SERVICES, api_service(service={"namespace": "default", "name": "s"}))

    for path in ("/apis/remote.dev/v1", "/apis/remote.dev/v1/things"):
        answer = api.ask("GET", path)
        assert (answer.status, answer.text) == (503, b"service unavailable\n")
    assert api.ask("GET", "/apis/remote.dev").body["preferredVersion"]["version"] == "v1"
    items = api.ask("GET", "/apis", accept=AGGREGATED).body["items"]
    assert items[-1]["versions"] == [{"version": "v1", "freshness": "Stale"}]


def test_the_table_shows_who_serves_and_whether() -> None:
    api = Api()
    api.create(SERVICES, api_service(service={"namespace": "default", "name": "s"}))

    rows = api.ask("GET", SERVICES, accept=TABLE).body["rows"]

    shown = {row["cells"][0]: row["cells"][1:3] for row in rows}
    assert shown["v1.apps"] == ["Local", "True"]
    assert shown["v1.remote.dev"] == ["default/s", "False (ServiceNotFound)"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": "v2"}, 'must be `spec.version+"."+spec.group`: "v2.remote.dev"'),
        ({"groupPriorityMinimum": 0}, "spec.groupPriorityMinimum: Invalid value: 0: must be"),
        ({"versionPriority": 1001}, "spec.versionPriority: Invalid value: 1001: must be positive"),
        (
            {"insecureSkipTLSVerify": True},
            "local APIServices may not have insecureSkipTLSVerify",
        ),
        ({"caBundle": "YWJj"}, 'Invalid value: "3 bytes": local APIServices may not have a'),
        ({"service": {"name": "s"}}, "spec.service.namespace: Required value"),
        (
            {"service": {"name": "s", "namespace": "n", "port": 70000}},
            "spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and",
        ),
    ],
)
def test_mistakes_are_told(change: dict[str, Any], problem: str) -> None:
    answer = Api().ask("POST", SERVICES, api_service(**change))

    assert answer.status == 422
    assert problem in answer.message


def test_a_status_is_written_by_its_own_path() -> None:
    api = Api()
    api.create(SERVICES, api_service(service={"namespace": "default", "name": "s"}))
    found = api.ask("GET", f"{SERVICES}/v1.remote.dev").body
    found["spec"]["versionPriority"] = 77
    found["status"]["conditions"][0]["status"] = "Perhaps"

    answer = api.ask("PUT", f"{SERVICES}/v1.remote.dev/status", found)

    assert 'status.conditions[0].status: Unsupported value: "Perhaps"' in answer.message
    assert api.ask("GET", f"{SERVICES}/v1.remote.dev").body["spec"]["versionPriority"] == 10
