"""Whether traces are exported, and where to: OpenTelemetry's own environment variables say so.

kube-scheduler has neither a flag nor a field for it. Without `OTEL_EXPORTER_OTLP_ENDPOINT` (or the
one for traces alone) nothing is exported and OpenTelemetry is not even imported.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from podium.commands.processes.kube_log import KubeLog
from podium.scheduler.engine import Engine

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_SERVICE: Final = "podium"
NOT_INSTALLED: Final = (
    "traces are not exported: {} is set and OpenTelemetry is not installed"
    " (pip install 'podium[otel]')"
)


def wanted_endpoint(environment: Mapping[str, str]) -> str:
    """The variable that says where traces go; empty if they go nowhere."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return ""
    if environment.get("OTEL_TRACES_EXPORTER", "otlp").lower() == "none":
        return ""
    return next((name for name in _ENDPOINTS if environment.get(name)), "")


@contextmanager
def exported_traces(engine: Engine, environment: Mapping[str, str], log: KubeLog) -> Iterator[None]:
    """Attempts are exported for as long as the context, if anybody wants them."""
    variable = wanted_endpoint(environment)
    if not variable:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log.warn(NOT_INSTALLED.format(variable))
        yield
        return
    from podium.live.tracing import Tracing

    name = environment.get("OTEL_SERVICE_NAME") or _SERVICE
    provider = TracerProvider(
        resource=Resource.create({"service.name": name}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    Tracing(engine, provider.get_tracer(_SERVICE))
    log.info("Exporting traces", endpoint=environment[variable])
    try:
        yield
    finally:
        provider.shutdown()
