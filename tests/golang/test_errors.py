"""Errors read as one sentence that names the place, the problem and the remedy."""

import pytest

from podium.golang.errors import InputError, ObjectError, UnknownKind, closest


def test_an_input_error_names_file_document_line_field_and_remedy() -> None:
    error = InputError(
        'quantity "1x" does not parse',
        source="pods.yaml",
        document=2,
        line=14,
        path="spec.containers[0].resources.requests.cpu",
        remedy="write for example 500m, 2 or 1.5",
    )
    assert str(error) == (
        "pods.yaml: document 2 (line 14): spec.containers[0].resources.requests.cpu: "
        'quantity "1x" does not parse; write for example 500m, 2 or 1.5'
    )


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (InputError("is empty"), "is empty"),
        (InputError("is empty", source="a.yaml"), "a.yaml: is empty"),
        (InputError("bad", source="a.yaml", line=3), "a.yaml: line 3: bad"),
        (InputError("bad", source="a.yaml", document=3), "a.yaml: document 3: bad"),
        (InputError("bad", path="spec", remedy="mend it"), "spec: bad; mend it"),
    ],
)
def test_an_input_error_leaves_out_what_is_not_known(error: InputError, text: str) -> None:
    assert str(error) == text


def test_an_object_error_starts_with_the_path() -> None:
    assert str(ObjectError("spec.nodeName", "is wrong", "mend it")) == (
        "spec.nodeName: is wrong; mend it"
    )
    assert str(ObjectError("", "is wrong")) == "is wrong"


def test_an_unknown_kind_suggests_what_was_probably_meant() -> None:
    error = UnknownKind("v1", "Pods", "Pod")
    assert str(error) == ("kind: Pods (v1) is not a kind that scheduling reads; did you mean Pod?")
    assert UnknownKind("v1", "ConfigMap").remedy == ""


@pytest.mark.parametrize(
    ("word", "match"),
    [("nodeselector", "nodeSelector"), ("toleration", "tolerations"), ("colour", "")],
)
def test_the_closest_word_forgives_case_and_slips_but_does_not_guess(word: str, match: str) -> None:
    assert closest(word, ["nodeName", "nodeSelector", "tolerations"]) == match
