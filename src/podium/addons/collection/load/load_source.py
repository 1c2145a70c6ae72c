"""Where load-aware plugins get their measurements: what was measured, whom to ask, and how.

A source is asked every 30 seconds in the background, and answers with `Loads`: for each node an
average and a deviation of CPU and memory, in percent of its capacity, whoever measured it. Plugins
and profiles that ask the same provider in the same way share one source. Providers are

- a load-watcher, `GET /watcher`: percentages by node, of which an average counts before a latest
  value; a value without an operator is a latest one, as older load-watchers wrote it;
- the resource metrics API, as `kubectl top nodes` reads it, asked as the user that the scheduler
  is: amounts of the moment, no deviation, which `load_score.py` relates to the node's capacity;
- Prometheus: four queries for all nodes together, averages and deviations over 15 minutes of gauges
  from 0 to 1, by default those that the recording rules of kube-prometheus leave behind.

The arguments `metricProvider` and `watcherAddress` are Trimaran's; a load-watcher goes before a
provider. upstream: `insecureSkipVerify` is true for Prometheus unless it is written. Here
certificates are verified unless it is written: a token would go to whoever answers.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements, check_address
from podium.addons.collection.prometheus.source import (
    NODE_LABELS,
    UNAME,
    Sample,
    ask_query,
    is_address,
    names_by_instance,
    node_name,
    values_by_node,
    without_port,
)
from podium.client.connection import transport_for
from podium.client.transport import Request
from podium.kubernetes.rules.quantity import QuantityError, nano
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import ArgumentsError, ClientSettings, ValueSource, WrongAnswer


class NodeLoad(NamedTuple):
    """Averages and standard deviations; NaN where nothing is known."""

    cpu: float = math.nan
    cpu_deviation: float = 0.0
    memory: float = math.nan
    memory_deviation: float = 0.0


class Loads(NamedTuple):
    nodes: Mapping[str, NodeLoad]
    window_end: float
    """Up to when was measured, in seconds since 1970: what started later is not in it."""
    in_percent: bool = True
    """False: milli-cores and bytes."""


Seconds = Annotated[float, Meta(gt=0, le=86_400)]
PROMETHEUS_ADDRESS: Final = "http://prometheus-k8s:9090"
"""upstream: where a Prometheus without an address is looked for."""


class MetricProvider(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    type: Literal["", "KubernetesMetricsServer", "Prometheus", "SignalFx"] = ""
    address: str = ""
    token: str = ""
    insecure_skip_verify: bool = False
    token_file: str = ""
    certificate_authority: str = ""
    node_labels: tuple[str, ...] = NODE_LABELS
    cpu_metric: str = "instance:node_cpu:ratio"
    """A gauge from 0 to 1, as the rules of kube-prometheus record it; so for memory."""
    memory_metric: str = "instance:node_memory_utilisation:ratio"

    def __repr__(self) -> str:
        return f"<MetricProvider {self.type} {self.address}>"


class LoadArgs(ArgsHeader, frozen=True, kw_only=True, rename="camel"):
    metric_provider: MetricProvider = MetricProvider()
    watcher_address: str = ""
    refresh_every_seconds: Seconds = 30.0
    max_age_seconds: Seconds = 300.0
    timeout_seconds: Seconds = 10.0


class LoadSource(ValueSource):
    """What all of them have in common."""

    def __init__(self, name: str, args: LoadArgs) -> None:
        self.name = name
        self.refresh_every_s = args.refresh_every_seconds
        self.max_age_s = args.max_age_seconds
        self.timeout_s = args.timeout_seconds

    async def fetch(self) -> Loads:
        raise NotImplementedError

    def checked(self, value: object) -> Loads:
        if not isinstance(value, Loads):
            raise WrongAnswer("fetch", "loads", value)
        return value


class LoadWatcherSource(LoadSource):
    def __init__(self, args: LoadArgs, endpoint: Endpoint) -> None:
        super().__init__(f"load-watcher {endpoint.address}", args)
        self.endpoint = endpoint

    async def fetch(self) -> Loads:
        return await ask_load_watcher(self.endpoint, timeout_s=self.timeout_s)


class MetricsServerSource(LoadSource):
    def __init__(
        self, args: LoadArgs, settings: ClientSettings | None, recorded: Endpoint | None
    ) -> None:
        place = recorded.address if recorded is not None else "metrics.k8s.io"
        super().__init__(f"metrics server {place}", args)
        self.settings = settings
        self.recorded = recorded

    async def fetch(self) -> Loads:
        return await ask_metrics_server(self.settings, self.recorded, timeout_s=self.timeout_s)


class PrometheusLoadSource(LoadSource):
    def __init__(self, args: LoadArgs, endpoint: Endpoint) -> None:
        provider = args.metric_provider
        self.metrics = (provider.cpu_metric, provider.memory_metric)
        super().__init__(f"Prometheus {endpoint.address} {' '.join(self.metrics)}", args)
        self.endpoint = endpoint
        self.node_labels = provider.node_labels

    async def fetch(self) -> Loads:
        return await ask_prometheus(
            self.endpoint, self.metrics, self.node_labels, timeout_s=self.timeout_s
        )


def load_source(args: LoadArgs, settings: ClientSettings | None) -> LoadSource:
    """Raises ArgumentsError."""
    provider = args.metric_provider
    if args.watcher_address:
        address = check_address(args.watcher_address, "watcherAddress")
        return LoadWatcherSource(args, Endpoint(address=address))
    match provider.type:
        case "Prometheus":
            return _from_prometheus(args, provider)
        case "SignalFx":
            raise ArgumentsError(
                "args.metricProvider.type",
                "SignalFx is not asked directly",
                "run a load-watcher in front of it and name its watcherAddress",
            )
        case _:
            return _from_metrics_server(args, provider, settings)


def _from_prometheus(args: LoadArgs, provider: MetricProvider) -> PrometheusLoadSource:
    if provider.insecure_skip_verify and provider.certificate_authority:
        path = "args.metricProvider.insecureSkipVerify"
        raise ArgumentsError(path, "contradicts certificateAuthority")
    if not provider.node_labels:
        path = "args.metricProvider.nodeLabels"
        raise ArgumentsError(path, "is empty", "leave it out, or name labels")
    address = check_address(provider.address or PROMETHEUS_ADDRESS, "metricProvider.address")
    if address.startswith("file:"):
        remedy = "watcherAddress takes a recorded answer of a load-watcher"
        raise ArgumentsError("args.metricProvider.address", "four queries are not one file", remedy)
    endpoint = Endpoint(
        address=address,
        token=provider.token,
        token_file=provider.token_file,
        certificate_authority=provider.certificate_authority,
        insecure_skip_verify=provider.insecure_skip_verify,
    )
    return PrometheusLoadSource(args, endpoint)


def _from_metrics_server(
    args: LoadArgs, provider: MetricProvider, settings: ClientSettings | None
) -> MetricsServerSource:
    if not provider.address:
        return MetricsServerSource(args, settings, None)
    if not provider.address.startswith("file:"):
        raise ArgumentsError(
            "args.metricProvider.address",
            "a metrics server is reached through the API server",
            "leave it out, or name a recorded answer as file:PATH",
        )
    return MetricsServerSource(args, None, Endpoint(address=provider.address))


WATCHER_PATH: Final = "/watcher"
_CPU, _MEMORY = "CPU", "Memory"
_AVERAGE, _DEVIATION, _LATEST = "AVG", "STD", ("Latest", "")


class _Metric(msgspec.Struct, frozen=True):
    type: str = ""
    operator: str = ""
    value: float = math.nan


class _WatchedNode(msgspec.Struct, frozen=True):
    metrics: list[_Metric] | None = None


class _Data(msgspec.Struct, frozen=True):
    nodes: dict[str, _WatchedNode] | None = msgspec.field(default=None, name="NodeMetricsMap")


class _Window(msgspec.Struct, frozen=True):
    end: float = 0.0


class _Answer(msgspec.Struct, frozen=True):
    window: _Window = _Window()
    data: _Data = _Data()


async def ask_load_watcher(endpoint: Endpoint, *, timeout_s: float) -> Loads:
    """Raises NoMeasurements, and what a request raises."""
    return read_watcher(await endpoint.get(WATCHER_PATH, timeout_s=timeout_s))


def read_watcher(body: bytes) -> Loads:
    """Raises NoMeasurements."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise NoMeasurements(f"the answer is none of a load-watcher: {problem}") from None
    nodes = {
        without_port(name): _read_watched_load(known.metrics or [])
        for name, known in (answer.data.nodes or {}).items()
    }
    return Loads(nodes, answer.window.end)


def _read_watched_load(metrics: list[_Metric]) -> NodeLoad:
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


NODE_METRICS_PATH: Final = "/apis/metrics.k8s.io/v1beta1/nodes"
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
        return read_node_metrics(await recorded.get(NODE_METRICS_PATH, timeout_s=timeout_s))
    if settings is None:
        raise NoMeasurements(NOBODY_TO_ASK)
    transport = transport_for(settings, user_agent="podium")
    try:
        reply = await transport.send(Request("GET", NODE_METRICS_PATH), timeout_s=timeout_s)
    finally:
        await transport.close()
    if reply.status != _OK:
        raise NoMeasurements(
            f"{NODE_METRICS_PATH} answered {reply.status}: is there a metrics server?"
        )
    return read_node_metrics(reply.body)


def read_node_metrics(body: bytes) -> Loads:
    """A NodeMetricsList. Raises NoMeasurements."""
    try:
        items = msgspec.json.decode(body, type=_NodeMetricsList).items
        nodes = {item.metadata.name: _read_used_load(item.usage) for item in items}
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


def _read_used_load(usage: dict[str, str | int | float]) -> NodeLoad:
    cpu, memory = usage.get("cpu"), usage.get("memory")
    return NodeLoad(
        cpu=math.nan if cpu is None else nano(cpu) / _NANO_PER_MILLI,
        memory=math.nan if memory is None else nano(memory) / _NANO,
    )


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
