"""Custom resources come with their definition and go with it."""

from support.apiserver.api_calls import JSON_PATCH, MERGE, STRATEGIC, Api, Json

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "example.com"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"


def definition(**version: object) -> Json:
    spec = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "replicas": {"type": "integer", "default": 1},
                    "queue": {"type": "string"},
                },
            },
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
        },
    }
    return {
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things", "shortNames": ["th"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": spec},
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                        },
                    },
                    **version,
                }
            ],
        },
    }


def defined(**version: object) -> Api:
    api = Api()
    api.create(DEFINITIONS, definition(**version))
    return api


def thing(name: str, **spec: object) -> Json:
    kind = {"apiVersion": f"{GROUP}/v1", "kind": "Thing"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def test_a_definition_is_established_and_served_at_once() -> None:
    api = defined()

    found = api.get(f"{DEFINITIONS}/things.{GROUP}")
    listed = api.get(f"/apis/{GROUP}/v1")

    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert [each["name"] for each in listed["resources"]] == [
        "things",
        "things/status",
        "things/scale",
    ]


def test_objects_are_defaulted_validated_and_pruned() -> None:
    api = defined()

    created = api.ask("POST", THINGS, thing("a", extra=1))
    refused = api.ask("POST", THINGS, thing("b", replicas="three"))

    assert created.body["spec"] == {"replicas": 1}
    assert created.header("warning") == ['299 - "unknown field \\"spec.extra\\""']
    assert refused.status == 422


def test_they_are_listed_with_their_kind_and_watched() -> None:
    api = defined()
    watching = api.watch(f"{THINGS}?watch=true")
    api.create(THINGS, thing("a"))

    item = api.get(THINGS)["items"][0]

    assert (item["kind"], item["apiVersion"]) == ("Thing", f"{GROUP}/v1")
    assert watching.seen() == [("ADDED", "a")]


def test_they_are_patched_but_not_strategically() -> None:
    api = defined()
    api.create(THINGS, thing("a"))

    merged = api.patch(f"{THINGS}/a", {"spec": {"queue": "q"}}, MERGE)
    operations = [{"op": "remove", "path": "/spec/queue"}]
    removed = api.patch(f"{THINGS}/a", operations, JSON_PATCH)
    strategic = api.ask("PATCH", f"{THINGS}/a", {}, content_type=STRATEGIC)

    assert merged["spec"]["queue"] == "q"
    assert merged["metadata"]["generation"] == 2
    assert "queue" not in removed["spec"]
    assert strategic.status == 415


def test_they_are_scaled_where_their_definition_says() -> None:
    api = defined()
    api.create(THINGS, thing("a"))

    scale = api.patch(f"{THINGS}/a/scale", {"spec": {"replicas": 4}})

    assert scale["spec"] == {"replicas": 4}
    assert api.get(f"{THINGS}/a")["spec"]["replicas"] == 4


def test_they_are_selected_by_the_fields_that_their_definition_names() -> None:
    api = defined(selectableFields=[{"jsonPath": ".spec.queue"}])
    api.create(THINGS, thing("a", queue="x"))
    api.create(THINGS, thing("b", queue="y"))

    listed = api.get(f"{THINGS}?fieldSelector=spec.queue%3Dx")

    assert [each["metadata"]["name"] for each in listed["items"]] == ["a"]


def test_a_deleted_definition_takes_its_objects_along() -> None:
    api = defined()
    api.create(THINGS, thing("a"))

    api.delete(f"{DEFINITIONS}/things.{GROUP}")
    gone = api.ask("GET", THINGS)
    api.create(DEFINITIONS, definition())

    assert (gone.status, gone.text) == (404, b"404 page not found\n")
    assert api.get(THINGS)["items"] == []


def test_a_definition_waits_for_objects_that_finalizers_hold() -> None:
    api = defined()
    held = thing("a")
    held["metadata"]["finalizers"] = ["a.dev/x"]
    api.create(THINGS, held)

    waiting = api.delete(f"{DEFINITIONS}/things.{GROUP}")
    api.patch(f"{THINGS}/a", {"metadata": {"finalizers": None}})

    assert waiting["status"]["conditions"][-1]["type"] == "Terminating"
    assert api.ask("GET", f"{DEFINITIONS}/things.{GROUP}").status == 404


def test_an_update_of_a_definition_changes_what_is_served() -> None:
    api = defined()
    api.create(THINGS, thing("a"))
    version = definition()["spec"]["versions"][0]
    versions = [version, {**version, "name": "v2", "storage": False}]

    api.patch(f"{DEFINITIONS}/things.{GROUP}", {"spec": {"versions": versions}})

    other = api.get(f"/apis/{GROUP}/v2/namespaces/default/things/a")
    assert other["apiVersion"] == f"{GROUP}/v2"
    assert other["spec"] == {"replicas": 1}


def test_names_that_another_definition_has_are_not_accepted() -> None:
    api = defined()
    rival = definition()
    rival["metadata"]["name"] = f"rivals.{GROUP}"
    rival["spec"]["names"] = {"kind": "Thing", "plural": "rivals"}

    api.create(DEFINITIONS, rival)

    found = api.get(f"{DEFINITIONS}/rivals.{GROUP}")
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert conditions["NamesAccepted"] == "False"
    assert api.ask("GET", f"/apis/{GROUP}/v1/namespaces/default/rivals").status == 404


def test_stored_objects_are_shown_with_the_defaults_of_the_present_definition() -> None:
    api = defined()
    before = api.create(THINGS, thing("one"))
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/queue/default"
    where = f"{DEFINITIONS}/things.{GROUP}"
    api.patch(where, [{"op": "add", "path": path, "value": "slow"}], JSON_PATCH)

    shown = api.get(f"{THINGS}/one")
    assert shown["spec"] == {"replicas": 1, "queue": "slow"}
    assert shown["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    (listed,) = api.get(THINGS)["items"]
    assert listed["spec"]["queue"] == "slow"

    api.create(THINGS, thing("two"))
    api.patch(where, [{"op": "remove", "path": path}], JSON_PATCH)
    assert api.get(f"{THINGS}/one")["spec"] == {"replicas": 1}
    assert api.get(f"{THINGS}/two")["spec"] == {"replicas": 1, "queue": "slow"}
