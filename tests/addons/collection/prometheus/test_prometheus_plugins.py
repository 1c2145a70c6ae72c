"""PrometheusScore and PrometheusFilter: any query as a preference or a limit."""

from typing import Any

import pytest

from podium.addons.collection.prometheus.plugins import (
    ABOVE,
    BELOW,
    UNMEASURED,
    PrometheusFilter,
    PrometheusScore,
)
from podium.plugin import Plugin
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import (
    FakeCluster,
    assert_placed,
    assert_promises,
    assert_rejected,
    make_node,
    make_pod,
    scores_of,
)

BASE: dict[str, Any] = {"prometheusAddress": "http://127.0.0.1:9090", "query": "load"}
SOURCE = "{} http://127.0.0.1:9090 load"


def cluster(plugin: type[Plugin], *names: str, **args: Any) -> FakeCluster:
    nodes = map(make_node, names)
    return FakeCluster(*nodes, plugins=[plugin], args={plugin.name: {**BASE, **args}})


def scores(measured: dict[str, float], **args: Any) -> dict[str, int]:
    made = cluster(PrometheusScore, "a", "b", "c", "d", **args)
    made.answer(SOURCE.format("PrometheusScore"), measured)
    return scores_of(made.schedule(make_pod("web")), "PrometheusScore")


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ({}, [100, 50, 0, 50]),
        ({"prefer": "Highest"}, [0, 50, 100, 50]),
        ({"min": 0, "max": 100}, [80, 50, 20, 50]),
        ({"min": 0, "max": 100, "prefer": "Highest"}, [20, 50, 80, 50]),
        ({"min": 30, "max": 60}, [100, 33, 0, 50]),
        ({"missingScore": 0}, [100, 50, 0, 0]),
    ],
)
def test_values_are_placed_between_two_ends(args: dict[str, Any], wanted: list[int]) -> None:
    assert [*scores({"a": 20, "b": 50, "c": 80}, **args).values()] == wanted


def test_equal_values_are_equally_good() -> None:
    assert {*scores(dict.fromkeys("abcd", 7.0)).values()} == {100}
    assert {*scores(dict.fromkeys("abcd", 7.0), prefer="Highest").values()} == {100}


def test_without_any_value_all_nodes_are_equal() -> None:
    assert {*scores({}).values()} == {50}


def test_values_may_be_as_far_apart_as_floating_point_goes() -> None:
    assert [*scores({"a": -1.7e308, "b": 0, "c": 1.7e308}).values()] == [100, 50, 0, 50]


def test_nodes_beyond_a_limit_are_rejected_with_the_reason() -> None:
    made = cluster(PrometheusFilter, "a", "b", "c", "d", min=10, max=90)
    made.answer(SOURCE.format("PrometheusFilter"), {"a": 91, "b": 9.5, "c": 90})
    decision = made.schedule(make_pod("web"))
    assert_placed(decision, on="c")
    assert_rejected(decision, node="a", by="PrometheusFilter", reason=ABOVE)
    assert_rejected(decision, node="b", by="PrometheusFilter", reason=BELOW)


def test_an_unmeasured_node_is_rejected_only_where_that_is_wished() -> None:
    made = cluster(PrometheusFilter, "a", max=90)
    assert_placed(made.schedule(make_pod("web")), on="a")
    made = cluster(PrometheusFilter, "a", max=90, missing="Reject")
    assert_rejected(made.schedule(make_pod("web")), node="a", reason=UNMEASURED)


def test_a_rejected_pod_is_tried_again_when_the_value_changes() -> None:
    made = cluster(PrometheusFilter, "a", max=90, reason="node(s) were busy")
    made.answer(SOURCE.format("PrometheusFilter"), {"a": 95})
    assert_rejected(made.schedule(make_pod("web")), node="a", reason="node(s) were busy")
    made.answer(SOURCE.format("PrometheusFilter"), {"a": 40})
    made.wait(seconds=2)
    assert made.run() == ["web"]


@pytest.mark.parametrize(
    ("plugin", "args", "words"),
    [
        (PrometheusScore, {"query": " "}, "args.query: is missing"),
        (PrometheusScore, {"query": "x" * 9000}, "longer than 8192 bytes"),
        (PrometheusScore, {"min": 1}, "args.max: is missing"),
        (PrometheusScore, {"min": 1, "max": 1}, "must be greater than min"),
        (PrometheusScore, {"missingScore": 101}, "args.missingScore"),
        (PrometheusFilter, {}, "neither min nor max"),
        (PrometheusFilter, {"min": 2, "max": 1}, "must not be less than min"),
        (PrometheusFilter, {"max": 1, "missing": "Ignore"}, "args.missing"),
    ],
)
def test_a_mistake_in_the_arguments_is_told_with_its_place(
    plugin: type[Plugin], args: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        cluster(plugin, "a", **args)


def test_they_keep_their_promises() -> None:
    assert_promises(PrometheusScore, args=BASE)
    assert_promises(PrometheusScore, args={**BASE, "min": 0, "max": 50, "prefer": "Highest"})
    assert_promises(PrometheusFilter, args={**BASE, "max": 50, "min": 20})
    assert_promises(PrometheusFilter, args={**BASE, "max": 50, "missing": "Reject"})
