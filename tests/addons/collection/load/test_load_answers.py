"""What load-watchers, metrics servers and Prometheus say, in one form."""

import asyncio
import json
import math
from typing import Any

import pytest

from podium.addons.collection.load.load_source import (
    NodeLoad,
    ask_metrics_server,
    read_answers,
    read_node_metrics,
    read_watcher,
)
from podium.addons.collection.measurement_endpoint import NoMeasurements
from podium.addons.collection.prometheus.source import NODE_LABELS, Sample


def watched(**nodes: list[tuple[str, str, float]]) -> bytes:
    known = {
        name: {"metrics": [{"name": "x", "type": t, "operator": o, "value": v} for t, o, v in some]}
        for name, some in nodes.items()
    }
    answer = {
        "timestamp": 1556987522,
        "window": {"duration": "15m", "start": 1556984522, "end": 1556985422},
        "source": "InfluxDB",
        "data": {"NodeMetricsMap": known},
    }
    return json.dumps(answer).encode()


def test_a_load_watcher_tells_averages_and_deviations() -> None:
    metrics = [("CPU", "AVG", 30.0), ("CPU", "STD", 4.0), ("Memory", "Latest", 50.0)]
    found = read_watcher(watched(a=metrics, b=[("Bandwidth", "AVG", 1.0)]))
    assert found.nodes["a"] == NodeLoad(30.0, 4.0, 50.0, 0.0)
    assert math.isnan(found.nodes["b"].cpu)
    assert math.isnan(found.nodes["b"].memory)
    assert found.window_end == 1556985422


@pytest.mark.parametrize(
    ("metrics", "average"),
    [
        ([("CPU", "Latest", 7.0), ("CPU", "AVG", 30.0)], 30.0),
        ([("CPU", "AVG", 30.0), ("CPU", "", 7.0)], 30.0),
        ([("CPU", "", 7.0)], 7.0),
        ([("CPU", "STD", 7.0)], 0.0),
    ],
)
def test_an_average_counts_before_what_is_latest(
    metrics: list[tuple[str, str, float]], average: float
) -> None:
    assert read_watcher(watched(a=metrics)).nodes["a"].cpu == average


@pytest.mark.parametrize("body", [b"", b"no", b"[]", b'{"data": 3}', b"[" * 100_000])
def test_what_is_no_answer_of_a_load_watcher_is_refused(body: bytes) -> None:
    with pytest.raises(NoMeasurements):
        read_watcher(body)


def node_metrics(name: str, timestamp: str, **usage: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "timestamp": timestamp, "window": "20s", "usage": usage}


def test_a_metrics_server_tells_amounts() -> None:
    items = [
        node_metrics("a", "2026-01-01T00:00:10Z", cpu="250m", memory="1Gi"),
        node_metrics("b", "2026-01-01T00:00:40Z", cpu="123456789n"),
    ]
    found = read_node_metrics(json.dumps({"kind": "NodeMetricsList", "items": items}).encode())
    assert not found.in_percent
    assert found.nodes["a"] == NodeLoad(250.0, 0.0, 2.0**30, 0.0)
    assert found.nodes["b"].cpu == pytest.approx(123.456789)
    assert math.isnan(found.nodes["b"].memory)
    assert found.window_end == 1767225640.0


@pytest.mark.parametrize("usage", [{"cpu": "a lot"}, {"cpu": True}, {"memory": []}])
def test_a_quantity_that_is_none_spoils_the_answer(usage: dict[str, Any]) -> None:
    body = json.dumps({"items": [node_metrics("a", "2026-01-01T00:00:10Z", **usage)]}).encode()
    with pytest.raises(NoMeasurements, match="no NodeMetricsList"):
        read_node_metrics(body)


def test_offline_there_is_nobody_to_ask() -> None:
    with pytest.raises(NoMeasurements, match="no API server to ask"):
        asyncio.run(ask_metrics_server(None, None, timeout_s=1.0))


def samples(**values: float) -> list[Sample]:
    return [Sample({"instance": f"{n}:9100"}, 5.0, v) for n, v in values.items()]


def test_prometheus_tells_shares_which_become_percent() -> None:
    answers = [samples(a=0.25, b=0.5), samples(a=0.125), samples(b=0.75), samples()]
    found = read_answers(answers, NODE_LABELS, {})
    assert found.nodes["a"][:2] == (25.0, 12.5)
    assert math.isnan(found.nodes["a"].memory)
    assert found.nodes["b"] == NodeLoad(50.0, 0.0, 75.0, 0.0)
    assert found.window_end == 5.0


def test_a_prometheus_without_the_metrics_says_which_arguments_name_them() -> None:
    with pytest.raises(NoMeasurements, match="cpuMetric"):
        read_answers([[], [], [], []], NODE_LABELS, {})
