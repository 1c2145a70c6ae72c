"""Node affinity: terms, fields, names known in advance, and preferences."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    PreferredSchedulingTerm,
)
from podium.kubernetes.rules.node_affinity import (
    NodeSelectorError,
    NodeTerm,
    RequiredNodeAffinity,
    parse_node_selector,
    preferred_of,
    required_names,
    required_of,
)

Written = tuple[str, str, list[str] | None]


def requirements(listed: Iterable[Written]) -> tuple[NodeSelectorRequirement, ...]:
    return tuple(
        NodeSelectorRequirement(
            key=key, operator=operator, values=None if values is None else tuple(values)
        )
        for key, operator, values in listed
    )


def term(*expressions: Written, fields: Iterable[Written] = ()) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=requirements(expressions), match_fields=requirements(fields)
    )


def selector(*terms: NodeSelectorTerm) -> NodeSelector:
    return NodeSelector(node_selector_terms=terms)


def parsed(*expressions: Written, fields: Iterable[Written] = ()) -> NodeTerm:
    (only,) = parse_node_selector(selector(term(*expressions, fields=fields)))
    return only


def pod(required: NodeSelector | None = None, node_selector: dict[str, str] | None = None) -> Pod:
    node_affinity = NodeAffinity(required_during_scheduling_ignored_during_execution=required)
    return Pod(
        metadata=ObjectMeta(name="p"),
        spec=PodSpec(
            node_selector=node_selector,
            affinity=None if required is None else Affinity(node_affinity=node_affinity),
        ),
    )


def test_expressions_of_a_term_are_anded() -> None:
    both = parsed(("zone", "In", ["a", "b"]), ("disk", "Exists", None))
    assert both.matches({"zone": "a", "disk": ""}, "n1")
    assert not both.matches({"zone": "a"}, "n1")
    assert not both.matches(None, "n1")


@pytest.mark.parametrize(
    ("operator", "label", "expected"),
    [("Gt", "9", True), ("Gt", "8", False), ("Lt", "-1", True), ("Lt", "x", False)],
)
def test_comparisons_take_label_values_that_are_integers(
    operator: str, label: str, expected: bool
) -> None:
    assert parsed(("cores", operator, ["8"])).matches({"cores": label}, "n") is expected


@pytest.mark.parametrize("operand", ["-1", "+1", "1.5", "", "99999999999999999999"])
def test_operands_of_comparisons_must_be_integers_and_label_values(operand: str) -> None:
    bad = parsed(("cores", "Gt", [operand]))
    assert bad.error is not None
    assert not bad.matches({"cores": "5"}, "n")


def test_fields_compare_the_name_and_anything_else_reads_empty() -> None:
    assert parsed(fields=[("metadata.name", "In", ["n1"])]).matches({}, "n1")
    assert not parsed(fields=[("metadata.name", "In", ["n1"])]).matches({}, "n2")
    assert parsed(fields=[("metadata.name", "NotIn", ["n1"])]).matches({}, "n2")
    assert parsed(fields=[("spec.x", "NotIn", ["y"])]).matches({}, "n1")
    assert parsed(fields=[("spec.x", "In", [""])]).matches({}, "n1")
    assert not parsed(fields=[("spec.x", "In", ["y"])]).matches({}, "n1")


def test_fields_of_a_nameless_node_are_not_looked_at() -> None:
    assert parsed(fields=[("metadata.name", "In", ["n1"])]).matches({}, "")


def test_fields_and_expressions_must_both_match() -> None:
    both = parsed(("zone", "In", ["a"]), fields=[("metadata.name", "In", ["n1"])])
    assert both.matches({"zone": "a"}, "n1")
    assert not both.matches({"zone": "b"}, "n1")
    assert not both.matches({"zone": "a"}, "n2")


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (
            ("metadata.name", "In", ["n1", "n2"]),
            'nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["n1","n2"]: '
            "must have one element",
        ),
        (
            ("metadata.name", "In", None),
            "nodeSelectorTerms[0].matchFields[0].values: Invalid value: null: "
            "must have one element",
        ),
        (
            ("metadata.name", "Exists", None),
            'nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": '
            'supported values: "In", "NotIn"',
        ),
    ],
)
def test_fields_take_in_and_not_in_with_one_value(written: Written, error: str) -> None:
    bad = parsed(fields=[written])
    assert bad.error == error
    assert not bad.matches({}, "n1")


def test_unknown_operators_name_the_known_ones() -> None:
    assert parsed(("a", "Equals", ["b"])).error == (
        'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Equals": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )


def test_all_errors_of_a_term_are_kept() -> None:
    bad = parsed(("a", "In", []), ("b", "Gt", ["1", "x"]))
    assert bad.error == (
        "[nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: for 'in', 'notin' "
        "operators, values set can't be empty, nodeSelectorTerms[0].matchExpressions[1].values: "
        "Invalid value: [\"1\",\"x\"]: for 'Gt', 'Lt' operators, exactly one value is required, "
        "nodeSelectorTerms[0].matchExpressions[1].values[1]: Invalid value: \"x\": for 'Gt', 'Lt' "
        "operators, the value must be an integer]"
    )


def test_a_bad_term_does_not_spoil_the_others() -> None:
    affinity = required_of(pod(selector(term(("a", "Is", ["b"])), term(("zone", "In", ["a"])))))
    assert affinity.matches({"zone": "a"}, "n1")
    assert not affinity.matches({"a": "b"}, "n1")


def test_empty_terms_are_dropped_and_no_term_matches_nothing() -> None:
    assert parse_node_selector(selector(term(), term(("a", "Exists", None)))) == (
        parsed(("a", "Exists", None)),
    )
    assert parse_node_selector(NodeSelector()) == ()
    assert not required_of(pod(selector())).matches({}, "n1")
    assert not required_of(pod(selector(term()))).matches({"a": "b"}, "n1")


def test_strict_parsing_raises_all_errors_at_once() -> None:
    bad = selector(term(("a", "Is", None)), term(), term(("b", "Exists", ["c"])))
    with pytest.raises(NodeSelectorError) as refused:
        parse_node_selector(bad, path="required", strict=True)
    text = str(refused.value)
    assert text.startswith("[required.nodeSelectorTerms[0].matchExpressions[0].operator: ")
    assert ", required.nodeSelectorTerms[2].matchExpressions[0].values: " in text
    assert parse_node_selector(selector(term(("b", "Exists", None))), strict=True)


def test_a_pod_without_requirements_may_go_anywhere() -> None:
    for anywhere in (pod(), pod(node_selector={})):
        affinity = required_of(anywhere)
        assert affinity.everything
        assert affinity.matches(None, "n1")


def test_node_selector_and_required_affinity_must_both_match() -> None:
    affinity = required_of(pod(selector(term(("zone", "In", ["a"]))), {"disk": "ssd"}))
    assert not affinity.everything
    assert affinity.matches({"zone": "a", "disk": "ssd"}, "n1")
    assert not affinity.matches({"zone": "a"}, "n1")
    assert not affinity.matches({"disk": "ssd"}, "n1")


def test_parsed_affinity_is_hashable_and_equal_by_content() -> None:
    one = required_of(pod(selector(term(("zone", "In", ["b", "a"]))), {"x": "1", "y": "2"}))
    two = required_of(pod(selector(term(("zone", "In", ["a", "b"]))), {"y": "2", "x": "1"}))
    assert {one: "row"}[two] == "row"
    assert hash(RequiredNodeAffinity()) == hash(required_of(pod()))


def name_in(*names: str) -> Written:
    return ("metadata.name", "In", list(names))


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (None, None),
        (NodeSelector(), None),
        (selector(), None),
        (selector(term(fields=[name_in("n1")])), {"n1"}),
        (selector(term(fields=[name_in("n1")]), term(fields=[name_in("n2")])), {"n1", "n2"}),
        (selector(term(fields=[name_in("n1"), name_in("n2")])), set()),
        (selector(term(fields=[name_in("n1"), name_in("n1", "n2")])), {"n1"}),
        (selector(term(fields=[name_in("n1", "n2")])), {"n1", "n2"}),
        (selector(term(fields=[name_in()])), set()),
        (selector(term(fields=[name_in("n1")]), term(("a", "Exists", None))), None),
        (selector(term(fields=[("metadata.name", "NotIn", ["n1"])])), None),
        (selector(term(fields=[name_in("n1")]), term()), None),
        (selector(term(("a", "Is", None), fields=[name_in("n1")])), {"n1"}),
    ],
)
def test_names_known_in_advance(written: NodeSelector | None, names: set[str] | None) -> None:
    assert required_names(written) == names


def preference(weight: int, *expressions: Written, name: str = "") -> PreferredSchedulingTerm:
    fields = [name_in(name)] if name else []
    return PreferredSchedulingTerm(weight=weight, preference=term(*expressions, fields=fields))


def test_preferences_add_up_their_weights() -> None:
    preferred = preferred_of(
        (preference(3, ("zone", "In", ["b"])), preference(4, name="n2"), preference(50))
    )
    nodes = {"n1": {"zone": "a"}, "n2": {"zone": "b"}, "n3": {"zone": "b"}}
    raw = [
        sum(weight for weight, wanted in preferred if wanted.matches(labels, name))
        for name, labels in nodes.items()
    ]
    assert raw == [0, 7, 3]


def test_preferences_without_weight_are_not_even_parsed() -> None:
    assert preferred_of((preference(0, ("a", "Is", None)),)) == ()
    assert preferred_of(None) == ()
    assert preferred_of(()) == ()


def test_one_bad_preference_fails_them_all() -> None:
    good, bad = preference(1, ("a", "Exists", None)), preference(2, ("a", "Exists", ["b"]))
    with pytest.raises(NodeSelectorError) as refused:
        preferred_of((good, bad))
    assert str(refused.value) == (
        '[1].matchExpressions[0].values: Invalid value: ["b"]: '
        "values set must be empty for exists and does not exist"
    )


names = st.sampled_from(["n1", "n2", "n3"])
field_lists = st.lists(
    st.tuples(
        st.sampled_from(["metadata.name", "spec.x"]),
        st.sampled_from(["In", "NotIn"]),
        st.lists(names, min_size=1, max_size=2),
    ),
    max_size=2,
)


@given(st.lists(field_lists, max_size=3), names)
def test_names_known_in_advance_leave_out_no_node_that_matches(
    listed: list[list[Written]], name: str
) -> None:
    written = selector(*(term(fields=fields) for fields in listed))
    known = required_names(written)
    if any(each.matches({}, name) for each in parse_node_selector(written)):
        assert known is None or name in known
