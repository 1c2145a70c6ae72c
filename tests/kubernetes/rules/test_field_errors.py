"""The texts of field errors, part by part."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.schema_values import json_values

from podium.golang.quoting import go_quote
from podium.kubernetes.rules import field_errors
from podium.kubernetes.rules.field_errors import OMITTED, FieldError, go_json
from podium.kubernetes.status_errors import invalid as refusal


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (field_errors.required("spec.a"), "spec.a: Required value"),
        (field_errors.required("a", "say so"), "a: Required value: say so"),
        (field_errors.invalid("a", "x", "no"), 'a: Invalid value: "x": no'),
        (field_errors.invalid("a", 5, "no"), "a: Invalid value: 5: no"),
        (field_errors.invalid("a", True, "no"), "a: Invalid value: true: no"),
        (field_errors.invalid("a", None, "no"), "a: Invalid value: null: no"),
        (field_errors.invalid("a", {"b": ["<"]}, "no"), 'a: Invalid value: {"b":["\\u003c"]}: no'),
        (field_errors.invalid("a", OMITTED, "no"), "a: Invalid value: no"),
        (field_errors.type_invalid("a", "x", "no"), 'a: Invalid value: "x": no'),
        (field_errors.immutable("a", "x"), 'a: Invalid value: "x": field is immutable'),
        (
            field_errors.not_supported("a", "x", ["A", "B"]),
            'a: Unsupported value: "x": supported values: "A", "B"',
        ),
        (field_errors.not_supported("a", "x", []), 'a: Unsupported value: "x"'),
        (field_errors.forbidden("a", "no"), "a: Forbidden: no"),
        (field_errors.duplicate("a[1]", "x"), 'a[1]: Duplicate value: "x"'),
        (field_errors.not_found("a", "x"), 'a: Not found: "x"'),
        (field_errors.too_long("a", 63), "a: Too long: may not be more than 63 bytes"),
        (field_errors.too_long("a", 1), "a: Too long: may not be more than 1 byte"),
        (
            field_errors.too_long_in_characters("a", 2),
            "a: Too long: may not be more than 2 characters",
        ),
        (field_errors.too_many("a", 9, 8), "a: Too many: 9: must have at most 8 items"),
        (field_errors.too_many("a", 2, 1), "a: Too many: 2: must have at most 1 item"),
    ],
)
def test_errors_are_written_as_the_real_server_writes_them(error: FieldError, text: str) -> None:
    assert str(error) == text


def test_an_error_of_a_part_names_the_whole_path_once_it_is_put_below_one() -> None:
    below = field_errors.required("name").below("spec.template")
    assert str(below) == "spec.template.name: Required value"
    assert str(field_errors.required("").below("spec")) == "spec: Required value"


def test_several_errors_become_one_sentence_and_one_cause_each() -> None:
    errors = [field_errors.required("a"), field_errors.invalid("b", 1, "no")]
    status = refusal("apps", "Deployment", "d", errors).as_object()
    assert status["message"] == (
        'Deployment.apps "d" is invalid: [a: Required value, b: Invalid value: 1: no]'
    )
    assert status["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "a"},
        {"reason": "FieldValueInvalid", "message": "Invalid value: 1: no", "field": "b"},
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ('say "x"', r'"say \"x\""'),
        ("tab\there", r'"tab\there"'),
        ("a\\b", r'"a\\b"'),
        ("\x00\x1f", r'"\x00\x1f"'),
        ("é☃", '"é☃"'),
        ("\u200b", r'"\u200b"'),
        ("\U000e0001", r'"\U000e0001"'),
    ],
)
def test_texts_are_quoted_as_go_quotes_them(text: str, shown: str) -> None:
    assert go_quote(text) == shown


@given(json_values)
def test_values_are_shown_as_json_that_reads_back_the_same(value: Any) -> None:
    assert json.loads(go_json(value)) == value


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_quoted_ascii_reads_back_the_same(text: str) -> None:
    assert json.loads(go_quote(text)) == text
