"""Addresses of extenders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.client.extenders.exchange import (
    AddressProblem,
    check_url,
    show_url,
    verb_url,
    wire_form,
)
from podium.golang.quoting import go_quote


@given(st.text(alphabet="abc/", max_size=8), st.text(max_size=10))
def test_one_slash_stands_before_the_verb(prefix: str, verb: str) -> None:
    url = verb_url(f"http://h/{prefix}", verb)
    assert url.endswith(f"/{verb}")
    assert not url.removesuffix(f"/{verb}").endswith("/")


@given(st.text() | st.from_regex(r"https?://[\[\]:@.a-z0-9%]{0,12}[/?]?.{0,5}"))
def test_any_address_is_checked_without_another_error(text: str) -> None:
    told = ""
    try:
        parts = check_url(text)
    except AddressProblem as problem:
        told = str(problem)
    if told:
        assert go_quote(show_url(text)) in told or go_quote(text) in told
    else:
        assert wire_form(parts).isascii() or not parts.netloc.isascii()


def test_what_is_escaped_stays_so() -> None:
    assert wire_form(check_url("http://h/a%2fb/%C3%A9?x=%20#part")) == "http://h/a%2fb/%C3%A9?x=%20"
    assert wire_form(check_url("http://h/é ü")) == "http://h/%C3%A9%20%C3%BC"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://u:p@h/x", "http://u:***@h/x"),
        ("http://u:p@@h/x", "http://u:***@h/x"),
        ("http://u@h/x", "http://u@h/x"),
        ("http://h/x:y@z", "http://h/x:y@z"),
    ],
)
def test_passwords_are_not_shown(url: str, text: str) -> None:
    assert show_url(url) == text
