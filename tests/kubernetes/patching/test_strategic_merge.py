"""Strategic merge patches: keyed lists, directives, order, and upstream's refusals."""

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import json_values, objects_of
from support.apiserver.strategic_difference import strategic_difference

from podium.golang.json_values import JsonObject
from podium.kubernetes.patching import (
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    PatchError,
    strategic_merge,
    unreadable,
)
from podium.kubernetes.schema import DecodeError, Schema, decode, schema_of

POD = schema_of("", "v1", "Pod")
DEPLOYMENT = schema_of("apps", "v1", "Deployment")
CONFIG_MAP = schema_of("", "v1", "ConfigMap")


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}}


def containers(patch: Any, *stored: dict[str, Any]) -> Any:
    merged = strategic_merge.apply(pod(*stored), {"spec": patch}, POD)
    return merged["spec"]["containers"]


A, B = {"name": "a", "image": "1"}, {"name": "b", "image": "1"}


def test_items_are_merged_by_their_key() -> None:
    found = containers({"containers": [{"name": "b", "image": "2"}]}, A, B)
    assert found == [A, {"name": "b", "image": "2"}]


def test_new_items_come_before_the_items_that_the_patch_does_not_name() -> None:
    new = {"name": "c"}
    assert containers({"containers": [new]}, A, B) == [new, A, B]


def test_items_are_deleted_by_directive() -> None:
    assert containers({"containers": [{"name": "a", "$patch": "delete"}]}, A, B) == [B]


def test_a_list_is_replaced_by_directive() -> None:
    new = {"name": "c"}
    assert containers({"containers": [{"$patch": "replace"}, new]}, A, B) == [new]


def test_a_list_without_a_key_is_replaced_with_everything_in_it() -> None:
    stored = pod(tolerations=[{"key": "a"}])
    patch: JsonObject = {"spec": {"tolerations": [{"key": "b", "$patch": "delete"}]}}
    merged = strategic_merge.apply(stored, patch, POD)
    assert merged["spec"]["tolerations"] == [{"key": "b", "$patch": "delete"}]


def test_the_order_of_items_can_be_given() -> None:
    patch: JsonObject = {
        "containers": [{"name": "c"}],
        "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}],
    }
    assert [each["name"] for each in containers(patch, A, B)] == ["c", "a", "b"]
    patch = {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}
    assert [each["name"] for each in containers(patch, A, B)] == ["b", "a"]


def test_items_of_a_set_are_added_and_deleted() -> None:
    stored = {"metadata": {"finalizers": ["a", "b"]}}
    patch: JsonObject = {
        "metadata": {"finalizers": ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["b"]}
    }
    merged = strategic_merge.apply(stored, patch, POD)
    assert set(merged["metadata"]["finalizers"]) == {"a", "c"}


def test_keys_that_are_not_retained_go() -> None:
    stored = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch: JsonObject = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    merged = strategic_merge.apply(stored, patch, DEPLOYMENT)
    assert merged == {"spec": {"strategy": {"type": "Recreate"}}}


def test_objects_are_deleted_and_replaced_by_directive() -> None:
    stored = {"data": {"a": "1"}, "metadata": {"labels": {"x": "1"}}}
    merged = strategic_merge.apply(stored, {"data": {"$patch": "delete"}}, CONFIG_MAP)
    assert merged["data"] == {}
    patch: JsonObject = {"metadata": {"labels": {"$patch": "replace", "y": "2"}}}
    merged = strategic_merge.apply(stored, patch, CONFIG_MAP)
    assert merged["metadata"]["labels"] == {"y": "2"}


def test_a_field_whose_strategy_is_to_replace_is_not_merged() -> None:
    budget = schema_of("policy", "v1", "PodDisruptionBudget")
    stored = {"spec": {"selector": {"matchLabels": {"a": "1"}}}}
    patch: JsonObject = {"spec": {"selector": {"matchLabels": {"b": "2"}}}}
    assert strategic_merge.apply(stored, patch, budget) == patch


def test_null_removes_and_new_values_lose_their_nulls_and_directives() -> None:
    stored = {"metadata": {"labels": {"a": "1"}}}
    patch: JsonObject = {
        "metadata": {"labels": None, "annotations": {"x": None, "y": "1"}},
        "spec": {"affinity": {"$patch": "delete"}},
    }
    merged = strategic_merge.apply(stored, patch, POD)
    assert merged == {"metadata": {"annotations": {"y": "1"}}, "spec": {}}


def test_null_as_a_patch_changes_nothing() -> None:
    assert strategic_merge.apply(pod(A), None, POD) == pod(A)


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        (
            {"spec": {"containers": [{"image": "x"}]}},
            500,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            {"spec": {"containers": [{"$patch": "delete"}]}},
            500,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"spec": {"containers": [{"name": "a", "$patch": "frob"}]}},
            500,
            "unknown patch type: frob in map: map[$patch:frob name:a]",
        ),
        (
            {"spec": {"containers": [{"name": "a", "$patch": "merge"}]}},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"spec": {"$patch": "frob"}},
            500,
            "unknown patch type: frob in map: map[$patch:frob]",
        ),
        (
            {"spec": {"containers": ["x"]}},
            500,
            "list element types are not identical: [[map[image:1 name:a]] [x]]",
        ),
        ({"spec": {"$retainKeys": "x"}}, 400, "invalid patch format of retainKeys"),
        (
            {"spec": {"$retainKeys": [], "hostname": "x"}},
            400,
            "invalid patch format of retainKeys",
        ),
        (
            {"spec": {"$setElementOrder": []}},
            400,
            "invalid patch format of setElementOrder list",
        ),
        (
            {"spec": {"$setElementOrder/containers": {}}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"spec": {"$setElementOrder/containers": [{"name": "b"}], "containers": [A]}},
            500,
            "The order in patch list:\n[map[image:1 name:a]]\n doesn't match $setElementOrder"
            " list:\n[map[name:b]]\n",
        ),
        (
            {"metadata": {"$deleteFromPrimitiveList": []}},
            400,
            "invalid patch format of primitive list",
        ),
        ([], 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_mistakes_are_refused_in_upstream_s_words(patch: Any, code: int, message: str) -> None:
    with pytest.raises(PatchError) as error:
        strategic_merge.apply(pod(A), patch, POD)
    assert (error.value.code, error.value.message) == (code, message)


@pytest.mark.parametrize(
    ("schema", "fields"),
    [(POD, ("metadata", "spec")), (DEPLOYMENT, ("spec",)), (CONFIG_MAP, ("metadata", "data"))],
    ids=["pods", "deployments", "configmaps"],
)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_kubectl_computes_on_its_side_is_what_the_server_makes_of_it(
    schema: Schema, fields: tuple[str, ...], data: st.DataObject
) -> None:
    old = decode(data.draw(objects_of(schema, *fields)), schema).value
    new = decode(data.draw(objects_of(schema, *fields)), schema).value
    before = copy.deepcopy(old)
    patch = strategic_difference(old, new, schema.root)
    merged = strategic_merge.apply(old, patch, schema)
    assert decode(merged, schema).value == new
    assert old == before


def test_primitive_lists_can_be_put_in_order() -> None:
    stored = {"metadata": {"finalizers": ["a", "b"]}}
    patch: JsonObject = {
        "metadata": {"finalizers": ["c"], "$setElementOrder/finalizers": ["c", "b", "a"]},
    }
    merged = strategic_merge.apply(stored, patch, POD)
    assert merged["metadata"]["finalizers"] == ["c", "b", "a"]


def test_an_order_of_a_list_that_is_not_there_says_nothing() -> None:
    patch: JsonObject = {"metadata": {"$setElementOrder/finalizers": ["a"]}}
    assert strategic_merge.apply({"metadata": {}}, patch, POD) == {"metadata": {}}
    patch = {"metadata": {"finalizers": ["b", "a"], "$setElementOrder/finalizers": ["b", "a"]}}
    merged = strategic_merge.apply({"metadata": {}}, patch, POD)
    assert merged["metadata"]["finalizers"] == ["b", "a"]


def test_lists_of_lists_are_refused_without_a_reason() -> None:
    with pytest.raises(PatchError, match="the server rejected our request"):
        strategic_merge.apply(pod(A), {"spec": {"containers": [[]]}}, POD)


def test_a_patch_that_is_no_json_says_so_in_its_own_way() -> None:
    assert unreadable(STRATEGIC_MERGE_PATCH, "why").message == "why"
    assert unreadable(MERGE_PATCH, "why").message == "error decoding patch: why"


@settings(max_examples=80, deadline=None)
@given(
    patch=st.dictionaries(
        st.sampled_from(
            [
                "containers",
                "volumes",
                "hostname",
                "$patch",
                "$retainKeys",
                "$setElementOrder/containers",
                "$deleteFromPrimitiveList/containers",
            ]
        ),
        st.one_of(
            json_values,
            st.lists(
                st.dictionaries(
                    st.sampled_from(["name", "$patch", "env"]),
                    st.one_of(st.sampled_from(["a", "b", "delete", "replace"]), json_values),
                ),
                max_size=3,
            ),
        ),
    )
)
def test_any_patch_is_applied_or_refused_and_nothing_breaks(patch: dict[str, Any]) -> None:
    stored = pod(A, B, volumes=[{"name": "v"}])
    before = copy.deepcopy((stored, patch))
    with contextlib.suppress(PatchError, DecodeError):
        decode(strategic_merge.apply(stored, {"spec": patch}, POD), POD)
    assert (stored, patch) == before
