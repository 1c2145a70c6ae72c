"""Numbers of plugins on the scheduler's own page of metrics."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from support.live.watched_metrics import Watched
from support.scheduler.framework.fake_plugins import filter_by, pre_filter

from podium.plugin import CounterMetric, GaugeMetric, Handle, PluginMetric, Status
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.framework.status import unresolvable, unschedulable
from podium.testing import make_node, make_pod

REFUSED = unschedulable("too warm")


class CountsRefusals(filter_by("Warm", {"a": REFUSED, "b": REFUSED})):  # type: ignore[misc]
    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self.refused = CounterMetric(
            "warm_nodes_total", "Nodes that were too warm.", ("point", "why")
        )

    def metrics(self) -> Sequence[PluginMetric]:
        read = lambda: [(("a",), 41.5)]  # noqa: E731
        return [self.refused, GaugeMetric("warm_degrees", "Degrees.", ("node",), read=read)]

    def count_refusal(self, point: str, status: Status, nodes: int) -> None:
        self.refused.add(point, status.message, amount=nodes)


def test_what_a_plugin_refuses_is_counted_attempt_by_attempt() -> None:
    nodes = [make_node(name) for name in "abc"]
    driver = Watched(*nodes, make_pod("p"), make_pod("q"), plugins=[CountsRefusals])
    driver.run()
    assert driver.samples("warm_nodes_total") == {("filter", "too warm"): 4}
    assert driver.samples("warm_degrees") == {("a",): 41.5}
    assert "# HELP warm_nodes_total [ALPHA] Nodes that were too warm." in driver.text()
    driver.metrics.reset()
    assert driver.samples("warm_nodes_total") == {}
    driver.put(make_pod("r"))
    driver.run()
    assert driver.samples("warm_nodes_total") == {("filter", "too warm"): 2}


def test_a_pod_that_is_refused_as_a_whole_counts_for_every_node() -> None:
    class Whole(CountsRefusals, pre_filter("Warm", unresolvable("never"))):  # type: ignore[misc]
        name = "Warm"

    driver = Watched(make_node("a"), make_node("b"), make_pod("p"), plugins=[Whole])
    driver.run()
    assert driver.samples("warm_nodes_total") == {("preFilter", "never"): 2}


def test_profiles_with_the_same_plugin_count_together() -> None:
    driver = Watched(make_node("a"), plugins=[CountsRefusals], profiles=("one", "two"))
    for name in ("one", "two"):
        driver.put(make_pod(name, schedulerName=name))
    driver.run()
    assert driver.samples("warm_nodes_total") == {("filter", "too warm"): 2}
    assert driver.samples("warm_degrees") == {("a",): 41.5}


class Breaks(filter_by("Breaks", {"a": REFUSED})):  # type: ignore[misc]
    def metrics(self) -> Sequence[PluginMetric]:
        return [
            GaugeMetric("broken_things", "Broken.", read=lambda: [((), 1 / 0)]),
            GaugeMetric("wrong_labels", "Wrong.", read=lambda: [(("surplus",), 1.0)]),
        ]

    def count_refusal(self, point: str, status: Status, nodes: int) -> None:
        raise KeyError(point, status, nodes)


def test_a_plugin_that_breaks_costs_its_metric_and_nothing_else() -> None:
    driver = Watched(make_node("a"), make_pod("p"), plugins=[Breaks])
    driver.run()
    assert driver.samples("broken_things") == driver.samples("wrong_labels") == {}
    assert driver.samples("scheduler_pending_pods")[("unschedulable",)] == 1


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        (lambda: CounterMetric("things", "Things."), "right is things_total"),
        (lambda: CounterMetric("Things total", "Things."), "is no name"),
        (lambda: CounterMetric("scheduler_things_total", "Things."), "the scheduler's own"),
        (lambda: "things", "str is no metric"),
        (lambda: CounterMetric("warm_nodes_total", "Other."), "give it a name of its own"),
    ],
)
def test_metrics_that_cannot_be_are_refused_when_the_plugin_is_made(metric: Any, told: str) -> None:
    class Wrong(filter_by("Wrong", {})):  # type: ignore[misc]
        made: ClassVar[Any] = staticmethod(metric)

        def metrics(self) -> Sequence[PluginMetric]:
            return [type(self).made()]

    with pytest.raises(ConfigurationError, match=told):
        Watched(plugins=[CountsRefusals, Wrong])
