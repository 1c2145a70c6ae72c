"""Arguments of all load-aware plugins: whom to ask for measurements.

`metricProvider` and `watcherAddress` are Trimaran's; a load-watcher goes before a provider.

upstream: `insecureSkipVerify` is true for Prometheus unless it is written. Here certificates are
verified unless it is written: a token would go to whoever answers.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from podium.addons.collection.args_header import ArgsHeader
from podium.addons.collection.prometheus.node_names import NODE_LABELS

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
