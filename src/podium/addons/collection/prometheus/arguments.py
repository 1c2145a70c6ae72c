"""Arguments that all plugins with data from Prometheus have in common."""

from typing import Annotated, Final

from msgspec import Meta

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.collection.measurement_endpoint import Endpoint, check_address
from podium.addons.collection.prometheus.node_names import NODE_LABELS
from podium.addons.collection.prometheus.query import MAX_QUERY_BYTES
from podium.addons.collection.prometheus.source import PrometheusSource
from podium.scheduler.framework.registry import ArgumentsError

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
