"""Text of configurations as upstream reads it."""

import pytest

from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.written import read_written

HEADER_JSON_ERROR = "couldn't get version/kind; json parse error: "


def refusal(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_written(text.encode())
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b": 2}', "invalid character '\"' after object key:value pair"),
        ('{"a": [1 2]}', "invalid character '2' after array element"),
        ('{"a": }', "invalid character '}' looking for beginning of value"),
        ("{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        ('{"a": 1} x', "invalid character 'x' after top-level value"),
        ('{"a": NaN}', "invalid character 'N' looking for beginning of value"),
        ('{"a": "b', "unexpected end of JSON input"),
        ('{"a"', "unexpected end of JSON input"),
    ],
)
def test_json_errors_are_in_the_words_of_go(text: str, message: str) -> None:
    assert refusal(text) == HEADER_JSON_ERROR + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: *nope\n", "yaml: unknown anchor 'nope' referenced"),
        ("a: &x [*x]\n", "yaml: anchor 'x' value contains itself"),
        ("a: .nan\n", "json: unsupported value: NaN"),
        ("a: -.inf\n", "json: unsupported value: -Inf"),
        ("a:\n\t- b\n", "yaml: line 2: found character that cannot start any token"),
        ("a: b\n c: d\n", "yaml: line 2: mapping values are not allowed in this context"),
        ("a: \x01\n", "yaml: control characters are not allowed"),
    ],
)
def test_yaml_errors_are_in_the_words_of_go_yaml(text: str, message: str) -> None:
    assert refusal(text) == message


def test_only_the_first_document_counts() -> None:
    assert read_written(b"a: 1\n---\n{ not yaml").value == {"a": 1}


@pytest.mark.parametrize("text", [b"", b"# nothing\n", b"---\n---\na: 1\n", b"null\n"])
def test_a_file_without_content_is_an_empty_object(text: bytes) -> None:
    assert read_written(text).value == {}


def test_keys_of_yaml_are_sorted_and_those_of_json_are_not() -> None:
    assert list(read_written(b"b: 1\na: {d: 1, c: 2}\n").value) == ["a", "b"]
    assert list(read_written(b'{"b": 1, "a": 2}').value) == ["b", "a"]


def test_a_repeated_yaml_key_is_noted_at_the_line_of_its_value() -> None:
    found = read_written(b"a: 1\nb:\n  c: 1\nb:\n  c: 2\n")
    assert found.repeated_keys == ('line 5: key "b" already set in map',)


def test_a_key_that_overrides_a_merged_one_counts_as_repeated() -> None:
    found = read_written(b"a: &x {c: 1}\nb:\n  <<: *x\n  c: 2\n")
    assert found.repeated_keys == ('line 4: key "c" already set in map',)


def test_the_line_of_a_field_is_known_or_that_of_what_is_above_it() -> None:
    found = read_written(b"profiles:\n- schedulerName: a\n- plugins:\n    score: {}\n")
    assert found.line_of("profiles[1].plugins.score") == 4
    assert found.line_of("profiles[0].schedulerName") == 2
    assert found.line_of("profiles[0].plugins.filter.enabled[3]") == 2
    assert found.line_of("parallelism") is None


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert read_written(b'{"a": "x\\ud800y"}').value == {"a": "x\ufffdy"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [' + "1," * 20_001 + "1]}", "holds more than 20000 values"),
        ("a:\n" + "- 1\n" * 20_001, "holds more than 20000 values"),
        ('{"a": ' + "[" * 150 + "]" * 150 + "}", "nested more than 100 levels deep"),
        ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "nested more than 100 levels deep"),
        ("#" * (2 * 1024 * 1024 + 1), "larger than 2 MiB"),
    ],
    ids=["json list", "yaml list", "deep", "very deep", "large"],
)
def test_there_are_bounds(text: str, message: str) -> None:
    assert refusal(text) == message


def test_bytes_that_are_no_text_are_replaced_in_strings_and_shown_elsewhere() -> None:
    assert read_written(b'{"a": "\xff", "a": ["\xff"]}').value == {"a": ["\ufffd"]}
    with pytest.raises(ConfigurationError) as caught:
        read_written(b'{"a": 1}\xff')
    assert caught.value.message == (
        HEADER_JSON_ERROR + "invalid character '\xff' after top-level value"
    )
