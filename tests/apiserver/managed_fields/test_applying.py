"""Server-side apply: merging, owning, giving up, conflicts, force."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import objects_of

from podium.apiserver.managed_fields import Writer, apply, track_create, track_update
from podium.apiserver.managed_fields.tracking import without_identity
from podium.apiserver.managed_fields.typed_values import field_set, merge_values
from podium.golang.json_values import copy_json
from podium.kubernetes.schema import Schema, decode, schema_of
from podium.kubernetes.status_errors import StatusError

POD = schema_of("", "v1", "Pod")
CONFIG_MAP = schema_of("", "v1", "ConfigMap")
SERVICE = schema_of("", "v1", "Service")
NOW, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def config(schema: Schema = CONFIG_MAP, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "c", **fields.pop("metadata", {})}
    return {
        "apiVersion": schema.api_version,
        "kind": schema.kind,
        "metadata": metadata,
        **fields,
    }


def applied(
    live: dict[str, Any] | None,
    wanted: dict[str, Any],
    manager: str = "one",
    schema: Schema = CONFIG_MAP,
    *,
    force: bool = False,
    now: str = NOW,
) -> dict[str, Any]:
    result = apply(live, wanted, schema, Writer(manager, now), force)
    value = decode(result, schema).value
    value["metadata"]["uid"] = "u"
    return value


def owned(obj: dict[str, Any]) -> dict[str, Any]:
    entries = obj["metadata"].get("managedFields", ())
    return {entry["manager"]: entry["fieldsV1"] for entry in entries}


def refusal(
    live: dict[str, Any] | None,
    wanted: dict[str, Any],
    manager: str = "one",
    schema: Schema = CONFIG_MAP,
) -> StatusError:
    with pytest.raises(StatusError) as error:
        applied(live, wanted, manager, schema)
    return error.value


def test_applying_to_nothing_creates_and_owns_what_is_written() -> None:
    obj = applied(None, config(data={"a": "1"}, metadata={"labels": {"x": "y"}}))
    assert obj["data"] == {"a": "1"}
    assert owned(obj) == {"one": {"f:data": {"f:a": {}}, "f:metadata": {"f:labels": {"f:x": {}}}}}


def test_fields_that_are_no_longer_applied_go() -> None:
    live = applied(None, config(data={"a": "1", "b": "2"}))
    obj = applied(live, config(data={"a": "1"}))
    assert obj["data"] == {"a": "1"}
    assert owned(obj) == {"one": {"f:data": {"f:a": {}}}}
    assert "data" not in applied(live, config())


def test_fields_that_somebody_else_applies_too_stay() -> None:
    live = applied(None, config(data={"a": "1", "b": "2"}))
    live = applied(live, config(data={"b": "2"}), "two")
    obj = applied(live, config(data={"a": "1"}))
    assert obj["data"] == {"a": "1", "b": "2"}
    assert owned(obj) == {"one": {"f:data": {"f:a": {}}}, "two": {"f:data": {"f:b": {}}}}


def test_taking_a_field_of_another_owner_is_a_conflict_unless_forced() -> None:
    live = applied(None, config(data={"a": "1"}))
    error = refusal(live, config(data={"a": "2"}), "two")
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    obj = applied(live, config(data={"a": "2"}), "two", force=True)
    assert obj["data"] == {"a": "2"}
    assert owned(obj) == {"two": {"f:data": {"f:a": {}}}}


def test_all_conflicts_are_listed_by_owner() -> None:
    live = applied(None, config(data={"a": "1", "b": "1"}))
    changed = decode({**copy_json(live), "data": {"a": "1", "b": "1", "c": "1"}}, CONFIG_MAP).value
    track_update(live, changed, CONFIG_MAP, Writer("upd", NOW, ""))
    error = refusal(changed, config(data={"a": "2", "b": "2", "c": "2"}), "two")
    assert error.message == (
        'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\n'
        'conflicts with "upd" using v1:\n- .data.c'
    )
    assert error.details is not None
    assert [cause["field"] for cause in error.details["causes"]] == [
        ".data.a",
        ".data.b",
        ".data.c",
    ]


def test_applying_the_same_value_is_shared_ownership_without_a_time() -> None:
    live = applied(None, config(data={"a": "1", "b": "2"}))
    obj = applied(live, config(data={"a": "1"}), "two", now=LATER)
    assert owned(obj)["two"] == {"f:data": {"f:a": {}}}
    entry = next(each for each in obj["metadata"]["managedFields"] if each["manager"] == "two")
    assert "time" not in entry


def test_an_object_without_entries_belongs_to_whoever_was_before_the_first_apply() -> None:
    live = decode(config(data={"a": "1"}), CONFIG_MAP).value
    live["metadata"]["uid"] = "u"
    error = refusal(live, config(data={"a": "2"}))
    assert error.message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a'
    )


def test_items_are_merged_by_their_keys_and_keep_an_order() -> None:
    ports = [{"port": 80}, {"port": 443, "name": "s"}]
    live = applied(None, config(SERVICE, spec={"ports": ports}), schema=SERVICE)
    more = [{"port": 53, "protocol": "UDP"}, {"port": 443, "appProtocol": "x"}]
    obj = applied(live, config(SERVICE, spec={"ports": more}), "two", SERVICE)
    assert [port["port"] for port in obj["spec"]["ports"]] == [80, 53, 443]
    assert obj["spec"]["ports"][2]["name"] == "s"
    assert owned(obj)["two"] == {
        "f:spec": {
            "f:ports": {
                'k:{"port":443,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:appProtocol": {}},
                'k:{"port":53,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:protocol": {}},
            }
        }
    }


def test_items_given_up_by_their_only_owner_go() -> None:
    spec = {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}
    live = applied(None, config(POD, spec=spec), schema=POD)
    live = applied(live, config(POD, spec={"containers": [{"name": "c"}]}), "two", POD)
    spec = {"containers": [{"name": "a", "image": "1"}]}
    obj = applied(live, config(POD, spec=spec), schema=POD)
    assert [each["name"] for each in obj["spec"]["containers"]] == ["a", "c"]


def test_atomic_lists_and_maps_are_owned_as_a_whole() -> None:
    spec = {
        "containers": [{"name": "a"}],
        "tolerations": [{"key": "x"}],
        "nodeSelector": {"a": "1"},
    }
    live = applied(None, config(POD, spec=spec), schema=POD)
    assert owned(live)["one"]["f:spec"]["f:tolerations"] == {}
    assert owned(live)["one"]["f:spec"]["f:nodeSelector"] == {}
    other = config(POD, spec={"tolerations": [{"key": "y"}], "nodeSelector": {"b": "1"}})
    error = refusal(live, other, "two", POD)
    assert ".spec.nodeSelector" in error.message
    assert ".spec.tolerations" in error.message
    forced = applied(live, other, "two", POD, force=True)
    assert forced["spec"]["nodeSelector"] == {"b": "1"}


@pytest.mark.parametrize(
    ("wanted", "code", "message"),
    [
        ({"data": {}}, 400, "invalid object type: /, Kind="),
        (
            {"apiVersion": "apps/v1", "kind": "Pod"},
            400,
            "invalid object type: apps/v1, Kind=Pod",
        ),
        (config(metadata={"managedFields": []}), 400, "metadata.managedFields must be nil"),
        (
            config(nope=1),
            500,
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): .nope: field not"
            " declared in schema",
        ),
        (
            config(data={"a": 5}),
            500,
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): .data.a: expected"
            " string, got &value.valueUnstructured{Value:5}",
        ),
        (
            config(data="x", immutable="y"),
            500,
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:\n"
            "  .data: expected map, got &{x}\n"
            "  .immutable: expected boolean, got &{y}",
        ),
    ],
)
def test_a_configuration_that_is_none_is_refused(
    wanted: dict[str, Any], code: int, message: str
) -> None:
    error = refusal(None, wanted)
    assert (error.code, error.message) == (code, message)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"ports": [{"port": 1}, {"port": 1}]},
            'duplicate entries for key [port=1,protocol="TCP"]',
        ),
        ({"ports": ["x"]}, "element 0: associative list with keys may not have non-map elements"),
        ({"ports": {}}, ".spec.ports: expected list, got &{map[]}"),
        ({"healthCheckNodePort": "x"}, "expected numeric (int or float), got string"),
        ({"clusterIPs": [[]]}, "expected string, got"),
    ],
)
def test_values_that_do_not_fit_their_types_are_told(spec: dict[str, Any], message: str) -> None:
    assert message in refusal(None, config(SERVICE, spec=spec), schema=SERVICE).message


def test_kubectl_may_take_what_it_applied_on_the_client_s_side() -> None:
    written = '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"c"}}\n'
    live = decode(
        config(data={"a": "1", "z": "1"}, metadata={"annotations": {LAST_APPLIED: written}}),
        CONFIG_MAP,
    ).value
    track_create(live, CONFIG_MAP, Writer("kubectl-client-side-apply", NOW))
    live["metadata"]["uid"] = "u"
    error = refusal(live, config(data={"z": "2"}), "kubectl")
    assert error.message.endswith(": .data.z")
    obj = applied(live, config(data={"a": "2"}), "kubectl")
    assert obj["data"] == {"a": "2", "z": "1"}
    assert obj["metadata"]["annotations"][LAST_APPLIED] == written.replace('"1"', '"2"')


def test_the_live_object_and_the_configuration_never_change() -> None:
    live = applied(None, config(data={"a": "1", "b": "2"}))
    wanted = config(data={"a": "1", "c": "3"})
    before = copy.deepcopy((live, wanted))
    applied(live, wanted)
    assert (live, wanted) == before


SCHEMAS = [(POD, ("metadata", "spec")), (CONFIG_MAP, ()), (SERVICE, ("metadata", "spec"))]


def without_identifying_fields(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj.get("metadata", {})
    for name in ("uid", "resourceVersion", "selfLink", "generation", "creationTimestamp"):
        metadata.pop(name, None)
    return obj


@pytest.mark.parametrize(("schema", "fields"), SCHEMAS, ids=["pods", "configmaps", "services"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_applying_twice_is_applying_once(
    schema: Schema, fields: tuple[str, ...], data: st.DataObject
) -> None:
    strategy = objects_of(schema, *fields).map(without_identifying_fields)
    first, second = data.draw(strategy), data.draw(strategy)
    live = applied(None, first, "one", schema)
    once = applied(live, second, "two", schema, force=True)
    # What is stored has the server's spelling of quantities: apply that.
    again = applied(once, second, "two", schema, force=True, now=NOW)
    assert again == once


@pytest.mark.parametrize(("schema", "fields"), SCHEMAS, ids=["pods", "configmaps", "services"])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_an_applier_owns_its_configuration_and_the_object_has_it(
    schema: Schema, fields: tuple[str, ...], data: st.DataObject
) -> None:
    strategy = objects_of(schema, *fields).map(without_identifying_fields)
    first, second = data.draw(strategy), data.draw(strategy)
    live = applied(None, first, "one", schema)
    result = apply(live, second, schema, Writer("two", NOW), True)
    assert owned(result).get("two", {}) == without_identity(field_set(second, schema.root))
    assert merge_values(result, second, schema.root) == result


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_giving_up_everything_leaves_what_the_others_applied(data: st.DataObject) -> None:
    strategy = objects_of(CONFIG_MAP, "metadata", "data").map(without_identifying_fields)
    alone = applied(None, {**data.draw(strategy), "immutable": True})
    try:
        both = applied(alone, data.draw(strategy), "two")
    except StatusError:
        both = alone
    after = applied(both, {"apiVersion": "v1", "kind": "ConfigMap"}, "two")
    assert owned(after) == owned(alone)
    assert after.get("data") == alone.get("data")


@pytest.mark.parametrize(
    "written",
    ["", "{no json", "[]", '{"apiVersion":"v2"}', '{"apiVersion":"v1","kind":"ConfigMap","x":1}'],
)
def test_an_annotation_that_is_no_configuration_forgives_nothing(written: str) -> None:
    live = decode(
        config(data={"a": "1"}, metadata={"annotations": {LAST_APPLIED: written}}), CONFIG_MAP
    ).value
    track_create(live, CONFIG_MAP, Writer("kubectl-client-side-apply", NOW))
    live["metadata"]["uid"] = "u"
    error = refusal(live, config(data={"a": "2"}), "kubectl")
    assert error.message.endswith(": .data.a")


def test_the_annotation_shows_annotations_of_the_configuration_but_not_itself() -> None:
    live = applied(None, config(metadata={"annotations": {LAST_APPLIED: "{}"}}), "kubectl")
    wanted = config(metadata={"annotations": {"x": "<y>", LAST_APPLIED: "old"}}, data={"b": "1"})
    obj = applied(live, wanted, "kubectl")
    assert obj["metadata"]["annotations"][LAST_APPLIED] == (
        '{"apiVersion":"v1","data":{"b":"1"},"kind":"ConfigMap",'
        '"metadata":{"annotations":{"x":"\\u003cy\\u003e"},"name":"c"}}\n'
    )


def test_a_live_object_with_broken_entries_cannot_be_applied_to() -> None:
    live = applied(None, config(data={"a": "1"}))
    live["metadata"]["managedFields"][0]["fieldsType"] = "FieldsV9"
    error = refusal(live, config())
    assert error.code == 500
    assert 'invalid fieldsType "FieldsV9" in managed fields entry 0' in error.message


def test_conflicts_name_items_of_lists_and_sets_and_subresources() -> None:
    spec = {"containers": [{"name": "a", "image": "1"}]}
    live = applied(None, config(POD, spec=spec, metadata={"finalizers": ["x.dev/f"]}), schema=POD)
    wanted = config(POD, spec={"containers": [{"name": "a", "image": "2"}]})
    error = refusal(live, wanted, "two", POD)
    assert error.message.endswith('conflict with "one": .spec.containers[name="a"].image')
    assert owned(live)["one"]["f:metadata"] == {"f:finalizers": {'v:"x.dev/f"': {}}}
    status = {**wanted, "spec": {}, "status": {"phase": "Running"}}
    del status["spec"]
    changed = apply(live, status, POD, Writer("st", NOW, "status"), False)
    other = {**status, "status": {"phase": "Failed"}}
    with pytest.raises(StatusError, match=r'"st" with subresource "status": \.status\.phase'):
        apply(changed, other, POD, Writer("x", NOW, "status"), False)
