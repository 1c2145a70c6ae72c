"""Creating objects: names, system fields, refusals."""

import re

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Api, config_map, pod


def test_a_new_object_gets_its_system_fields() -> None:
    created = Api().create(CONFIG_MAPS, config_map("c", k="v"))

    metadata = created["metadata"]
    assert metadata["namespace"] == "default"
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f-]{17}", metadata["uid"])
    assert int(metadata["resourceVersion"]) > 1
    assert created["kind"] == "ConfigMap"


def test_system_fields_that_a_client_sends_are_ignored() -> None:
    obj = config_map("c")
    obj["metadata"] |= {
        "uid": "mine",
        "creationTimestamp": "1999-01-01T00:00:00Z",
        "deletionTimestamp": "1999-01-01T00:00:00Z",
        "selfLink": "/x",
    }

    metadata = Api().create(CONFIG_MAPS, obj)["metadata"]

    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert "deletionTimestamp" not in metadata


def test_names_are_made_from_generate_name() -> None:
    api = Api()
    obj = {"metadata": {"generateName": "job-"}}

    names = {api.create(CONFIG_MAPS, obj)["metadata"]["name"] for _ in range(20)}

    assert len(names) == 20
    assert all(re.fullmatch(r"job-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in names)


def test_a_long_generate_name_is_cut_to_fit() -> None:
    obj = {"metadata": {"generateName": "q" * 70}}

    assert len(Api().create(CONFIG_MAPS, obj)["metadata"]["name"]) == 63


def test_a_taken_name_is_refused() -> None:
    api = Api()
    api.create_pod("a")

    answer = api.ask("POST", PODS, pod("a"))

    assert answer.status == 409
    assert answer.body["reason"] == "AlreadyExists"
    assert answer.message == 'pods "a" already exists'


def test_a_dry_run_shows_the_object_and_stores_nothing() -> None:
    api = Api()
    before = api.store.revision

    answer = api.ask("POST", f"{PODS}?dryRun=All", pod("a"))

    assert answer.status == 201
    assert answer.body["status"]["phase"] == "Pending"
    assert "resourceVersion" not in answer.body["metadata"]
    assert api.store.revision == before
    assert api.ask("GET", f"{PODS}/a").status == 404


@pytest.mark.parametrize(
    ("query", "status", "warnings"),
    [
        ("", 201, ['299 - "unknown field \\"spec.foo\\""']),
        ("?fieldValidation=Warn", 201, ['299 - "unknown field \\"spec.foo\\""']),
        ("?fieldValidation=Ignore", 201, []),
        ("?fieldValidation=Strict", 400, []),
    ],
)
def test_unknown_fields_are_told_as_the_client_wishes(
    query: str, status: int, warnings: list[str]
) -> None:
    answer = Api().ask("POST", PODS + query, pod("a", foo=1))

    assert (answer.status, answer.header("warning")) == (status, warnings)


def test_many_warnings_do_not_make_an_endless_header() -> None:
    obj = pod("a")
    obj["spec"] |= {f"unknown{number:04d}": 1 for number in range(1000)}

    answer = Api().ask("POST", PODS, obj)

    assert answer.status == 201
    texts = [header.removeprefix('299 - "')[:-1] for header in answer.header("warning")]
    assert len(texts) == 100
    assert sum(map(len, texts)) <= 4096 + 256


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            {"apiVersion": "v1", "kind": "Node"},
            'Node in version "v1" cannot be handled as a Pod: converting (v1.Node) to (core.Pod):'
            " unknown conversion",
        ),
        (
            {"apiVersion": "apps/v1", "kind": "Pod"},
            'Pod in version "v1" cannot be handled as a Pod: no kind "Pod" is registered for'
            ' version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            [],
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind;"
            " json parse error: json: cannot unmarshal array into Go value of type struct {"
            ' APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
            ' "json:\\"kind,omitempty\\"" } (5b5d)',
        ),
        (
            {"kind": 5},
            "the object provided is unrecognized (must be of type Pod): couldn't get version/kind;"
            " json parse error: json: cannot unmarshal number into Go struct field .kind of type"
            ' string ({"kind": 5})',
        ),
        (
            pod("a") | {"metadata": {"name": "a", "namespace": "other"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
def test_a_body_that_is_something_else_is_refused(body: object, message: str) -> None:
    answer = Api().ask("POST", PODS, body)

    assert (answer.status, answer.message) == (400, message)


def test_a_resource_version_may_not_be_set() -> None:
    obj = config_map("c")
    obj["metadata"]["resourceVersion"] = "5"

    answer = Api().ask("POST", CONFIG_MAPS, obj)

    assert answer.status == 500
    assert answer.message == "resourceVersion should not be set on objects to be created"


def test_yaml_is_taken_too() -> None:
    text = b"metadata: {name: fromyaml}\ndata:\n  key: 'yes'\n"

    answer = Api().ask("POST", CONFIG_MAPS, text, content_type="application/yaml")

    assert answer.status == 201
    assert answer.body["data"] == {"key": "yes"}


def test_services_get_addresses_of_their_own_and_give_them_back() -> None:
    api = Api()
    path = "/api/v1/namespaces/default/services"

    def service(name: str, **spec: object) -> dict[str, object]:
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}

    first = api.create(path, service("a"))["spec"]["clusterIP"]
    second = api.create(path, service("b"))["spec"]["clusterIP"]
    taken = api.ask("POST", path, service("c", clusterIP=first))
    api.delete(f"{path}/a")
    again = api.create(path, service("d", clusterIP=first))["spec"]["clusterIP"]

    assert first != second
    assert taken.status == 422
    assert "provided IP is already allocated" in taken.message
    assert again == first


def test_numbers_that_only_python_can_hold_are_stored_as_floats() -> None:
    api = Api()
    api.create(
        "/apis/apps/v1/namespaces/default/controllerrevisions",
        {"metadata": {"name": "r"}, "revision": 1, "data": {"big": [2**80, -(2**70)]}},
    )

    found = api.get("/apis/apps/v1/namespaces/default/controllerrevisions/r")

    assert found["data"] == {"big": [float(2**80), float(-(2**70))]}


def test_a_broken_protobuf_body_is_refused() -> None:
    answer = Api().ask("POST", PODS, b"k8s", content_type="application/vnd.kubernetes.protobuf")

    assert answer.status == 400
    assert "does not appear to be a protobuf message" in answer.message


def test_an_object_of_the_future_cannot_be_had() -> None:
    api = Api()
    api.create_pod("p")

    assert api.ask("GET", f"{PODS}/p?resourceVersion=99999").status == 504
    assert api.ask("GET", f"{PODS}/p?resourceVersion=abc").status == 500
    assert api.ask("GET", f"{PODS}/p?resourceVersion=0").status == 200
