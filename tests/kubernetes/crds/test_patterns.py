"""Regular expressions of schemas: Go's language, and no way to keep the server busy."""

import pytest

from podium.kubernetes.crds.rule_costs import BadPattern, check_pattern, matches


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "abc\n", False),
        ("b", "abc", True),
        (r"^\d+\z", "12", True),
        (r"^\d$", "\u0663", False),
        ("^.$", "\u00e9", True),
        ("(?i)^ABC$", "abc", True),
    ],
)
def test_expressions_mean_what_they_mean_in_go(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("[a", "missing closing ]: `[a`"),
        ("(a", "missing closing ): `(a`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        (r"a\Z", r"invalid escape sequence: `\Z`"),
        ("a{2000}", "invalid repeat count: `{2000}`"),
    ],
)
def test_what_go_cannot_read_is_refused_in_its_words(pattern: str, problem: str) -> None:
    with pytest.raises(BadPattern) as refused:
        check_pattern(pattern)

    assert str(refused.value) == f"error parsing regexp: {problem}"


def test_no_expression_goes_back_and_forth() -> None:
    assert not matches("^(a+)+$", "a" * 1_000_000 + "!")
