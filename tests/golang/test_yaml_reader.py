"""YAML becomes plain values; hostile and broken YAML becomes an error with a line."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.errors import InputError
from podium.golang.yaml_reader import read_yaml


def read(text: str, *, depth: int = 100, alias_nodes: int = 1000) -> list[Any]:
    reader = read_yaml(text, "x.yaml", depth=depth, alias_nodes=alias_nodes)
    return [value for _, value in reader]


def refusal(text: str, *, depth: int = 100, alias_nodes: int = 1000) -> str:
    with pytest.raises(InputError) as caught:
        read(text, depth=depth, alias_nodes=alias_nodes)
    assert caught.value.source == "x.yaml"
    return str(caught.value)


def test_maps_lists_and_scalars_nest() -> None:
    assert read("a: [1, {b: no}]\nc:\n- x\n- 'yes'\n- |\n  text\n") == [
        {"a": [1, {"b": False}], "c": ["x", "yes", "text\n"]}
    ]


def test_quoted_scalars_are_strings() -> None:
    assert read('["1", \'true\', "", \'~\', "0x1"]') == [["1", "true", "", "~", "0x1"]]


def test_keys_become_strings() -> None:
    assert read("{1: a, yes: b, 0x10: c, 1.5: d}") == [
        {"1": "a", "true": "b", "16": "c", "1.5": "d"}
    ]


def test_documents_come_with_the_line_of_their_content_and_empty_ones_do_not_come() -> None:
    text = "# nothing\n---\n\na: 1\n---\n---\n# nothing\n---\nnull\n--- # two\nb: 2\n...\n"
    assert list(read_yaml(text, "x", depth=9, alias_nodes=9)) == [(4, {"a": 1}), (11, {"b": 2})]


def test_an_empty_text_has_no_documents() -> None:
    assert read("") == []
    assert read("# only a comment\n") == []


def test_anchors_and_aliases_repeat_values() -> None:
    assert read("a: &x {k: 1}\nb: *x\nc: [&y z, *y]\n") == [
        {"a": {"k": 1}, "b": {"k": 1}, "c": ["z", "z"]}
    ]


def test_an_alias_can_be_a_key() -> None:
    assert read("a: &k name\n*k : 1\n") == [{"a": "name", "name": 1}]


def test_merge_keys_merge_at_their_place_and_the_first_of_several_maps_wins() -> None:
    base = "x: &x {a: 1, b: 1}\ny: &y {a: 2, c: 2}\n"
    assert read(base + "z:\n  <<: *x\n  b: 9\n")[0]["z"] == {"a": 1, "b": 9}
    assert read(base + "z:\n  b: 9\n  <<: *x\n")[0]["z"] == {"a": 1, "b": 1}
    assert read(base + "z:\n  <<: [*x, *y]\n")[0]["z"] == {"a": 1, "b": 1, "c": 2}
    assert read("{<<: {a: 1}, b: 2}") == [{"a": 1, "b": 2}]
    assert read("{'<<': 1}") == [{"<<": 1}]


def test_a_merge_of_something_else_is_refused() -> None:
    assert refusal("a: 1\n<<: 5\n") == "x.yaml: line 2: << needs a map or a list of maps"


def test_a_duplicate_key_is_refused_with_both_lines() -> None:
    assert refusal("a: 1\nb: 2\na: 3\n") == (
        'x.yaml: line 3: key "a" appears twice in one map, first on line 1; remove one of the two'
    )
    assert 'key "1" appears twice' in refusal("{1: a, '1': b}")
    assert 'key "a" appears twice' in refusal("{a: 1, a: 1}")


def test_the_same_key_in_different_maps_is_fine() -> None:
    assert read("- {a: 1}\n- {a: 2, b: {a: 3}}") == [[{"a": 1}, {"a": 2, "b": {"a": 3}}]]


@pytest.mark.parametrize(
    "text", ["? {a: 1}\n: b", "? [a]\n: b", "a: &x [1]\n*x : 2", "? \n: b", "~: 1"]
)
def test_keys_that_are_no_plain_values_are_refused(text: str) -> None:
    assert "key" in refusal(text)


def test_a_template_is_recognised() -> None:
    assert "render it first" in refusal("name: {{ .Values.name }}\n")


def test_nesting_is_bounded() -> None:
    assert read("[[[1]]]", depth=3) == [[[[1]]]]
    assert refusal("a:\n- [[[1]]]", depth=3) == "x.yaml: line 2: nested more than 3 levels deep"
    assert "nested" in refusal("[" * 100_000)


def test_nesting_by_aliases_is_bounded_too() -> None:
    text = "- &a [1]\n- &b [*a]\n- &c [*b]\n- [*c]\n"
    assert read(text, depth=5)
    assert "line 4: nested" in refusal(text, depth=4)


def test_a_billion_laughs_are_not_laughed() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert "aliases repeat more than 1000000 values" in refusal(
        "\n".join(lines), alias_nodes=1_000_000
    )


def test_alias_expansion_is_counted_over_all_documents() -> None:
    text = "---\n- &a [1, 2]\n- *a\n" * 4
    assert len(read(text, alias_nodes=12)) == 4
    assert "aliases" in refusal(text, alias_nodes=11)


def test_an_anchor_that_contains_itself_is_refused() -> None:
    assert "&a contains itself" in refusal("a: &a\n  b: *a\n")


def test_an_alias_without_anchor_is_refused_even_if_another_document_has_it() -> None:
    assert refusal("a: &x 1\n---\nb: *x\n") == (
        "x.yaml: line 3: alias *x has no anchor &x before it"
    )


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!python/name:os.system"])
def test_tags_create_no_python_objects(tag: str) -> None:
    assert read(f"{tag} [echo]") == [["echo"]]
    assert read(f"{tag} echo") == ["echo"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a:\n\tb: 1\n", "line 2: a tab is used for indentation; indent with spaces"),
        ("a: b\n\tc: d\n", "line 2: found a tab character that violates indentation; indent"),
        ("a: 1\nb: 'x\nc: 2\n", "line 2: a quote is not closed; add the closing quote"),
        ('a: "x\n', "line 1: a quote is not closed"),
        ("a: @x\n", 'line 1: no value can start with "@"; put the value in quotes'),
        ("a: 1\n b: 2\n", "line 2: mapping values are not allowed in this context; check the ind"),
        ("a: [1\nb: 2\n", "close the bracket"),
        ("- a\nb: 1\n", "line 2: did not find expected '-' indicator; check the indentation"),
        ('a: "\\q"\n', "unknown escape character; write the backslash twice"),
        ("a: 1\n...\nb: 2\n", "line 3: did not find expected <document start>; separate"),
        ("%YAML 3.0\n---\na: 1\n", "line 1: found incompatible YAML document"),
        ("a: é\nb: \x01\n", "line 2: character '\\x01' is not allowed"),
        ("a: !!int x\n", 'line 1: "x" is not of the type its tag !!int demands'),
        ("a: 1\nb: .nan\n", "line 2: .nan is not a number that JSON can express"),
    ],
)
def test_what_is_no_yaml_is_explained_with_its_line(text: str, told: str) -> None:
    assert told in refusal(text)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abcxyz ~:-#0"), inner),
    max_leaves=20,
)


@given(json_values.filter(lambda value: value is not None))
def test_json_read_as_yaml_gives_the_same_values(value: Any) -> None:
    assert read(json.dumps(value, ensure_ascii=False)) == [value]


@given(st.text(st.sampled_from("ab:-,[]{}&*!|>'\"%@#?~ \n\t<01.")))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    with contextlib.suppress(InputError):
        read(text)
