"""Paths, methods and forms of answers."""

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Api, config_map, pod

from podium.apiserver import protobuf
from podium.kubernetes.schema import schema_of

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/gizmos", 404),
        ("GET", "/apis/apps/v7/deployments", 404),
        ("GET", f"{PODS}/x/frob", 404),
        ("GET", f"{PODS}/x/status/more", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("GET", "/api/v1/pods/x", 404),
        ("POST", f"{PODS}/x", 405),
        ("PUT", PODS, 405),
        ("PATCH", PODS, 405),
        ("POST", "/api/v1/pods", 405),
        ("DELETE", "/api/v1/pods", 405),
        ("DELETE", "/api/v1/namespaces", 405),
        ("POST", "/api/v1/namespaces/default", 405),
        ("GET", f"{PODS}/x/binding", 405),
        ("DELETE", f"{PODS}/x/status", 405),
        ("OPTIONS", PODS, 405),
        ("HEAD", PODS, 405),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews", 405),
        ("POST", "/version", 405),
    ],
)
def test_what_is_not_served_is_told_in_a_status(method: str, path: str, status: int) -> None:
    answer = Api().ask(method, path)

    assert answer.status == status
    assert answer.body["details"] == {}


@pytest.mark.parametrize(
    "path", ["/no/such/path", "/apis/nope.dev", "/apis/nope.dev/v1/things", "/livez/nope"]
)
def test_what_nobody_serves_is_a_plain_404(path: str) -> None:
    answer = Api().ask("GET", path)

    assert (answer.status, answer.text) == (404, b"404 page not found\n")


@pytest.mark.parametrize("path", [f"{PODS}/", "/api/v1/namespaces//pods", "//api//v1//pods"])
def test_superfluous_slashes_do_not_matter(path: str) -> None:
    assert Api().ask("GET", path).body["kind"] == "PodList"


def test_escaped_names_are_names() -> None:
    answer = Api().ask("GET", f"{PODS}/A%20B")

    assert answer.message == 'pods "A B" not found'


def test_an_escaped_slash_is_a_slash() -> None:
    answer = Api().ask("GET", f"{PODS}/A%2Fstatus", token=None)

    assert 'cannot get resource "pods/status"' in answer.message


def test_objects_can_be_had_as_yaml() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", a="1", b="x\ny\n", c=""))

    answer = api.ask("GET", f"{CONFIG_MAPS}/c", accept="application/yaml")

    assert answer.content_type == "application/yaml"
    assert answer.text.startswith(b'apiVersion: v1\ndata:\n  a: "1"\n  b: |\n    x\n    y\n  c: ""')


def test_objects_and_lists_can_be_had_as_protobuf() -> None:
    api = Api()
    api.create(PODS, pod("p"))
    accept = "application/vnd.kubernetes.protobuf"

    one = api.ask("GET", f"{PODS}/p", accept=accept)
    many = api.ask("GET", PODS, accept=accept)
    missing = api.ask("GET", f"{PODS}/nope", accept=accept)

    assert one.content_type == accept
    assert protobuf.decode(one.text).value["spec"]["containers"][0]["image"] == "nginx:1.27"
    assert many.text.startswith(b"k8s\x00")
    assert missing.status == 404
    assert b'pods "nope" not found' in missing.text


def test_protobuf_bodies_are_read() -> None:
    body = protobuf.encode(schema_of("", "v1", "Pod"), pod("p", terminationGracePeriodSeconds=7))

    answer = Api().ask("POST", PODS, body, content_type="application/vnd.kubernetes.protobuf")

    assert answer.status == 201
    assert answer.body["spec"]["terminationGracePeriodSeconds"] == 7


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "Pod"),
        ("*/*", "Pod"),
        ("application/vnd.kubernetes.protobuf,application/json", "Pod"),
        (TABLE, "Table"),
        (f"{TABLE},application/json", "Table"),
        ("application/json;as=Odd;v=v1;g=meta.k8s.io,application/json", "Pod"),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "PartialObjectMetadata"),
        ("application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5", "Table"),
    ],
)
def test_the_best_acceptable_form_is_chosen(accept: str, form: str) -> None:
    api = Api()
    api.create_pod("p")

    assert api.get(f"{PODS}/p", accept=accept)["kind"] == form


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/cbor", "application/json;as=Table;v=v9;g=meta.k8s.io"],
)
def test_an_unacceptable_form_is_406(accept: str) -> None:
    api = Api()
    api.create_pod("p")

    assert api.ask("GET", f"{PODS}/p", accept=accept).status == 406
    assert api.ask("GET", PODS, accept=accept).status == 406


def test_a_table_includes_what_is_asked_for() -> None:
    api = Api()
    api.create_pod("p")

    def included(query: str) -> object:
        row = api.get(f"{PODS}/p{query}", accept=TABLE)["rows"][0]
        return row["object"] and row["object"]["kind"]

    assert included("") == "PartialObjectMetadata"
    assert included("?includeObject=Object") == "Pod"
    assert included("?includeObject=None") is None
    assert api.ask("GET", f"{PODS}/p?includeObject=Odd", accept=TABLE).status == 400


def test_pretty_answers_are_indented() -> None:
    assert b'\n  "kind": "PodList"' in Api().ask("GET", f"{PODS}?pretty=true").text


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_an_unknown_kind_of_body_is_415(content_type: str) -> None:
    answer = Api().ask("POST", PODS, b"x=1", content_type=content_type)

    assert answer.status == 415
    assert answer.message.startswith("the body of the request was in an unknown format")


def test_options_are_checked() -> None:
    api = Api()

    dry = api.ask("POST", f"{PODS}?dryRun=Some", pod("p"))
    manager = api.ask("POST", f"{PODS}?fieldManager=a%0Ab", pod("p"))
    long = api.ask("POST", f"{PODS}?fieldManager={'m' * 129}", pod("p"))
    validation = api.ask("POST", f"{PODS}?fieldValidation=Odd", pod("p"))

    assert 'dryRun: Unsupported value: ["Some"]' in dry.message
    assert "invalid character" in manager.message
    assert "Too long: may not be more than 128 bytes" in long.message
    assert validation.status == 422


def test_discovery_is_there_in_parts_and_in_one() -> None:
    api = Api()
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

    groups = [each["name"] for each in api.get("/apis")["groups"]]
    core = api.get("/api/v1")
    whole = api.ask("GET", "/apis", accept=accept)

    assert "apps" in groups
    assert "" not in groups
    assert "pods/binding" in [each["name"] for each in core["resources"]]
    assert "apiVersion" not in core
    assert whole.content_type == accept
    assert {item["metadata"]["name"] for item in whole.body["items"]} == set(groups)
    assert api.get("/apis/apps")["preferredVersion"]["groupVersion"] == "apps/v1"
    assert api.get("/api")["versions"] == ["v1"]


def test_every_resource_is_documented_for_kubectl() -> None:
    api = Api()
    index = api.get("/openapi/v3")["paths"]

    for group in api.get("/apis")["groups"]:
        assert f"apis/{group['preferredVersion']['groupVersion']}" in index
    assert "paths" in api.get("/openapi/v3/apis/apps/v1")
    assert api.ask("GET", "/openapi/v3/apis/nope/v1").status == 404
    assert api.ask("GET", "/openapi/v2").status == 200
    kubectl = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
    answered = api.ask("GET", "/openapi/v2", accept=kubectl).content_type
    assert answered == kubectl.replace("@", ".")


def test_health_is_told_in_detail_when_asked() -> None:
    api = Api()

    assert api.ask("GET", "/readyz").text == b"ok"
    assert b"[+]ping ok" in api.ask("GET", "/livez?verbose").text
    api.service.others.is_ready = False
    assert api.ask("GET", "/readyz").status == 500
    assert api.ask("GET", "/livez").status == 200


def test_the_version_is_that_of_the_kubernetes_it_behaves_as() -> None:
    assert Api().get("/version")["gitVersion"].startswith("v1.36.")
