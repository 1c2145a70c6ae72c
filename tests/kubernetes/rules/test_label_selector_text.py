"""Label selectors as queries write them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import SelectorError
from podium.kubernetes.rules.selector_text import parse_label_selector


@pytest.mark.parametrize(
    ("text", "labels", "matches"),
    [
        ("", {"a": "b"}, True),
        ("app=web", {"app": "web"}, True),
        ("app==web", {"app": "db"}, False),
        ("app!=web", {}, True),
        ("app", {"app": ""}, True),
        ("!app", {"app": "x"}, False),
        ("app in (web, db)", {"app": "db"}, True),
        ("app notin (web),tier", {"tier": "x"}, True),
        ("app in ()", {"app": ""}, True),
        ("app in (,x)", {"app": "x"}, True),
        ("n > 3", {"n": "4"}, True),
        ("n<3", {"n": "4"}, False),
        ("in=notin", {"in": "notin"}, True),
        ("a=", {"a": ""}, True),
    ],
)
def test_a_selector_selects(text: str, labels: dict[str, str], matches: bool) -> None:
    assert parse_label_selector(text).matches(labels) is matches


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("==", "found '==', expected: !, identifier, or 'end of string'"),
        (
            "a b c",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        ),
        ("a,", "found '', expected: identifier after ','"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a==)", "unable to parse requirement: found ')', expected: identifier"),
    ],
)
def test_a_malformed_selector_is_refused_in_upstreams_words(text: str, problem: str) -> None:
    with pytest.raises(SelectorError) as refused:
        parse_label_selector(text)
    assert str(refused.value) == problem


def test_a_bad_key_is_refused_with_its_rule() -> None:
    with pytest.raises(SelectorError, match=r"<nil>: Invalid value: \"-a\": name part must"):
        parse_label_selector("-a=b")


@given(st.text(alphabet="ab=!(),<> in\t", max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(SelectorError):
        parse_label_selector(text).matches({"a": "b"})
