"""Loads from the resource metrics API: `metrics.k8s.io/v1beta1`, as `kubectl top nodes` reads it.

The API server of the cluster is asked, as the user that the scheduler is. A metrics server tells
what is used at the moment, without a deviation.
"""

import math
from typing import Final

import msgspec

from podium.addons.collection.load.loads import Loads, NodeLoad
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements
from podium.client.connection import transport_for
from podium.client.transport import Request
from podium.kubernetes.rules.quantity import QuantityError, nano
from podium.kubernetes.rules.timestamps import seconds_of
from podium.scheduler.config.flags.client_settings import ClientSettings

PATH: Final = "/apis/metrics.k8s.io/v1beta1/nodes"
NOBODY_TO_ASK: Final = (
    "there is no API server to ask for metrics.k8s.io: name a recorded answer as address"
)
_OK: Final = 200
_NANO_PER_MILLI: Final = 10**6
_NANO: Final = 10**9


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""


class _NodeMetrics(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    timestamp: str = ""
    usage: dict[str, str | int | float] = {}


class _NodeMetricsList(msgspec.Struct, frozen=True):
    items: list[_NodeMetrics] = []


async def ask_metrics_server(
    settings: ClientSettings | None, recorded: Endpoint | None, *, timeout_s: float
) -> Loads:
    """`recorded` goes before the API server. Raises NoMeasurements, and what a request raises."""
    if recorded is not None:
        return read_node_metrics(await recorded.get(PATH, timeout_s=timeout_s))
    if settings is None:
        raise NoMeasurements(NOBODY_TO_ASK)
    transport = transport_for(settings, user_agent="podium")
    try:
        reply = await transport.send(Request("GET", PATH), timeout_s=timeout_s)
    finally:
        await transport.close()
    if reply.status != _OK:
        raise NoMeasurements(f"{PATH} answered {reply.status}: is there a metrics server?")
    return read_node_metrics(reply.body)


def read_node_metrics(body: bytes) -> Loads:
    """A NodeMetricsList. Raises NoMeasurements."""
    try:
        items = msgspec.json.decode(body, type=_NodeMetricsList).items
        nodes = {item.metadata.name: _node_load(item.usage) for item in items}
        ends = [seconds_of(item.timestamp) for item in items if item.timestamp]
    except (
        msgspec.DecodeError,
        RecursionError,
        QuantityError,
        ValueError,
        OverflowError,
    ) as problem:
        raise NoMeasurements(f"the answer is no NodeMetricsList: {problem}") from None
    return Loads(nodes, max(ends, default=0.0), in_percent=False)


def _node_load(usage: dict[str, str | int | float]) -> NodeLoad:
    cpu, memory = usage.get("cpu"), usage.get("memory")
    return NodeLoad(
        cpu=math.nan if cpu is None else nano(cpu) / _NANO_PER_MILLI,
        memory=math.nan if memory is None else nano(memory) / _NANO,
    )
