"""Prometheus' answers: samples of vectors, refusals in its own words, and which node is meant."""

import json
from typing import Any

import pytest

from podium.addons.collection.measurement_endpoint import NoMeasurements
from podium.addons.collection.prometheus.source import (
    NODE_LABELS,
    Sample,
    names_by_instance,
    node_name,
    quote_label_value,
    read_samples,
    values_by_node,
)
from podium.client.transport import Reply


def reply(result: Any, kind: str = "vector", **more: Any) -> Reply:
    answer = {"status": "success", "data": {"resultType": kind, "result": result}, **more}
    return Reply(200, {}, json.dumps(answer).encode())


def series(value: str, **labels: str) -> dict[str, Any]:
    return {"metric": labels, "value": [1_800_000_000.25, value]}


def test_samples_are_numbers_with_their_labels() -> None:
    found = read_samples(reply([series("1.5", node="a"), series("NaN", node="b")]), "up")
    assert found == [Sample({"node": "a"}, 1_800_000_000.25, 1.5)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Reply(200, {}, b"<html>"), "no answer of Prometheus"),
        (Reply(502, {}, b""), "answered 502"),
        (reply([1.0, "3"], "scalar"), "gives scalar, not a value for each node"),
        (reply([{"metric": {}, "values": []}], "matrix"), "gives matrix"),
        (reply([{"metric": {"a": 1}, "value": [1, "2"]}]), "cannot be read"),
        (reply([{"metric": {}, "value": [1, "two"]}]), "cannot be read"),
        (Reply(400, {}, b'{"status":"error","error":"parse error: no"}'), "parse error: no"),
        (Reply(200, {}, b"[" * 100_000), "no answer of Prometheus"),
    ],
)
def test_what_is_no_vector_is_refused_with_the_reason(answer: Reply, words: str) -> None:
    with pytest.raises(NoMeasurements, match=words):
        read_samples(answer, "up")


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"kubernetes_node": "a", "instance": "10.0.0.1:9100"}, "a"),
        ({"node": "b", "nodename": "c"}, "b"),
        ({"nodename": "c"}, "c"),
        ({"instance": "d.example.com:9100"}, "d.example.com"),
        ({"instance": "d"}, "d"),
        ({"instance": "[fd00::1]:9100"}, "fd00::1"),
        ({"instance": "fd00::1"}, "fd00::1"),
        ({"node": "", "instance": "e:1"}, "e"),
        ({"job": "node"}, ""),
    ],
)
def test_a_series_names_its_node_by_the_first_label_it_has(
    labels: dict[str, str], name: str
) -> None:
    assert node_name(labels, NODE_LABELS) == name


def test_a_node_that_two_series_are_about_has_no_value() -> None:
    samples = [Sample({"node": name}, 0.0, 1.0) for name in ("a", "b", "b", "b")]
    found = values_by_node(samples, NODE_LABELS)
    assert found.values == {"a": 1.0}
    assert found.ambiguous == ("b",)


def test_an_address_is_a_node_where_uname_says_so() -> None:
    uname = [Sample({"instance": "10.0.0.1:9100", "nodename": "a"}, 0.0, 1.0)]
    samples = [
        Sample({"instance": "10.0.0.1:9100"}, 0.0, 3.0),
        Sample({"instance": "10.0.0.2:9100"}, 0.0, 4.0),
    ]
    found = values_by_node(samples, NODE_LABELS, names_by_instance(uname))
    assert found.values == {"a": 3.0, "10.0.0.2": 4.0}


def test_a_label_value_cannot_leave_its_quotes() -> None:
    assert quote_label_value('a"} or up{x="\\') == '"a\\"} or up{x=\\"\\\\"'
