"""Who owns what after creations, updates and patches."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import objects_of

from podium.apiserver.managed_fields import (
    Writer,
    keep_times_of_idle_write,
    manager_of,
    track_create,
    track_update,
)
from podium.apiserver.managed_fields.comparing import compare, created_fields
from podium.apiserver.managed_fields.field_sets import union
from podium.apiserver.managed_fields.tracking import empty_object
from podium.kubernetes.schema import Schema, decode, schema_of

POD = schema_of("", "v1", "Pod")
NODE = schema_of("", "v1", "Node")
DEPLOYMENT = schema_of("apps", "v1", "Deployment")
CONFIG_MAP = schema_of("", "v1", "ConfigMap")
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def created(obj: dict[str, Any], schema: Schema, manager: str = "m") -> dict[str, Any]:
    value = decode(obj, schema).value
    track_create(value, schema, Writer(manager, NOW))
    value["metadata"]["uid"] = "u"
    return value


def updated(
    live: dict[str, Any],
    changes: dict[str, Any],
    schema: Schema,
    manager: str = "m",
    subresource: str = "",
) -> dict[str, Any]:
    new = decode(copy.deepcopy({**live, **changes}), schema).value
    track_update(live, new, schema, Writer(manager, LATER, subresource))
    return new


def owned(obj: dict[str, Any]) -> dict[str, Any]:
    """The fields of each entry by its manager."""
    entries = obj["metadata"].get("managedFields", ())
    return {entry["manager"]: entry["fieldsV1"] for entry in entries}


def config_map(**data: str) -> dict[str, Any]:
    return {"metadata": {"name": "c"}, "data": data}


def test_who_creates_owns_what_the_empty_object_did_not_have() -> None:
    obj = {
        "metadata": {"name": "p", "labels": {"a": "1"}},
        "spec": {
            "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}]}],
            "tolerations": [{"key": "x"}],
        },
        "status": {"phase": "Running"},
    }
    pod = created(obj, POD, "kubectl-create")
    (entry,) = pod["metadata"]["managedFields"]
    assert {key: value for key, value in entry.items() if key != "fieldsV1"} == {
        "manager": "kubectl-create",
        "operation": "Update",
        "apiVersion": "v1",
        "time": NOW,
        "fieldsType": "FieldsV1",
    }
    assert entry["fieldsV1"] == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            "f:containers": {
                'k:{"name":"c"}': {
                    ".": {},
                    "f:name": {},
                    "f:image": {},
                    "f:resources": {},
                    "f:ports": {
                        ".": {},
                        'k:{"containerPort":80,"protocol":"TCP"}': {
                            ".": {},
                            "f:containerPort": {},
                        },
                    },
                }
            },
            "f:tolerations": {},
        },
    }


def test_an_object_with_nothing_to_own_has_no_entries() -> None:
    assert "managedFields" not in created({"metadata": {"name": "c"}}, CONFIG_MAP)["metadata"]


def test_a_writer_takes_what_it_changes_and_adds() -> None:
    live = created(config_map(a="1", b="2"), CONFIG_MAP, "one")
    new = updated(live, {"data": {"a": "9", "b": "2", "c": "3"}}, CONFIG_MAP, "two")
    assert owned(new) == {
        "one": {"f:data": {".": {}, "f:b": {}}},
        "two": {"f:data": {"f:a": {}, "f:c": {}}},
    }


def test_the_same_writer_keeps_its_fields_and_gets_a_new_time() -> None:
    live = created(config_map(a="1"), CONFIG_MAP)
    new = updated(live, {"data": {"a": "1", "b": "2"}}, CONFIG_MAP)
    (entry,) = new["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:a": {}, "f:b": {}}}
    assert entry["time"] == LATER


def test_removed_fields_leave_every_owner() -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    live = updated(live, {"data": {"a": "1", "b": "2"}}, CONFIG_MAP, "two")
    new = updated(live, {"data": {"b": "2"}}, CONFIG_MAP, "three")
    assert owned(new) == {"one": {"f:data": {}}, "two": {"f:data": {"f:b": {}}}}


def test_a_write_that_changes_nothing_changes_no_entries() -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    new = updated(live, {}, CONFIG_MAP, "two")
    assert new["metadata"]["managedFields"] == live["metadata"]["managedFields"]


def test_a_write_to_the_status_owns_nothing_of_the_spec_and_the_other_way_round() -> None:
    live = created({"metadata": {"name": "n"}, "spec": {"unschedulable": True}}, NODE, "one")
    changes = {"spec": {}, "status": {"phase": "Running"}}
    new = updated(live, changes, NODE, "two", "status")
    assert owned(new) == {
        "one": {"f:spec": {"f:unschedulable": {}}},
        "two": {"f:status": {"f:phase": {}}},
    }
    assert new["metadata"]["managedFields"][1]["subresource"] == "status"
    new = updated(live, {"spec": {"podCIDR": "x"}, "status": {"phase": "Running"}}, NODE, "two")
    assert owned(new) == {"two": {"f:spec": {"f:podCIDR": {}}}}


def test_some_kinds_keep_metadata_out_of_status_writes() -> None:
    live = created({"metadata": {"name": "d", "labels": {"a": "1"}}}, DEPLOYMENT, "one")
    changes = {
        "metadata": {**live["metadata"], "labels": {"a": "2"}},
        "status": {"replicas": 1},
    }
    new = updated(live, changes, DEPLOYMENT, "two", "status")
    assert owned(new)["two"] == {"f:status": {"f:replicas": {}}}


def test_scaling_is_told_apart_from_other_updates() -> None:
    live = created({"metadata": {"name": "d"}, "spec": {"replicas": 1}}, DEPLOYMENT, "one")
    changes = {"spec": {**live["spec"], "replicas": 2}}
    new = updated(live, changes, DEPLOYMENT, "one", "scale")
    assert [
        (entry.get("subresource"), entry["fieldsV1"].get("f:spec", {}).get("f:replicas"))
        for entry in new["metadata"]["managedFields"]
    ][-1] == ("scale", {})


@pytest.mark.parametrize("entries", [[], [{}]])
def test_an_empty_list_of_entries_resets_them(entries: list[Any]) -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    metadata = {**live["metadata"], "managedFields": entries}
    cleared = updated(live, {"metadata": metadata, "data": {"a": "2"}}, CONFIG_MAP, "two")
    assert "managedFields" not in cleared["metadata"]
    again = updated(cleared, {"data": {"a": "3"}}, CONFIG_MAP, "three")
    assert "managedFields" not in again["metadata"]


def test_clients_that_do_not_send_entries_lose_none() -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    new = updated(live, {"metadata": metadata, "data": {"a": "1", "b": "1"}}, CONFIG_MAP, "two")
    assert owned(new) == {"one": {"f:data": {".": {}, "f:a": {}}}, "two": {"f:data": {"f:b": {}}}}


def test_entries_that_no_server_wrote_are_ignored() -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    metadata = {**live["metadata"], "managedFields": [{"manager": "x", "operation": "Frob"}]}
    new = updated(live, {"metadata": metadata}, CONFIG_MAP, "two")
    assert owned(new) == owned(live)


def test_more_than_ten_updaters_are_put_together() -> None:
    obj = created(config_map(f0="0"), CONFIG_MAP, "m00")
    for number in range(1, 13):
        data = {**obj["data"], f"f{number}": "x"}
        obj = updated(obj, {"data": data}, CONFIG_MAP, f"m{number:02}")
    managers = sorted(owned(obj))
    assert len(managers) == 10
    assert managers[0] == "ancient-changes"
    everything: dict[str, Any] = {}
    for fields in owned(obj).values():
        everything = union(everything, fields)
    assert everything == {"f:data": {".": {}, **{f"f:f{n}": {} for n in range(13)}}}


def test_items_that_cannot_be_told_apart_are_owned_together() -> None:
    containers = [{"name": "c", "image": "1"}, {"name": "c", "image": "2"}]
    pod = created({"spec": {"containers": containers}}, POD)
    assert owned(pod)["m"] == {"f:spec": {"f:containers": {'k:{"name":"c"}': {}}}}


def test_a_write_that_only_changes_times_keeps_the_old_times() -> None:
    live = created(config_map(a="1"), CONFIG_MAP)
    new = copy.deepcopy(live)
    new["metadata"]["managedFields"][0]["time"] = LATER
    keep_times_of_idle_write(new, live)
    assert new == live
    new["metadata"]["managedFields"] = [{**live["metadata"]["managedFields"][0], "time": LATER}]
    new["data"] = {"a": "2"}
    keep_times_of_idle_write(new, live)
    assert new["metadata"]["managedFields"][0]["time"] == LATER


@pytest.mark.parametrize(
    ("field_manager", "user_agent", "name"),
    [
        ("given", "kubectl/v1", "given"),
        ("", "kubectl/v1.36 (linux)", "kubectl"),
        ("", "a\x00b", "ab"),
        ("", "é" * 100, "é" * 64),
        ("", "", ""),
    ],
)
def test_a_writer_is_named_by_itself_or_by_its_client(
    field_manager: str, user_agent: str, name: str
) -> None:
    assert manager_of(field_manager, user_agent) == name


def test_a_writer_without_a_name_is_unknown() -> None:
    assert list(owned(created(config_map(a="1"), CONFIG_MAP, ""))) == ["unknown"]


@pytest.mark.parametrize(
    ("schema", "fields"),
    [(POD, ("metadata", "spec", "status")), (NODE, ()), (CONFIG_MAP, ())],
    ids=["pods", "nodes", "configmaps"],
)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_a_creation_is_a_change_of_the_empty_object(
    schema: Schema, fields: tuple[str, ...], data: st.DataObject
) -> None:
    obj = decode(data.draw(objects_of(schema, *fields)), schema).value
    empty = empty_object(schema)
    whole = compare(empty, obj, schema.root)
    assert whole.removed == {}
    assert created_fields(empty, obj, schema.root) == union(whole.added, whole.modified)


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_what_one_way_adds_the_other_way_removes(data: st.DataObject) -> None:
    strategy = objects_of(POD, "metadata", "spec")
    one, other = (decode(data.draw(strategy), POD).value for _ in range(2))
    there, back = compare(one, other, POD.root), compare(other, one, POD.root)
    assert (there.added, there.modified, there.removed) == (
        back.removed,
        back.modified,
        back.added,
    )
    assert compare(one, one, POD.root).modified == {}


def test_resizing_owns_resources_and_nothing_else() -> None:
    live = created({"spec": {"containers": [{"name": "c", "image": "1"}]}}, POD, "one")
    container = {"name": "c", "image": "2", "resources": {"limits": {"cpu": "1"}}}
    new = updated(live, {"spec": {"containers": [container]}}, POD, "two", "resize")
    assert owned(new)["two"] == {
        "f:spec": {
            "f:containers": {
                'k:{"name":"c"}': {"f:resources": {"f:limits": {".": {}, "f:cpu": {}}}}
            }
        }
    }


def test_ephemeral_containers_are_all_that_their_subresource_writes() -> None:
    live = created({"spec": {"containers": [{"name": "c"}]}}, POD, "one")
    spec = {
        "containers": [{"name": "c", "image": "x"}],
        "ephemeralContainers": [{"name": "e", "image": "i"}],
    }
    new = updated(live, {"spec": spec}, POD, "two", "ephemeralcontainers")
    assert list(owned(new)["two"]["f:spec"]) == ["f:ephemeralContainers"]


def test_repeated_items_are_compared_as_a_whole() -> None:
    def pod(*images: str) -> dict[str, Any]:
        containers = [{"name": "c", "image": image} for image in images]
        return decode({"spec": {"containers": containers}}, POD).value

    item = 'k:{"name":"c"}'
    both = compare(pod("1", "2"), pod("1", "3"), POD.root)
    assert both.modified == {"f:spec": {"f:containers": {item: {}}}}
    fewer = compare(pod("1", "2"), pod("1"), POD.root)
    assert fewer.removed == {"f:spec": {"f:containers": {item: {}}}}
    assert set(fewer.added["f:spec"]["f:containers"][item]) == {
        ".",
        "f:name",
        "f:image",
        "f:resources",
    }
    more = compare(pod("1"), pod("1", "2"), POD.root)
    assert more.added == fewer.removed
    assert more.removed == fewer.added


def test_an_object_whose_items_cannot_be_named_has_no_entries() -> None:
    live = created(config_map(a="1"), CONFIG_MAP, "one")
    broken = {**live, "metadata": {**live["metadata"], "finalizers": [{}]}}
    track_update(live, broken, CONFIG_MAP, Writer("two", LATER))
    assert "managedFields" not in broken["metadata"]
    broken["metadata"]["managedFields"] = []
    track_create(broken, CONFIG_MAP, Writer("two", LATER))
    assert "managedFields" not in broken["metadata"]


def test_a_creation_that_brings_entries_keeps_them() -> None:
    first = created(config_map(a="1"), CONFIG_MAP, "one")
    again = created(first, CONFIG_MAP, "two")
    assert set(owned(again)) == {"two"}
