"""JSON patches: the operations of RFC 6902, the liberties upstream takes, and the refusals."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.schema_values import json_objects, json_values

from podium.golang.json_values import DecodedValue, JsonValue
from podium.kubernetes.patching import PatchError, json_patch

DOCUMENT = {"a": {"b": [1, 2, 3], "c/d": "x", "e~f": None}, "n": 1}
REJECTED = "the server rejected our request due to an error in our request"


@pytest.mark.parametrize(
    ("operation", "place", "value"),
    [
        ({"op": "add", "path": "/a/b/1", "value": 9}, ("a", "b"), [1, 9, 2, 3]),
        ({"op": "add", "path": "/a/b/-", "value": 9}, ("a", "b"), [1, 2, 3, 9]),
        ({"op": "add", "path": "/a/b/-1", "value": 9}, ("a", "b"), [1, 2, 3, 9]),
        ({"op": "add", "path": "/n"}, ("n",), None),
        ({"op": "remove", "path": "/a/b/0"}, ("a", "b"), [2, 3]),
        ({"op": "remove", "path": "/a/b/-1"}, ("a", "b"), [1, 2]),
        ({"op": "replace", "path": "/a/c~1d", "value": {}}, ("a", "c/d"), {}),
        ({"op": "replace", "path": "/a/new", "value": 5}, ("a", "new"), 5),
        ({"op": "move", "from": "/n", "path": "/a/e~0f"}, ("a", "e~f"), 1),
        ({"op": "copy", "from": "/a/b", "path": "/n"}, ("n",), [1, 2, 3]),
        ({"op": "copy", "from": "/missing", "path": "/n"}, ("n",), None),
        ({"op": "test", "path": "/a/b", "value": [1, 2, 3]}, ("n",), 1),
        ({"op": "test", "path": "/a/e~0f"}, ("n",), 1),
    ],
)
def test_an_operation_does_what_it_says(
    operation: dict[str, Any], place: tuple[str, ...], value: Any
) -> None:
    before = copy.deepcopy(DOCUMENT)
    found: DecodedValue = json_patch.apply(DOCUMENT, [operation])
    for name in place:
        found = found[name]
    assert found == value
    assert before == DOCUMENT


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "frob", "path": "/n"},
        {"path": "/n"},
        {"op": "add", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "/a/b/4", "value": 1},
        {"op": "add", "path": "/a/b/x", "value": 1},
        {"op": "add", "path": "/a/b/1_0", "value": 1},
        {"op": "add", "path": "/n/x", "value": 1},
        {"op": "remove", "path": "/missing"},
        {"op": "remove", "path": "/a/b/3"},
        {"op": "replace", "path": "/a/b/3", "value": 1},
        {"op": "replace", "path": "", "value": 1},
        {"op": "move", "from": "/missing", "path": "/n"},
        {"op": "move", "path": "/n"},
        {"op": "test", "path": "/n", "value": 2},
        {"op": "test", "path": "/n", "value": 1.0},
        {"op": "test", "path": "/n", "value": True},
        {"op": "test", "path": "/a/e~0f", "value": 0},
    ],
)
def test_an_operation_that_does_not_fit_is_refused_without_a_reason(
    operation: dict[str, Any],
) -> None:
    with pytest.raises(PatchError) as error:
        json_patch.apply(DOCUMENT, [operation])
    assert (error.value.code, error.value.message) == (422, REJECTED)
    assert error.value.details == {}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({}, "object into Go value of type []handlers.jsonPatchOp"),
        ("x", "string into Go value of type []handlers.jsonPatchOp"),
        ([1], "number into Go value of type handlers.jsonPatchOp"),
        ([{"op": 1}], "number into Go struct field jsonPatchOp.op of type string"),
    ],
)
def test_what_is_no_patch_is_refused_by_its_type(patch: Any, message: str) -> None:
    with pytest.raises(PatchError) as error:
        json_patch.apply(DOCUMENT, patch)
    assert error.value.message == f"error decoding patch: json: cannot unmarshal {message}"
    assert error.value.code == 400


def test_the_whole_document_can_be_replaced_and_tested() -> None:
    patch: list[JsonValue] = [
        {"op": "replace", "path": "", "value": {"x": 1}},
        {"op": "test", "path": "/x"},
    ]
    with pytest.raises(PatchError):
        json_patch.apply(DOCUMENT, patch)
    patch[1] = {"op": "test", "path": "", "value": {"x": 1}}
    assert json_patch.apply(DOCUMENT, patch) == {"x": 1}


def test_null_and_no_operations_change_nothing() -> None:
    assert json_patch.apply(DOCUMENT, None) == DOCUMENT
    assert json_patch.apply(DOCUMENT, []) == DOCUMENT


def test_too_many_operations_are_refused() -> None:
    with pytest.raises(PatchError, match="maximum operations in a JSON patch is 10000, got 10001"):
        json_patch.apply({}, [{"op": "test", "path": ""}] * 10_001)


def test_unknown_fields_of_operations_are_told() -> None:
    patch: list[JsonValue] = [{"op": "test", "path": ""}, {"op": "add", "path": "/x", "valeu": 1}]
    assert json_patch.problems(patch) == ['json patch unknown field "[1].valeu"']


@given(document=json_objects, value=json_values, name=st.text(max_size=3))
def test_what_was_added_can_be_tested_and_removed(
    document: dict[str, Any], value: Any, name: str
) -> None:
    path = "/" + name.replace("~", "~0").replace("/", "~1")
    document = {key: item for key, item in document.items() if key != name}
    added: DecodedValue = json_patch.apply(document, [{"op": "add", "path": path, "value": value}])
    assert added == {**document, name: value}
    patch: list[JsonValue] = [
        {"op": "test", "path": path, "value": value},
        {"op": "remove", "path": path},
    ]
    assert json_patch.apply(added, patch) == document
