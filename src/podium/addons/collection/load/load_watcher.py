"""Loads from a load-watcher service: `GET /watcher`, percentages by node.

An average counts before a latest value, and a value without an operator is a latest one, as older
load-watchers wrote it.
"""

import math
from typing import Final

import msgspec

from podium.addons.collection.load.loads import Loads, NodeLoad
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements
from podium.addons.collection.prometheus.node_names import without_port

PATH: Final = "/watcher"
_CPU, _MEMORY = "CPU", "Memory"
_AVERAGE, _DEVIATION, _LATEST = "AVG", "STD", ("Latest", "")


class _Metric(msgspec.Struct, frozen=True):
    type: str = ""
    operator: str = ""
    value: float = math.nan


class _NodeMetrics(msgspec.Struct, frozen=True):
    metrics: list[_Metric] | None = None


class _Data(msgspec.Struct, frozen=True):
    nodes: dict[str, _NodeMetrics] | None = msgspec.field(default=None, name="NodeMetricsMap")


class _Window(msgspec.Struct, frozen=True):
    end: float = 0.0


class _Answer(msgspec.Struct, frozen=True):
    window: _Window = _Window()
    data: _Data = _Data()


async def ask_load_watcher(endpoint: Endpoint, *, timeout_s: float) -> Loads:
    """Raises NoMeasurements, and what a request raises."""
    return read_watcher(await endpoint.get(PATH, timeout_s=timeout_s))


def read_watcher(body: bytes) -> Loads:
    """Raises NoMeasurements."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise NoMeasurements(f"the answer is none of a load-watcher: {problem}") from None
    nodes = {
        without_port(name): _node_load(known.metrics or [])
        for name, known in (answer.data.nodes or {}).items()
    }
    return Loads(nodes, answer.window.end)


def _node_load(metrics: list[_Metric]) -> NodeLoad:
    cpu, cpu_deviation = _figures(metrics, _CPU)
    memory, memory_deviation = _figures(metrics, _MEMORY)
    return NodeLoad(cpu, cpu_deviation, memory, memory_deviation)


def _figures(metrics: list[_Metric], kind: str) -> tuple[float, float]:
    """(average, standard deviation), of which the average is NaN if there is nothing.

    upstream: a deviation alone is an average of 0.
    """
    found = {metric.operator: metric.value for metric in metrics if metric.type == kind}
    if not found:
        return math.nan, 0.0
    latest = next((found[operator] for operator in _LATEST if operator in found), 0.0)
    return found.get(_AVERAGE, latest), found.get(_DEVIATION, 0.0)
