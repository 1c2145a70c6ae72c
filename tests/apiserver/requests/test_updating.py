"""Updates: preconditions, what cannot change, and writes that are none."""

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, PODS, Api, config_map

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"


def test_an_update_replaces_the_object() -> None:
    api = Api()
    created = api.create(CONFIG_MAPS, config_map("c", a="1"))

    updated = api.ask("PUT", f"{CONFIG_MAPS}/c", config_map("c", b="2")).body

    assert updated["data"] == {"b": "2"}
    assert updated["metadata"]["uid"] == created["metadata"]["uid"]
    assert int(updated["metadata"]["resourceVersion"]) > int(created["metadata"]["resourceVersion"])


def test_an_update_of_an_older_version_conflicts() -> None:
    api = Api()
    old = api.create(CONFIG_MAPS, config_map("c"))
    api.patch(f"{CONFIG_MAPS}/c", {"data": {"x": "y"}})

    answer = api.ask("PUT", f"{CONFIG_MAPS}/c", old)

    assert answer.status == 409
    assert answer.body["reason"] == "Conflict"
    assert "the object has been modified" in answer.message


def test_only_one_of_two_updates_of_the_same_version_wins() -> None:
    api = Api()
    old = api.create(CONFIG_MAPS, config_map("c"))

    answers = [
        api.ask("PUT", f"{CONFIG_MAPS}/c", old | {"data": {"winner": name}}).status
        for name in ("one", "two")
    ]

    assert answers == [200, 409]


def test_an_update_that_changes_nothing_keeps_the_version() -> None:
    api = Api()
    created = api.create(CONFIG_MAPS, config_map("c", a="1"))
    revision = api.store.revision

    answer = api.ask("PUT", f"{CONFIG_MAPS}/c", created)

    assert answer.body["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
    assert api.store.revision == revision


def test_identity_and_creation_cannot_change() -> None:
    api = Api()
    created = api.create(CONFIG_MAPS, config_map("c"))
    changed = config_map("c", a="b")
    changed["metadata"]["creationTimestamp"] = "1999-01-01T00:00:00Z"

    updated = api.ask("PUT", f"{CONFIG_MAPS}/c", changed).body

    assert updated["metadata"]["creationTimestamp"] == created["metadata"]["creationTimestamp"]
    assert updated["metadata"]["uid"] == created["metadata"]["uid"]


def test_another_uid_means_another_object() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c"))
    other = config_map("c")
    other["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"

    answer = api.ask("PUT", f"{CONFIG_MAPS}/c", other)

    assert answer.status == 409
    assert "Key: /registry/configmaps/default/c" in answer.message
    assert "Precondition failed: UID in precondition: 11111111" in answer.message


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            {"name": "x"},
            "the name of the object (x) does not match the name on the URL (c)",
        ),
        (
            {},
            "the name of the object (c based on URL) was undeterminable: name must be provided",
        ),
        (
            {"name": "c", "namespace": "other"},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
def test_the_object_must_be_the_one_of_the_path(metadata: dict[str, str], message: str) -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c"))

    answer = api.ask("PUT", f"{CONFIG_MAPS}/c", {"metadata": metadata})

    assert (answer.status, answer.message) == (400, message)


def test_some_kinds_are_created_by_an_update_and_others_are_not() -> None:
    api = Api()
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me"}}

    assert api.ask("PUT", f"{LEASES}/l", lease).status == 201
    assert api.ask("PUT", f"{CONFIG_MAPS}/c", config_map("c")).status == 404


def test_a_lease_is_updated_only_by_who_knows_its_version() -> None:
    api = Api()
    api.create(LEASES, {"metadata": {"name": "l"}, "spec": {}})

    answer = api.ask("PUT", f"{LEASES}/l", {"metadata": {"name": "l"}, "spec": {}})

    assert answer.status == 422
    assert "metadata.resourceVersion: Invalid value: 0: must be specified" in answer.message


def test_a_dry_run_of_an_update_stores_nothing() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c", a="1"))

    answer = api.ask("PUT", f"{CONFIG_MAPS}/c?dryRun=All", config_map("c", a="2"))

    assert answer.body["data"] == {"a": "2"}
    assert api.get(f"{CONFIG_MAPS}/c")["data"] == {"a": "1"}


def test_a_write_to_the_status_changes_the_status_alone() -> None:
    api = Api()
    api.create_pod("p")

    path = f"{PODS}/p/status"
    api.patch(path, {"status": {"phase": "Running"}, "spec": {"nodeName": "n"}})
    found = api.get(f"{PODS}/p")
    api.patch(f"{PODS}/p", {"status": {"phase": "Failed"}, "metadata": {"labels": {"a": "b"}}})
    later = api.get(path)

    assert found["status"]["phase"] == "Running"
    assert "nodeName" not in found["spec"]
    assert later["status"]["phase"] == "Running"
    assert later["metadata"]["labels"] == {"a": "b"}


def test_a_patch_is_refused_with_the_version_it_does_not_know() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("c"))

    change = {"metadata": {"resourceVersion": "1"}}
    answer = api.ask("PATCH", f"{CONFIG_MAPS}/c", change, content_type=MERGE)

    assert answer.status == 409
