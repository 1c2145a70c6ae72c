"""Items of JSON lists that are told apart without being decoded."""

import json

import pytest

from podium.golang.documents import TypeMeta, expand_lists, read_documents, read_json_list


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def test_items_are_those_that_taking_a_document_apart_gives() -> None:
    body = {"apiVersion": "v1", "kind": "PodList", "items": [{"a": "ä"}, {"kind": "Node"}, 5]}
    data = json.dumps(body, ensure_ascii=False).encode()
    listed = read_json_list(data, "x.json")
    assert listed is not None
    expected = list(expand_lists(read_documents(data, "x.json")))
    assert [item.document() for item in listed.items] == expected
    assert [item.place for item in listed.items] == [document.place for document in expected]


def test_an_item_is_what_it_says_or_else_what_its_list_says() -> None:
    items = [{}, {"kind": "Node"}, {"apiVersion": "v2", "kind": "X"}, {"kind": 5}, {"kind": ""}]
    data = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items}).encode()
    listed = read_json_list(data, "x.json")
    assert listed is not None
    assert [item.type_meta() for item in listed.items] == [
        TypeMeta("v1", "Pod"),
        TypeMeta("v1", "Node"),
        TypeMeta("v2", "X"),
        None,
        TypeMeta("v1", ""),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"kind: List\nitems: []\n",
        b'{"kind": "Pod", "items": [{}]}',
        b'{"kind": "List", "items": {}}',
        b'{"kind": "List"}',
        b'{"kind": "List", "items": [{}]} {"kind": "Pod"}',
        b'{"kind": "List", "items": [{"a": "\xff"}]}',
        b'{"kind": "List", "items": [{"a": "\\q"}]}',
        b"[{}]",
        b'{"kind": "List", "items": [' + b"[" * 50_000,
    ],
)
def test_everything_else_is_left_to_the_careful_way(data: bytes) -> None:
    assert read_json_list(data, "x") is None


@pytest.mark.parametrize(("levels", "is_read"), [(98, True), (99, False)])
def test_nesting_is_bounded_as_for_every_document(levels: int, is_read: bool) -> None:
    text = "[" * 200 + '"'
    data = json.dumps({"kind": "List", "items": [{}, nested(levels), text]}).encode()
    assert (read_json_list(data, "x") is not None) is is_read


def test_many_brackets_side_by_side_are_not_deep() -> None:
    data = json.dumps({"kind": "List", "items": [[[1]] * 500, {"a": "\\"}]}).encode()
    assert read_json_list(data, "x") is not None
