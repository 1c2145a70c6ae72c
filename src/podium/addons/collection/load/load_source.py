"""The source of loads: whom a configuration says to ask, asked every 30 seconds.

Plugins and profiles that ask the same provider in the same way share one source.
"""

from podium.addons.collection.load.load_watcher import ask_load_watcher
from podium.addons.collection.load.loads import Loads
from podium.addons.collection.load.metric_provider import (
    PROMETHEUS_ADDRESS,
    LoadArgs,
    MetricProvider,
)
from podium.addons.collection.load.metrics_server import ask_metrics_server
from podium.addons.collection.load.prometheus_loads import ask_prometheus
from podium.addons.collection.measurement_endpoint import Endpoint, check_address
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.registry import ArgumentsError
from podium.scheduler.framework.sources import ValueSource


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
