"""YAML that reads back to what it was, in the style of Go's encoder."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.apiserver.bodies import read_yaml_body
from podium.golang.yaml_writer import as_yaml, yaml_chunks

TEXTS = st.text(alphabet="ab01:-_. \n\t\"'#yYnN~e+", max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_it_reads_back(value: dict[str, Any]) -> None:
    assert read_yaml_body(as_yaml(value)).value == value


@given(st.lists(VALUES, max_size=20) | st.none(), VALUES)
def test_a_list_in_pieces_is_the_list_at_once(items: list[Any] | None, other: Any) -> None:
    value = {"apiVersion": "v1", "items": items, "kind": "List", "other": other, "rows": [other]}
    assert b"".join(yaml_chunks(msgspec.json.encode(value))) == as_yaml(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [{"c": "x"}]}, b"a:\n- c: x\nb: 1\n"),
        ({"a": "5"}, b'a: "5"\n'),
        ({"a": "true", "b": "", "c": "null"}, b'a: "true"\nb: ""\nc: "null"\n'),
        ({"a": "2026-01-01T00:00:00Z"}, b'a: "2026-01-01T00:00:00Z"\n'),
        ({"a": "nginx:1.27", "b": {}, "c": []}, b"a: nginx:1.27\nb: {}\nc: []\n"),
        ({"a": "x\ny\n"}, b"a: |\n  x\n  y\n"),
        ({"a": "and so on..."}, b"a: and so on...\n"),
        ({"a": "x\n\n"}, b"a: |+\n  x\n\n"),
        (
            {"a": "word " * 17 + "end"},
            b"a: " + b"word " * 15 + b"word\n  word end\n",
        ),
    ],
)
def test_it_is_written_as_go_writes_it(value: dict[str, Any], text: bytes) -> None:
    assert as_yaml(value) == text
