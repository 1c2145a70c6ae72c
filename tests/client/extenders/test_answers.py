"""Answers as bytes: any capitalisation, exact types, the errors of a Go decoder."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.addons.extenders.extender_servers import (
    bind_call,
    filter_call,
    make_extender,
    preempt_call,
    prioritize_call,
)

from podium.client.extenders.messages import read_answer
from podium.client.extenders.objects import object_json
from podium.client.extenders.wire import DecodingProblem
from podium.scheduler.framework.asking import (
    BindAnswer,
    CallFailed,
    ExtenderAnswer,
    FilterAnswer,
    PreemptAnswer,
    PreemptMetaVictims,
    PrioritizeAnswer,
)
from podium.testing import make_node

EXTENDER = make_extender("http://extender.example")
FILTER, PRIORITIZE = filter_call(EXTENDER), prioritize_call(EXTENDER)
PREEMPT, BIND = preempt_call(EXTENDER), bind_call(EXTENDER)
INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(max_size=8)


def filtered(body: Any) -> ExtenderAnswer:
    return read_answer(FILTER, body if isinstance(body, bytes) else json.dumps(body).encode())


def refusal(call: Any, body: bytes) -> str:
    with pytest.raises(DecodingProblem) as caught:
        read_answer(call, body)
    return str(caught.value)


def told(call: Any, body: bytes) -> object:
    """The answer, or what is wrong with it; anything else is a bug."""
    try:
        return read_answer(call, body)
    except DecodingProblem as problem:
        return str(problem)


# filter


@pytest.mark.parametrize("body", [b"{}", b"null", b' {"Nodes": null, "NodeNames": null} '])
def test_nothing_said_is_nothing_known(body: bytes) -> None:
    assert filtered(body) == FilterAnswer()


def test_an_empty_list_is_not_null() -> None:
    assert filtered({"NodeNames": []}) == FilterAnswer(node_names=())
    assert filtered({"Nodes": {"items": []}}) == FilterAnswer(nodes=())
    assert filtered({"Nodes": {}}) == FilterAnswer(nodes=())
    assert filtered({"Nodes": {"items": None}}) == FilterAnswer(nodes=())


def test_reasons_come_from_both_maps() -> None:
    body = {"FailedNodes": {"a": "x"}, "FailedAndUnresolvableNodes": {"b": "y"}, "Error": ""}
    assert filtered(body) == FilterAnswer(failed={"a": "x"}, unresolvable={"b": "y"})


def test_an_error_is_the_whole_answer() -> None:
    assert filtered({"NodeNames": ["a"], "Error": "boom"}) == CallFailed("boom")


def test_what_follows_the_value_is_ignored() -> None:
    assert filtered(b'{"NodeNames": ["a"]} and more') == FilterAnswer(node_names=("a",))


def test_nulls_inside_are_empty() -> None:
    body = {"NodeNames": ["a", None], "FailedNodes": {"b": None}, "Error": None}
    assert filtered(body) == FilterAnswer(node_names=("a", ""), failed={"b": ""})


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert filtered(b'{"Error": "\xff"}') == CallFailed("\N{REPLACEMENT CHARACTER}")
    assert filtered(b'{"Error": "\\ud800"}') == CallFailed("\N{REPLACEMENT CHARACTER}")


def test_whole_nodes_are_typed_and_keep_their_bytes() -> None:
    node = make_node("n1", labels={"zone": "a"}, taints=[("k", "v", "NoSchedule")])
    answer = filtered(b'{"Nodes":{"items":[' + object_json(node) + b"]}}")
    assert isinstance(answer, FilterAnswer)
    assert answer.nodes is not None
    (returned,) = answer.nodes
    assert returned.metadata == node.metadata
    assert returned.spec == node.spec


def test_members_of_nodes_count_in_any_capitalisation() -> None:
    item = {
        "kind": "node",
        "Metadata": {"NAME": "n1", "labels": {"Name": "kept", "name": "kept too"}},
        "spec": {"TAINTS": [{"Key": "k", "effect": "NoSchedule"}], "unschedulable": None},
        "status": {"Allocatable": {"cpu": 2, "memory": 1.5e9}},
    }
    answer = filtered({"nodes": {"Items": [item]}})
    assert isinstance(answer, FilterAnswer)
    assert answer.nodes is not None
    (node,) = answer.nodes
    assert node.metadata.name == "n1"
    assert node.metadata.labels == {"Name": "kept", "name": "kept too"}
    assert node.spec.taints is not None
    assert node.spec.taints[0].key == "k"
    assert node.status.allocatable == {"cpu": 2, "memory": "1500000000.0"}


# the others


def test_scores_come_as_they_are() -> None:
    body = b'[{"Host":"a","Score":11},{"host":"a","score":-1},{"HOST":"ghost"},null]'
    scores = (("a", 11), ("a", -1), ("ghost", 0), ("", 0))
    assert read_answer(PRIORITIZE, body) == PrioritizeAnswer(scores)
    assert read_answer(PRIORITIZE, b"null") == PrioritizeAnswer(())


def test_victims_are_uids() -> None:
    victims = {"Pods": [{"UID": "u1"}, {"uid": "u2", "name": "x"}], "NumPDBViolations": 2}
    body = json.dumps({"NodeNameToMetaVictims": {"n1": victims, "n2": {}, "n3": None}}).encode()
    assert read_answer(PREEMPT, body) == PreemptAnswer(
        {
            "n1": PreemptMetaVictims(("u1", "u2"), 2),
            "n2": PreemptMetaVictims((), 0),
            "n3": PreemptMetaVictims((), 0),
        }
    )
    assert read_answer(PREEMPT, b"{}") == PreemptAnswer({})


def test_a_binding_is_done_unless_an_error_is_named() -> None:
    assert read_answer(BIND, b"{}") == BindAnswer()
    assert read_answer(BIND, b'{"error": "bind failed x"}') == CallFailed("bind failed x")


# types

FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"


@pytest.mark.parametrize(
    ("call", "body", "found", "field", "wanted"),
    [
        (FILTER, '{"NodeNames":"a"}', "string", "ExtenderFilterResult.NodeNames", "[]string"),
        (FILTER, '{"NodeNames":[1]}', "number", "ExtenderFilterResult.NodeNames", "string"),
        (FILTER, '{"Error":true}', "bool", "ExtenderFilterResult.Error", "string"),
        (
            FILTER,
            '{"FailedNodes":[]}',
            "array",
            "ExtenderFilterResult.FailedNodes",
            "v1.FailedNodesMap",
        ),
        (FILTER, '{"Nodes":[]}', "array", "ExtenderFilterResult.Nodes", "v1.NodeList"),
        (FILTER, '{"Nodes":{"items":{}}}', "object", "NodeList.Nodes.items", "[]v1.Node"),
        (
            FILTER,
            '{"Nodes":{"items":[{"spec":{"unschedulable":"yes"}}]}}',
            "string",
            "NodeSpec.Nodes.items.spec.unschedulable",
            "bool",
        ),
        (PRIORITIZE, '[{"Score":10.0}]', "number 10.0", "HostPriority.Score", "int64"),
        (PRIORITIZE, '[{"Score":1e1}]', "number 1e1", "HostPriority.Score", "int64"),
        (PRIORITIZE, '[{"Score":"5"}]', "string", "HostPriority.Score", "int64"),
        (PRIORITIZE, '[{"Score":3.5}]', "number 3.5", "HostPriority.Score", "int64"),
        (
            PRIORITIZE,
            '[{"Score":9223372036854775808}]',
            "number 9223372036854775808",
            "HostPriority.Score",
            "int64",
        ),
        (
            PREEMPT,
            '{"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":7}]}}}',
            "number",
            "MetaPod.NodeNameToMetaVictims.Pods.UID",
            "string",
        ),
    ],
)
def test_a_wrong_type_is_told_as_go_tells_it(
    call: Any, body: str, found: str, field: str, wanted: str
) -> None:
    assert refusal(call, body.encode()) == FIELD.format(found, field, wanted)


@pytest.mark.parametrize(
    ("call", "body", "text"),
    [
        (FILTER, b"[]", "array into Go value of type v1.ExtenderFilterResult"),
        (PRIORITIZE, b"{}", "object into Go value of type v1.HostPriorityList"),
        (PRIORITIZE, b"[5]", "number into Go value of type v1.HostPriority"),
        (BIND, b'"ok"', "string into Go value of type v1.ExtenderBindingResult"),
    ],
)
def test_a_wrong_value_is_told_as_go_tells_it(call: Any, body: bytes, text: str) -> None:
    assert refusal(call, body) == f"json: cannot unmarshal {text}"


def test_a_quantity_that_is_none_is_refused() -> None:
    body = b'{"Nodes":{"items":[{"metadata":{"name":"a"},"status":{"allocatable":{"cpu":"x"}}}]}}'
    assert refusal(FILTER, body).startswith("quantities must match the regular expression")


def test_a_body_that_broke_off_is_told_by_what_broke_it() -> None:
    with pytest.raises(DecodingProblem, match=r"\Atoo slow\Z"):
        read_answer(FILTER, b'{"NodeNames": ["a"', "too slow")
    assert read_answer(FILTER, b'{"NodeNames": ["a"]}', "too slow").node_names == ("a",)  # type: ignore[union-attr]


# properties


@st.composite
def respelled(draw: st.DrawFn, value: Any) -> Any:
    """The same JSON with the letters of member names in any case, and members nobody knows."""
    if isinstance(value, list):
        return [draw(respelled(inner)) for inner in value]
    if not isinstance(value, dict):
        return value
    members = {}
    for name, inner in value.items():
        flips = draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
        spelled = "".join(c.swapcase() if f else c for c, f in zip(name, flips, strict=True))
        members[spelled] = inner if name in KEPT else draw(respelled(inner))
    if draw(st.booleans()):
        members["x-unknown"] = draw(st.sampled_from([None, 1.5, {"a": []}]))
    return members


KEPT = ("FailedNodes", "FailedAndUnresolvableNodes", "NodeNameToMetaVictims")


@given(
    st.data(),
    st.lists(NAMES),
    st.dictionaries(NAMES, NAMES),
    st.dictionaries(NAMES, NAMES),
)
def test_spelling_does_not_matter_to_a_filter(
    data: st.DataObject, names: list[str], failed: dict[str, str], unresolvable: dict[str, str]
) -> None:
    body = {
        "NodeNames": names,
        "FailedNodes": failed,
        "FailedAndUnresolvableNodes": unresolvable,
    }
    expected = FilterAnswer(node_names=tuple(names), failed=failed, unresolvable=unresolvable)
    assert filtered(body) == expected
    assert filtered(data.draw(respelled(body))) == expected


@given(st.data(), st.lists(st.tuples(NAMES, INT64)))
def test_spelling_does_not_matter_to_scores(
    data: st.DataObject, scores: list[tuple[str, int]]
) -> None:
    body = [{"Host": host, "Score": score} for host, score in scores]
    expected = PrioritizeAnswer(tuple(scores))
    for spelled in (body, data.draw(respelled(body))):
        assert read_answer(PRIORITIZE, json.dumps(spelled).encode()) == expected


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:ntf0.5eE-\\u \x01é', max_size=30))
def test_any_bytes_are_an_answer_or_a_problem(body: bytes | str) -> None:
    encoded = body if isinstance(body, bytes) else body.encode()
    for call in (FILTER, PRIORITIZE, PREEMPT, BIND):
        assert told(call, encoded)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["Nodes", "items", "metadata", "name", "NodeNames", "Host", "Error"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_any_json_is_an_answer_or_a_problem(value: Any) -> None:
    for call in (FILTER, PRIORITIZE, PREEMPT, BIND):
        assert told(call, json.dumps(value).encode())
