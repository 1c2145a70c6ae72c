"""Loads from Prometheus: averages and deviations over 15 minutes of what node-exporter measures.

Four queries for all nodes together. The metrics are gauges from 0 to 1, by default those that the
recording rules of kube-prometheus leave behind.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Final

from podium.addons.collection.load.loads import Loads, NodeLoad
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements
from podium.addons.collection.prometheus.node_names import (
    UNAME,
    is_address,
    names_by_instance,
    node_name,
    values_by_node,
)
from podium.addons.collection.prometheus.query import Sample, ask_query

_FUNCTIONS: Final = ("avg_over_time", "stddev_over_time")
_WINDOW: Final = "15m"
_PERCENT: Final = 100.0


async def ask_prometheus(
    endpoint: Endpoint, metrics: tuple[str, str], labels: Sequence[str], *, timeout_s: float
) -> Loads:
    """`metrics` are those of cpu and memory. Raises NoMeasurements, and what a request raises."""
    queries = [f"{function}({metric}[{_WINDOW}])" for metric in metrics for function in _FUNCTIONS]
    asked = (ask_query(endpoint, query, timeout_s=timeout_s) for query in queries)
    answers = await asyncio.gather(*asked)
    known: dict[str, str] = {}
    if any(is_address(node_name(s.labels, labels)) for answer in answers for s in answer):
        known = names_by_instance(await ask_query(endpoint, UNAME, timeout_s=timeout_s))
    return read_answers(answers, labels, known)


def read_answers(
    answers: Sequence[Sequence[Sample]], labels: Sequence[str], known: dict[str, str]
) -> Loads:
    """Averages and deviations of cpu, then of memory. Raises NoMeasurements if there are none."""
    if not any(answers):
        raise NoMeasurements("no series of the two metrics: see cpuMetric and memoryMetric")
    by_node = [values_by_node(samples, labels, known).values for samples in answers]
    cpu, cpu_deviation, memory, memory_deviation = by_node
    nodes = {
        name: NodeLoad(
            _PERCENT * cpu.get(name, math.nan),
            _PERCENT * cpu_deviation.get(name, 0.0),
            _PERCENT * memory.get(name, math.nan),
            _PERCENT * memory_deviation.get(name, 0.0),
        )
        for name in {*cpu, *memory}
    }
    return Loads(nodes, max(sample.at for samples in answers for sample in samples))
