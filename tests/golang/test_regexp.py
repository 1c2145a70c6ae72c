"""Regular expressions: RE2's dialect, and time that does not explode."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.regexp import PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b+", "abbbc", "bbb"),
        ("b+?", "abbbc", "b"),
        ("a|ab", "ab", "a"),
        ("(?:a|ab)(c|bcd)", "abcd", "abcd"),
        ("^b", "ab", None),
        ("b$", "ab", "b"),
        ("b$", "ab\n", None),
        ("(?m)a$", "a\nb", "a"),
        ("(?i)abc", "xABCx", "ABC"),
        ("(?i:a)b", "Ab", "Ab"),
        ("(?s)a.b", "a\nb", "a\nb"),
        ("a.b", "a\nb", None),
        (r"\d{2,3}", "12345", "123"),
        (r"\w+\s\S", "ab c", "ab c"),
        (r"\bfoo\b", "a foo b", "foo"),
        (r"\Bo", "foo", "o"),
        ("[a-c]+", "xabcx", "abc"),
        ("[^a-c]+", "abxyc", "xy"),
        ("[[:alpha:]]+", "1ab2", "ab"),
        ("[]a]+", "x]a", "]a"),
        (r"[\d-]+", "1-2", "1-2"),
        (r"\pL+", "1éa", "éa"),
        (r"\p{Nd}", "a7", "7"),
        (r"\x41\x{42}", "AB", "AB"),
        (r"\Qa.b\E", "a.b", "a.b"),
        (r"\Aa\z", "a", "a"),
        ("(?P<x>a)(?<y>b)", "ab", "ab"),
        ("a{0}b", "ab", "b"),
        ("x*", "aaa", ""),
        ("a{,2}", "a{,2}", "a{,2}"),
        ("(?U)a+", "aaa", "a"),
    ],
)
def test_the_leftmost_match_is_found(pattern: str, text: str, found: str | None) -> None:
    assert compile_pattern(pattern).find(text) == found


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "missing closing )"),
        (")", "unexpected )"),
        ("[a", "missing closing ]"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        (r"\1", "invalid escape sequence"),
        (r"\y", "invalid escape sequence"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<=a)", "invalid named capture"),
        ("a{1001}", "invalid repeat count"),
        ("(a{100}){100}", "invalid repeat count"),
        ("a{2,1}", "invalid repeat count"),
        ("[b-a]", "invalid character class range"),
        ("[[:nope:]]", "invalid character class range"),
        (r"\p{Nope}", "invalid character class range"),
        ("\\", "trailing backslash at end of expression"),
    ],
)
def test_what_re2_does_not_know_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(PatternError) as found:
        compile_pattern(pattern)
    assert str(found.value).startswith(f"error parsing regexp: {problem}")


def test_all_matches_do_not_overlap() -> None:
    assert list(compile_pattern("a*").find_all("baaac", -1)) == ["", "aaa", ""]
    assert list(compile_pattern("a.").find_all("abacad", 2)) == ["ab", "ac"]


def test_a_pattern_cannot_make_a_search_hang() -> None:
    assert not compile_pattern("(a+)+$").matches("a" * 300 + "b")
    assert not compile_pattern("(a|a)*c").matches("a" * 300)


simple = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(?:)"]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "*?", "{1,2}"])),
    ),
    max_leaves=6,
)


@given(simple, st.text(alphabet="abc", max_size=6))
def test_plain_patterns_match_as_in_python(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).matches(text) == (re.search(pattern, text) is not None)
