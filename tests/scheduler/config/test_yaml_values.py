"""YAML that is right as YAML and cannot become a configuration's JSON."""

import pytest

from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import go_syntax, read_written


def refusal(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_written(text.encode())
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!int x\n", "yaml: cannot decode !!str `x` as a !!int"),
        ("a: !!int 3.5\n", "yaml: cannot decode !!float `3.5` as a !!int"),
        ("a: !!bool 1\n", "yaml: cannot decode !!int `1` as a !!bool"),
        ("a: !!float yes\n", "yaml: cannot decode !!bool `yes` as a !!float"),
        ("a: !!null x\n", "yaml: cannot decode !!str `x` as a !!null"),
        ("a: !!timestamp x\n", "yaml: cannot decode !!str `x` as a !!timestamp"),
        ("a: !!binary AAA\n", "yaml: !!binary value contains invalid base64 data"),
        ("? [a, 1]\n: 3\n", 'yaml: invalid map key: []interface {}{"a", 1}'),
        ("? {a: b}\n: 3\n", 'yaml: invalid map key: map[interface {}]interface {}{"a":"b"}'),
        ("<<: 3\n", "yaml: map merge requires map or sequence of maps as the value"),
        ("<<: [3]\n", "yaml: map merge requires map or sequence of maps as the value"),
        ("null: 3\n", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 3"),
        (
            "10000000000000000000: x\n",
            'unsupported map key of type: uint64, key: 0x8ac7230489e80000, value: "x"',
        ),
        ("%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"),
    ],
)
def test_what_go_yaml_cannot_read_is_told_in_its_words(text: str, message: str) -> None:
    assert refusal(text) == message


def test_a_syntax_error_is_told_before_a_value_that_json_lacks() -> None:
    assert refusal("a: .nan\nb: [1\n").startswith("yaml: line 2: did not find")
    assert refusal("a: .nan\nnull: 1\n").startswith("unsupported map key")
    assert refusal("a: .nan\nb: !!int x\n").startswith("yaml: cannot decode")
    assert refusal("b: .inf\n") == "json: unsupported value: +Inf"


@pytest.mark.parametrize(
    ("key", "text"),
    [("true", "true"), ("1", "1"), ("1.5", "1.5"), (".inf", ".inf"), ("-.inf", "-.inf"),
     (".nan", ".nan"), ("100000000.5", "1e+08"), ("1e39", ".inf"), ("0x10", "16")],
)  # fmt: skip
def test_a_key_that_is_no_text_becomes_one(key: str, text: str) -> None:
    assert list(read_written(f"{key}: a\n".encode()).value) == [text]


def test_keys_are_equal_only_if_they_are_of_one_type() -> None:
    assert read_written(b"1: a\n'1': b\n").repeated_keys == ()
    assert read_written(b"yes: a\ntrue: b\n").repeated_keys == (
        "line 2: key true already set in map",
    )


def test_what_another_key_replaces_has_no_say_in_what_comes_later() -> None:
    text = b"".join(b"a:\n- b: 1\na:\n- b: 2\n" for _ in range(20))
    found = read_written(text).repeated_keys
    assert len(found) == 39
    assert all('key "a" already set' in line for line in found)


def test_what_an_alias_repeats_is_repeated_with_its_equal_keys() -> None:
    text = b"a: &a\n  b: 1\n  b: 2\nc: *a\n"
    assert read_written(text).repeated_keys == ('line 3: key "b" already set in map',) * 2


def test_an_integer_beyond_64_bits_is_shown_with_the_digits_of_a_float() -> None:
    value = read_written(b"a: 18446744073709551616\n").value["a"]
    assert value.text == "18446744073709552000"


def test_binary_text_is_decoded() -> None:
    assert read_written(b"a: !!binary aGk=\n").value == {"a": "hi"}
    assert read_written(b"a: !!binary /w==\n").value == {"a": "\ufffd"}


def test_values_are_shown_as_go_shows_them() -> None:
    assert go_syntax({"a": [None, True, 1.5]}) == (
        'map[interface {}]interface {}{"a":[]interface {}{interface {}(nil), true, 1.5}}'
    )
