"""Label selectors: meaning, identity and the texts of refusals."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.meta import LabelSelector, LabelSelectorRequirement
from podium.kubernetes.rules.field_errors import aggregate
from podium.kubernetes.rules.labels import (
    EVERYTHING,
    NOTHING,
    Requirement,
    Selector,
    SelectorError,
    is_plain_key,
    is_plain_value,
    key_problems,
    requirement_problems,
    selector_of,
    selector_of_map,
    value_problems,
)

NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def written(*expressions: tuple[str, str, list[str] | None], **labels: str) -> LabelSelector:
    return LabelSelector(
        match_labels=labels or None,
        match_expressions=tuple(
            LabelSelectorRequirement(
                key=key, operator=operator, values=None if values is None else tuple(values)
            )
            for key, operator, values in expressions
        ),
    )


def refusal(selector: LabelSelector) -> str:
    with pytest.raises(SelectorError) as refused:
        selector_of(selector)
    return str(refused.value)


def test_an_absent_selector_selects_nothing() -> None:
    selector = selector_of(None)
    assert selector is NOTHING
    assert selector.nothing
    assert not selector.empty
    assert selector.requirements == ()
    assert not selector.matches({})
    assert not selector.matches(None)


def test_an_empty_selector_selects_everything() -> None:
    for empty in (
        LabelSelector(),
        LabelSelector(match_labels={}, match_expressions=()),
    ):
        selector = selector_of(empty)
        assert selector == EVERYTHING
        assert selector.empty
        assert not selector.nothing
        assert selector.matches(None)
        assert selector.matches({"a": "b"})


@pytest.mark.parametrize(
    ("expression", "absent", "same", "other"),
    [
        (("k", "In", ["v", "w"]), False, True, False),
        (("k", "NotIn", ["v", "w"]), True, False, True),
        (("k", "Exists", None), False, True, True),
        (("k", "DoesNotExist", []), True, False, False),
        (("k", "In", [""]), False, False, False),
    ],
)
def test_operators_on_absent_and_present_keys(
    expression: tuple[str, str, list[str] | None], absent: bool, same: bool, other: bool
) -> None:
    selector = selector_of(written(expression))
    assert selector.matches({"another": "v"}) is absent
    assert selector.matches(None) is absent
    assert selector.matches({"k": "v"}) is same
    assert selector.matches({"k": "x"}) is other


def test_an_empty_value_is_a_value() -> None:
    selector = selector_of(written(k=""))
    assert selector.matches({"k": ""})
    assert not selector.matches({})


@pytest.mark.parametrize(
    ("operator", "label", "expected"),
    [
        ("Gt", "11", True),
        ("Gt", "10", False),
        ("Lt", "9", True),
        ("Lt", "-3", True),
        ("Lt", "10", False),
        ("Gt", "abc", False),
        ("Gt", "1e9", False),
        ("Lt", "", False),
        ("Gt", "99999999999999999999", False),
    ],
)
def test_comparisons_read_both_sides_as_integers(operator: str, label: str, expected: bool) -> None:
    requirement = Requirement("k", operator, frozenset({"10"}))
    assert requirement.matches({"k": label}) is expected
    assert not requirement.matches({})


def test_all_requirements_must_hold() -> None:
    selector = selector_of(written(("tier", "NotIn", ["db"]), app="web"))
    assert selector.matches({"app": "web"})
    assert not selector.matches({"app": "web", "tier": "db"})
    assert not selector.matches({"tier": "web"})


def test_order_repetition_and_spelling_do_not_matter_to_identity() -> None:
    one = selector_of(written(("a", "In", ["x", "y"]), ("b", "Exists", None), c="z"))
    two = selector_of(
        written(
            ("c", "In", ["z"]), ("b", "Exists", []), ("a", "In", ["y", "x"]), ("b", "Exists", None)
        )
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one.requirements == two.requirements
    assert len({one, two}) == 1


def test_different_selectors_differ() -> None:
    assert EVERYTHING != NOTHING
    assert selector_of_map({"a": "b"}) != selector_of_map({"a": "c"})
    assert selector_of_map({"a": "b"}) != selector_of(written(("a", "NotIn", ["b"])))
    assert EVERYTHING != "everything"


def test_maps_are_taken_literally() -> None:
    assert selector_of_map(None) == EVERYTHING
    assert selector_of_map({}) == EVERYTHING
    odd = selector_of_map({"not a key!": "not a value!"})
    assert odd.matches({"not a key!": "not a value!"})
    assert not odd.matches({})


def test_selectors_can_be_narrowed() -> None:
    selector = selector_of_map({"app": "web"}).merge(selector_of_map({"hash": "1"}))
    assert selector == selector_of_map({"app": "web", "hash": "1"})
    assert EVERYTHING.merge(selector_of_map({"a": "b"})) == selector_of_map({"a": "b"})
    assert NOTHING.merge(selector_of_map({"a": "b"})) == NOTHING
    contradiction = selector.merge(selector_of_map({"hash": "2"}))
    assert not contradiction.matches({"app": "web", "hash": "1"})


def test_merged_selectors_select_what_both_select() -> None:
    merged = selector_of_map({"a": "b"}).merge(selector_of(written(("c", "Exists", None))))
    assert merged.matches({"a": "b", "c": "d"})
    assert not merged.matches({"a": "b"})
    assert merged.merge(NOTHING) == NOTHING
    assert EVERYTHING.merge(merged) == merged


def test_selectors_show_themselves_readably() -> None:
    selector = selector_of(
        written(("a", "In", ["y", "x"]), ("b", "NotIn", ["z"]), ("d", "DoesNotExist", None), c="1")
    )
    assert str(selector) == "a in (x,y),b notin (z),c=1,!d"
    assert repr(EVERYTHING) == "<Selector everything>"
    assert repr(NOTHING) == "<Selector nothing>"
    assert str(Requirement("n", "Gt", frozenset({"5"}))) == "n>5"
    assert str(Requirement("n", "Lt", frozenset({"5"}))) == "n<5"
    assert str(Requirement("n", "Exists")) == "n"


def test_unknown_operators_are_refused() -> None:
    assert refusal(written(("a", "Is", ["b"]))) == '"Is" is not a valid label selector operator'
    assert refusal(written(("a", "Gt", ["1"]))) == '"Gt" is not a valid label selector operator'


def test_values_must_fit_the_operator() -> None:
    assert refusal(written(("a", "In", []))) == (
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
    )
    assert refusal(written(("a", "Exists", ["x", "y"]))) == (
        'values: Invalid value: ["x","y"]: values set must be empty for exists and does not exist'
    )


def test_bad_keys_and_values_are_refused_with_the_rule() -> None:
    assert refusal(written(("a b", "Exists", None))) == (
        f'key: Invalid value: "a b": name part {NAME_RULE}'
    )
    assert refusal(written(("a", "In", ["ok", "-bad"]))) == (
        f'values[1][a]: Invalid value: "-bad": {VALUE_RULE}'
    )
    assert refusal(written(a="x y")) == f'values[0][a]: Invalid value: "x y": {VALUE_RULE}'


def test_several_problems_are_listed_in_brackets() -> None:
    assert refusal(written(("", "In", None))) == (
        f'[key: Invalid value: "": name part must be non-empty; name part {NAME_RULE}, '
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]"
    )


@pytest.mark.parametrize(
    "key",
    ["a", "A.b-c_d", "example.com/Name", "x" * 63, f"{'a.' * 126}a/n", "0/1", "kubernetes.io/x"],
)
def test_label_keys_that_are_valid(key: str) -> None:
    assert key_problems(key) == []


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("a/b/c", f"a valid label key {NAME_RULE} with an optional DNS subdomain prefix and '/'"),
        ("/a", "prefix part must be non-empty"),
        ("a/", "name part must be non-empty"),
        ("Example.com/a", "prefix part a lowercase RFC 1123 subdomain must consist of"),
        (f"{'a' * 254}/n", "prefix part must be no more than 253 bytes"),
        ("x" * 64, "name part must be no more than 63 bytes"),
        ("-a", f"name part {NAME_RULE}"),
        ("a\n", f"name part {NAME_RULE}"),
        ("\u00e9" * 32, "name part must be no more than 63 bytes"),
    ],
)
def test_label_keys_that_are_not(key: str, problem: str) -> None:
    assert any(found.startswith(problem) for found in key_problems(key))


def test_label_values_have_63_bytes_at_most() -> None:
    assert value_problems("x" * 63) == []
    assert value_problems("") == []
    assert value_problems("x" * 64) == ["must be no more than 63 bytes"]
    assert value_problems("a\n") == [VALUE_RULE]


def test_equal_problems_are_told_once() -> None:
    assert aggregate(["a", "a"]) == "a"
    assert aggregate(["a", "b", "a"]) == "[a, b]"


keys = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["", "1", "2", "x"])
label_maps = st.dictionaries(keys, values)
set_expressions = st.tuples(
    keys, st.sampled_from(["In", "NotIn"]), st.lists(values, min_size=1, max_size=3)
)
no_values: list[str] = []
key_expressions = st.tuples(keys, st.sampled_from(["Exists", "DoesNotExist"]), st.just(no_values))
expressions = st.lists(st.one_of(set_expressions, key_expressions), max_size=4)


def holds(labels: dict[str, str], key: str, operator: str, listed: list[str]) -> bool:
    return {
        "In": key in labels and labels[key] in listed,
        "NotIn": key not in labels or labels[key] not in listed,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[operator]


@given(expressions, label_maps, label_maps)
def test_selectors_agree_with_the_definition(
    listed: list[tuple[str, str, list[str]]], wanted: dict[str, str], labels: dict[str, str]
) -> None:
    selector = selector_of(written(*listed, **wanted))
    expected = all(holds(labels, *each) for each in listed) and wanted.items() <= labels.items()
    assert selector.matches(labels) is expected


@given(expressions, st.randoms(use_true_random=False))
def test_identity_ignores_the_order_of_writing(
    listed: list[tuple[str, str, list[str]]], dice: Random
) -> None:
    one = selector_of(written(*listed))
    dice.shuffle(listed)
    two = selector_of(written(*listed, *listed[:1]))
    assert one == two
    assert hash(one) == hash(two)


@given(expressions, expressions, label_maps)
def test_merging_is_conjunction(
    left: list[tuple[str, str, list[str]]],
    right: list[tuple[str, str, list[str]]],
    labels: dict[str, str],
) -> None:
    one, two = selector_of(written(*left)), selector_of(written(*right))
    merged = one.merge(two)
    assert merged.matches(labels) is (one.matches(labels) and two.matches(labels))
    assert merged == two.merge(one)
    assert isinstance(merged, Selector)


@given(st.from_regex(r"[a-z0-9./_-]{0,70}", fullmatch=True) | st.text(max_size=70))
def test_what_is_plain_at_first_sight_has_no_problems(text: str) -> None:
    if is_plain_key(text):
        assert key_problems(text) == []
    if is_plain_value(text):
        assert value_problems(text) == []


@pytest.mark.parametrize("key", ["a", "example.com/a", f"{'a' * 253}/{'b' * 63}"])
def test_common_keys_are_plain_and_longer_ones_are_not(key: str) -> None:
    assert is_plain_key(key)
    assert not is_plain_key(f"{'a' * 253}{key}{'b' * 63}")


def test_a_bad_key_is_shown_as_go_quotes_it() -> None:
    [problem] = requirement_problems("a\x01é", "Exists", None)
    assert str(problem).startswith('key: Invalid value: "a\\x01é": name part must consist of')
