"""Scalars mean what go-yaml v2 makes of them, because kubectl reads them with it."""

import pytest

from podium.golang.yaml_scalars import Scalar, ScalarError, key_text, plain, read_tagged


@pytest.mark.parametrize(
    "text", ["true", "True", "TRUE", "yes", "Yes", "YES", "on", "ON", "y", "Y"]
)
def test_words_of_consent_are_true(text: str) -> None:
    assert plain(text) is True


@pytest.mark.parametrize("text", ["false", "False", "FALSE", "no", "No", "off", "Off", "n", "N"])
def test_words_of_refusal_are_false(text: str) -> None:
    assert plain(text) is False


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_has_five_spellings(text: str) -> None:
    assert plain(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("-0", 0),
        ("42", 42),
        ("+42", 42),
        ("-42", -42),
        ("1_000_000", 1_000_000),
        ("017", 15),
        ("-017", -15),
        ("0o17", 15),
        ("0O17", 15),
        ("0x1F", 31),
        ("0X1f", 31),
        ("0b101", 5),
        ("-0b101", -5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_integers_are_decimal_octal_hexadecimal_or_binary(text: str, number: int) -> None:
    assert plain(text) == number
    assert type(plain(text)) is int


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5", 1.5), (".5", 0.5), ("-.5", -0.5), ("1_0.25", 10.25), ("25e-2", 0.25), ("1e22", 1e22)],
)
def test_floats_have_a_point_or_an_exponent(text: str, number: float) -> None:
    assert plain(text) == number
    assert type(plain(text)) is float


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.0", 1), ("1.", 1), ("1e3", 1000), ("12e03", 12000), ("08", 8), ("-0.0", 0)],
)
def test_a_whole_float_becomes_an_integer_as_it_does_in_json(text: str, number: int) -> None:
    assert plain(text) == number
    assert type(plain(text)) is int


def test_an_integer_beyond_64_bits_becomes_a_float() -> None:
    assert plain("1000000000000000000000000") == 1e24
    assert type(plain("1000000000000000000000000")) is float
    assert plain("18446744073709551616") == 2**64


@pytest.mark.parametrize(
    "text",
    [
        "2001-12-14",
        "2001-12-14T21:59:43Z",
        "12:30:45",
        "1:30",
        "0x",
        "0xg",
        "0b2",
        "0o8",
        "1.2.3",
        "10.0.0.1",
        "500m",
        "1Gi",
        "1e",
        "1e999",
        "-",
        "+",
        ".",
        "...x",
        "-x",
        "_1",
        "oN",
        "nULL",
        "nan",
        "inf",
        "<<",
        "=",
        "web",
        "yesterday",
    ],
)
def test_everything_else_is_a_string(text: str) -> None:
    assert plain(text) == text


def test_a_number_with_thousands_of_digits_is_no_trouble() -> None:
    assert plain("9" * 5000) == "9" * 5000
    assert plain("0" * 5000 + "1") == 1
    assert plain("0." + "3" * 5000) == pytest.approx(1 / 3)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF"])
def test_numbers_that_json_lacks_are_refused(text: str) -> None:
    with pytest.raises(ScalarError, match="JSON"):
        plain(text)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("str", "12", "12"),
        ("str", "", ""),
        ("int", "0x10", 16),
        ("float", "3", 3),
        ("float", "1.5", 1.5),
        ("bool", "yes", True),
        ("null", "", None),
        ("timestamp", "2001-12-14", "2001-12-14"),
        ("binary", "aGVsbG8=", "hello"),
        ("python/name:os.system", "x", "x"),
    ],
)
def test_a_tag_decides_the_type(tag: str, text: str, value: Scalar) -> None:
    assert read_tagged(f"tag:yaml.org,2002:{tag}", text) == value


def test_an_unknown_tag_makes_a_string() -> None:
    assert read_tagged("!Ref", "12") == "12"
    assert read_tagged("!", "12") == "12"


@pytest.mark.parametrize(
    ("tag", "text"),
    [("int", "x"), ("int", "true"), ("int", "1.5"), ("bool", "1"), ("null", "x"), ("float", "yes")],
)
def test_a_value_that_contradicts_its_tag_is_refused(tag: str, text: str) -> None:
    with pytest.raises(ScalarError, match=f"!!{tag}"):
        read_tagged(f"tag:yaml.org,2002:{tag}", text)


@pytest.mark.parametrize("text", ["not base64!", "/w=="])
def test_binary_that_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(ScalarError, match="base64"):
        read_tagged("tag:yaml.org,2002:binary", text)


@pytest.mark.parametrize(
    ("value", "key"),
    [("a", "a"), (True, "true"), (False, "false"), (15, "15"), (1.5, "1.5"), (1e22, "1e+22")],
)
def test_keys_become_strings(value: Scalar, key: str) -> None:
    assert key_text(value) == key


def test_a_null_key_is_refused() -> None:
    with pytest.raises(ScalarError, match="null"):
        key_text(None)
