"""Numbers from Prometheus: the query, which node a series is about, and the source that asks.

The query goes out every `refresh_every_s`; the last good answer counts until it is `max_age_s` old.
Between two queries nobody waits. What is odd about an answer, though it can be used, is logged when
it appears and not again while it lasts. That no series answers is odd only at first: a query may
well be about the few nodes that have a trouble.

One instant query of Prometheus' HTTP API, and its answer as samples. `GET /api/v1/query`: GET
rather than POST, since proxies that only let readers through take a POST for a write. An answer
that is no vector (a scalar, a matrix) is a mistake in the query and says so.

Which node a series is about. Whoever sets up the scraping decides which label has a node's name:
relabelling in charts writes `kubernetes_node` or `node`, node-exporter's own `node_uname_info` has
`nodename`, and without any relabelling there is only `instance`, the address that was scraped. The
labels are tried in order, and a port at the end is cut off. An `instance` that is an IP address
says nothing about a node; the series `node_uname_info` of the same instance does, if it is there.

Contract: a node that several series claim to be about has no value at all, since nobody can tell
which of them is meant; such nodes are told apart from those that no series is about.

Arguments that all plugins with data from Prometheus have in common.
"""

import ipaddress
import logging
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.collection.measurement_endpoint import Endpoint, NoMeasurements, check_address
from podium.client.transport import Reply
from podium.plugin import ArgumentsError, Source

MAX_QUERY_BYTES: Final = 8192
PATH: Final = "/api/v1/query"
_VECTOR: Final = "vector"
_MAX_SHOWN: Final = 300


class Sample(NamedTuple):
    """One series at one moment."""

    labels: dict[str, str]
    at: float
    """Seconds since 1970, by the server's clock."""
    value: float


class _Series(msgspec.Struct):
    metric: dict[str, str] = {}
    value: tuple[float, str] = (0.0, "NaN")


class _Data(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"[]")


class _Answer(msgspec.Struct, rename="camel"):
    status: str = ""
    data: _Data | None = None
    error_type: str = ""
    error: str = ""


async def ask_query(endpoint: Endpoint, query: str, *, timeout_s: float) -> list[Sample]:
    """Every sample of the answer that is a number. Raises NoMeasurements, and what a request
    raises."""
    return read_samples(await endpoint.ask(PATH, (("query", query),), timeout_s=timeout_s), query)


def read_samples(reply: Reply, query: str) -> list[Sample]:
    """Raises NoMeasurements."""
    try:
        answer = msgspec.json.decode(reply.body, type=_Answer)
    except (msgspec.DecodeError, RecursionError):
        words = f"answered {reply.status} with something that is no answer of Prometheus"
        raise NoMeasurements(words) from None
    if answer.status != "success" or answer.data is None:
        told = answer.error or f"status {reply.status}"
        raise NoMeasurements(f"query {_short(query)} failed: {_short(told)}")
    if answer.data.result_type != _VECTOR:
        kind = answer.data.result_type or "nothing"
        raise NoMeasurements(
            f"query {_short(query)} gives {_short(kind)}, not a value for each node"
        )
    try:
        series = msgspec.json.decode(answer.data.result, type=list[_Series])
        samples = [Sample(each.metric, each.value[0], float(each.value[1])) for each in series]
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise NoMeasurements("the samples of the answer cannot be read") from None
    return [sample for sample in samples if math.isfinite(sample.value)]


def quote_label_value(text: str) -> str:
    """A label's value in a matcher: `ens"1` becomes `"ens\\"1"`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _short(text: Any) -> str:
    shown = str(text)
    return shown if len(shown) <= _MAX_SHOWN else shown[:_MAX_SHOWN] + "..."


_LOG: Final = logging.getLogger("podium.addons.collection")
_EMPTY: Final = "no series answers the query"
_MAX_NAMED: Final = 3
_told: dict[str, str] = {}
"""What was logged last of each source, by name; sources are compared by their attributes, so it
cannot be one of them."""


class PrometheusSource(Source):
    def __init__(
        self,
        plugin: str,
        endpoint: Endpoint,
        query: str,
        node_labels: Sequence[str],
        *,
        refresh_every_s: float,
        max_age_s: float,
        timeout_s: float,
    ) -> None:
        self.name = f"{plugin} {endpoint.address} {query}"
        self.endpoint = endpoint
        self.query = query
        self.node_labels = tuple(node_labels)
        self.refresh_every_s = refresh_every_s
        self.max_age_s = max_age_s
        self.timeout_s = timeout_s

    async def fetch(self) -> Mapping[str, float]:
        samples = await self._ask(self.query)
        known: Mapping[str, str] = {}
        if not self.endpoint.is_file and any(self._is_nameless(sample) for sample in samples):
            known = names_by_instance(await self._ask(UNAME))
        found = values_by_node(samples, self.node_labels, known)
        self._tell(_oddity(len(samples), len(found.values), found.ambiguous))
        return found.values

    async def _ask(self, query: str) -> list[Sample]:
        return await ask_query(self.endpoint, query, timeout_s=self.timeout_s)

    def _is_nameless(self, sample: Sample) -> bool:
        return is_address(node_name(sample.labels, self.node_labels))

    def _tell(self, oddity: str) -> None:
        before = _told.get(self.name)
        if oddity == before or (oddity == _EMPTY and before is not None):
            return
        _told[self.name] = oddity
        if oddity:
            _LOG.warning("source %s: %s", self.name, oddity)


def _oddity(samples: int, nodes: int, ambiguous: Sequence[str]) -> str:
    if not samples:
        return _EMPTY
    if ambiguous:
        named = ", ".join(sorted(ambiguous)[:_MAX_NAMED])
        more = f" and {len(ambiguous) - _MAX_NAMED} more" if len(ambiguous) > _MAX_NAMED else ""
        return f"several series are about {named}{more}: aggregate them in the query"
    if not nodes:
        return "no series has a label that names a node"
    return ""


NODE_LABELS: Final = ("kubernetes_node", "node", "nodename", "instance")
UNAME: Final = "node_uname_info"
"""A series of every node-exporter: the label `nodename` is what the machine calls itself."""
_INSTANCE: Final = "instance"
_PORT: Final = re.compile(r":[0-9]{1,5}$")
_BRACKETED: Final = re.compile(r"^\[(.*)\](?::[0-9]{1,5})?$")


class NodeValues(NamedTuple):
    values: dict[str, float]
    ambiguous: tuple[str, ...]
    """Nodes that more than one series is about."""


def values_by_node(
    samples: Iterable[Sample], labels: Sequence[str], known: Mapping[str, str] | None = None
) -> NodeValues:
    """`known` are names of nodes by instance, for instances that are addresses."""
    values: dict[str, float] = {}
    ambiguous: dict[str, None] = {}
    for sample in samples:
        name = node_name(sample.labels, labels)
        if known and is_address(name):
            name = known.get(sample.labels.get(_INSTANCE, ""), name)
        if not name:
            continue
        if name in values:
            ambiguous[name] = None
        values[name] = sample.value
    for name in ambiguous:
        del values[name]
    return NodeValues(values, tuple(ambiguous))


def node_name(labels: Mapping[str, str], wanted: Sequence[str]) -> str:
    """The host that the first of the wanted labels names; empty if there is none.

    >>> node_name({"instance": "node-1:9100", "job": "node"}, NODE_LABELS)
    'node-1'
    """
    return next((without_port(labels[label]) for label in wanted if labels.get(label)), "")


def without_port(host: str) -> str:
    bracketed = _BRACKETED.match(host)
    if bracketed is not None:
        return bracketed[1]
    if host.count(":") > 1:  # an IPv6 address without brackets has no port
        return host
    return _PORT.sub("", host)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def names_by_instance(samples: Iterable[Sample]) -> dict[str, str]:
    """What `node_uname_info` says: the name of the machine behind each instance."""
    return {
        sample.labels[_INSTANCE]: sample.labels["nodename"]
        for sample in samples
        if sample.labels.get(_INSTANCE) and sample.labels.get("nodename")
    }


NodeScore = Annotated[int, Meta(ge=0, le=100)]
Seconds = Annotated[float, Meta(gt=0, le=86_400)]

NEUTRAL_SCORE: Final = 50


class PrometheusArgs(ArgsHeader, frozen=True, kw_only=True, rename="camel"):
    prometheus_address: str = ""
    bearer_token_file: str = ""
    certificate_authority: str = ""
    insecure_skip_verify: bool = False
    node_labels: tuple[str, ...] = NODE_LABELS
    """Labels that may have the node's name, the first that a series has counts."""
    refresh_every_seconds: Seconds = 30.0
    max_age_seconds: Seconds = 300.0
    timeout_seconds: Seconds = 10.0


def source_of(plugin: str, args: PrometheusArgs, query: str) -> PrometheusSource:
    """The source for a query. Raises ArgumentsError."""
    if len(query.encode()) > MAX_QUERY_BYTES:
        raise ArgumentsError("args.query", f"is longer than {MAX_QUERY_BYTES} bytes")
    if not args.node_labels:
        raise ArgumentsError("args.nodeLabels", "is empty", "leave it out, or name labels")
    if args.insecure_skip_verify and args.certificate_authority:
        raise ArgumentsError("args.insecureSkipVerify", "contradicts certificateAuthority")
    endpoint = Endpoint(
        address=check_address(args.prometheus_address, "prometheusAddress"),
        token_file=args.bearer_token_file,
        certificate_authority=args.certificate_authority,
        insecure_skip_verify=args.insecure_skip_verify,
    )
    return PrometheusSource(
        plugin,
        endpoint,
        query,
        args.node_labels,
        refresh_every_s=args.refresh_every_seconds,
        max_age_s=args.max_age_seconds,
        timeout_s=args.timeout_seconds,
    )
