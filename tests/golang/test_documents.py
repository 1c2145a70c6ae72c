"""Files become documents, whatever their format, and say where each object stands."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.documents import DocumentLimits, SourceDocument, expand_lists, read_documents
from podium.golang.errors import InputError
from podium.golang.json_values import JsonValue


def values(text: str | bytes) -> list[Any]:
    return [document.value for document in read_documents(text, "x")]


def refusal(text: str | bytes, limits: DocumentLimits | None = None) -> str:
    with pytest.raises(InputError) as caught:
        read_documents(text, "x", limits or DocumentLimits())
    return str(caught.value)


def expanded(text: str) -> list[tuple[str, Any]]:
    return [(d.place, d.value) for d in expand_lists(read_documents(text, "dump.json"))]


def test_yaml_documents_are_counted_and_know_their_line() -> None:
    documents = read_documents("a: 1\n---\n---\nb: 2\n", "pods.yaml")
    assert documents == [
        SourceDocument("pods.yaml", 1, 1, {"a": 1}, of=2),
        SourceDocument("pods.yaml", 2, 4, {"b": 2}, of=2),
    ]


def test_an_error_names_the_document_if_there_are_several() -> None:
    first, second = read_documents("a: 1\n---\nb: 2\n", "pods.yaml")
    assert first.place == "pods.yaml: document 1 (line 1)"
    assert str(second.error("is wrong", path="b", remedy="mend it")) == (
        "pods.yaml: document 2 (line 3): b: is wrong; mend it"
    )


def test_an_error_about_the_only_document_names_the_file() -> None:
    (only,) = read_documents("\n\na: 1\n", "pod.yaml")
    assert str(only.error("is wrong", path="a")) == "pod.yaml: a: is wrong"


@pytest.mark.parametrize("text", ["", "  \n", "# nothing\n", "---\n---\n", b""])
def test_a_file_without_content_has_no_documents(text: str | bytes) -> None:
    assert values(text) == []


def test_json_is_read_as_json() -> None:
    assert values(' \n{"on": "off", "n": 1.0, "big": 99999999999999999999}\n') == [
        {"on": "off", "n": 1.0, "big": 99999999999999999999}
    ]
    assert values('[1, "x"]') == [[1, "x"]]


@pytest.mark.parametrize("between", ["\n", "", "  \r\n\t"])
def test_several_json_values_are_several_documents(between: str) -> None:
    assert values('{"a": 1}' + between + '{"b":\n2}' + between) == [{"a": 1}, {"b": 2}]


def test_json_documents_know_their_lines() -> None:
    documents = read_documents('\n{"a":\n1}\n\n{"b": 2}{"c": 3}', "x")
    assert [(d.index, d.line, d.of) for d in documents] == [(1, 2, 3), (2, 5, 3), (3, 5, 3)]


def test_json_documents_may_be_separated_as_yaml_is() -> None:
    assert values('{"a": 1}\n---\n{"b": "yes"}\n---\nc: yes\n') == [
        {"a": 1},
        {"b": "yes"},
        {"c": True},
    ]


def test_bytes_are_utf8_with_or_without_mark_or_utf16_with_one() -> None:
    text = 'a: "größe"\n'
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert values(text.encode(encoding)) == [{"a": "größe"}]
    assert values("\ufeff" + text) == [{"a": "größe"}]


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    assert refusal(b"a: 1\nb: \xff\n") == "x: line 2: not UTF-8; save the file as UTF-8"
    assert "not Unicode text" in refusal("a: \ud800")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n "b": }', "x: line 2: not JSON: Expecting value"),
        ('{"a": 1\n', "x: line 2: not JSON: Expecting ',' delimiter"),
        ('{"a": 1}\n{"b": 2\n', "x: line 3: not JSON"),
        ('{"a": 1} tail', "x: line 1: not JSON: Expecting value"),
        ("{a: 1}", "x: line 1: not JSON: Expecting property name enclosed in double quotes"),
        ('{"a": NaN}', "x: line 1: not JSON"),
        ('{"a": 1}\n{"b": 1e999}', "x: line 2: not JSON"),
        ('{"a": "\\ud800"}', "x: line 1: not JSON"),
    ],
)
def test_broken_json_is_refused_with_its_line(text: str, told: str) -> None:
    assert refusal(text).startswith(told)


def test_a_template_gets_advice_rather_than_a_syntax_error() -> None:
    assert "render it first" in refusal("{{ .Values.all }}")


def test_size_is_bounded() -> None:
    limits = DocumentLimits(size_bytes=10)
    assert read_documents("a: 1", "x", limits)
    assert refusal("a: 12345678", limits).startswith("x: larger than ")
    assert refusal("x" * (2 * 1024 * 1024), DocumentLimits(size_bytes=1024 * 1024)) == (
        "x: larger than 1 MiB; split the file"
    )


@pytest.mark.parametrize("deep", ["[" * 101 + "]" * 101, '{"a":' * 101 + "1" + "}" * 101])
def test_nesting_is_bounded_in_json_and_yaml(deep: str) -> None:
    assert "nested more than 100 levels deep" in refusal(deep)
    assert "nested more than 100 levels deep" in refusal("- x\n- " + deep)
    assert read_documents(deep, "x", DocumentLimits(depth=101))


def test_nesting_beyond_all_measure_is_refused_too() -> None:
    assert "nested more than 100 levels deep" in refusal("[" * 100_000 + "]" * 100_000)
    assert "nested more than 100 levels deep" in refusal('{"a":' * 100_000)


FEW = DocumentLimits(values=20, yaml_values=20, objects=5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" + "{}," * 20 + "{}]", "more than 20 values"),
        ("- {}\n" * 21, "more than 20 values"),
        ("- a\n" * 21, "more than 20 values"),
        ("{}" * 7, "more than 5 objects"),
        ("a: 1\n---\n" * 6, "more than 5 objects"),
        ("[" + "{}," * 6 + "{}]", "more than 5 objects"),
        ("[[{},{},{}],[{},{},{}]]", "more than 5 objects"),
    ],
)
def test_what_a_text_becomes_in_memory_is_bounded(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        list(expand_lists(read_documents(text, "f", FEW), FEW))


def test_items_of_a_list_become_documents_with_a_place() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod"}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod, pod]})
    assert expanded(text) == [("dump.json: items[0]", pod), ("dump.json: items[1]", pod)]


def test_items_of_a_typed_list_get_their_kind() -> None:
    text = json.dumps(
        {"apiVersion": "apps/v1", "kind": "ReplicaSetList", "items": [{"spec": {}}, "x"]}
    )
    assert expanded(text) == [
        ("dump.json: items[0]", {"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {}}),
        ("dump.json: items[1]", "x"),
    ]


def test_lists_in_lists_are_expanded() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [{"kind": "A"}]}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [inner, [1]]})
    assert [place for place, _ in expanded(text)] == [
        "dump.json: items[0].items[0]",
        "dump.json: items[1][0]",
    ]


def test_a_json_array_is_a_list_of_documents() -> None:
    assert expanded('[{"kind": "A"}, 2]') == [
        ("dump.json: [0]", {"kind": "A"}),
        ("dump.json: [1]", 2),
    ]


def test_the_items_of_a_list_keep_the_number_of_their_document() -> None:
    documents = expand_lists(read_documents("kind: A\n---\nkind: BList\nitems: [{}]\n", "x.yaml"))
    assert [document.place for document in documents] == [
        "x.yaml: document 1 (line 1)",
        "x.yaml: document 2 (line 3): items[0]",
    ]


@pytest.mark.parametrize("items", [[], None])
def test_an_empty_list_gives_nothing(items: object) -> None:
    assert expanded(json.dumps({"kind": "PodList", "items": items})) == []


@pytest.mark.parametrize(
    "value", [{"kind": "AllowList", "spec": {}}, {"kind": "XList", "items": 3}, {"items": []}, 7]
)
def test_what_only_looks_like_a_list_stays_as_it_is(value: JsonValue) -> None:
    documents = list(expand_lists([SourceDocument("x", 1, 1, value)]))
    assert [document.value for document in documents] == [value]


@given(st.text() | st.binary())
def test_any_input_is_either_read_or_refused(text: str | bytes) -> None:
    with contextlib.suppress(InputError):
        list(expand_lists(read_documents(text, "x")))
