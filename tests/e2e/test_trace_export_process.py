"""`podium run` with an OTLP endpoint: a receiver on this machine gets the spans of attempts."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from e2e.test_run_process import create, node_of, scheduler, why_pending
from support.apiserver.apiserver_process import RunningServer, serving
from support.waiting import wait_until

pytestmark = pytest.mark.slow

NODE = {
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


class Receiver(ThreadingHTTPServer):
    """Takes what exporters post."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posted: list[tuple[str, str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        assert isinstance(self.server, Receiver)
        self.server.posted.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with serving(tmp_path) as running:
        assert running.ask("POST", "/api/v1/nodes", NODE)[0] == 201
        yield running


def test_attempts_arrive_as_spans_with_their_pods(
    server: RunningServer,
    receiver: Receiver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "night-shift")
    with scheduler(server, tmp_path, "--secure-port=0", "--leader-elect=false") as process:
        create(server, "traced")
        assert wait_until(lambda: node_of(server, "traced")) == "n1"
        create(server, "huge", "64")
        wait_until(lambda: why_pending(server, "huge"))
        assert process.stopped() == 0
    assert f'"Exporting traces" endpoint="{receiver.url}"' in process.said
    spans = []
    for path, content_type, body in receiver.posted:
        assert (path, content_type) == ("/v1/traces", "application/x-protobuf")
        request = trace_service.ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            attributes = {
                each.key: each.value.string_value for each in resource.resource.attributes
            }
            assert attributes["service.name"] == "night-shift"
            spans += [span for scope in resource.scope_spans for span in scope.spans]
    told = str(spans)
    assert "default/traced" in told or '"traced"' in told
    assert "huge" in told
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans)


def test_a_receiver_that_is_not_there_stops_nothing(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with scheduler(server, tmp_path, "--secure-port=0", "--leader-elect=false") as process:
        create(server, "untraced")
        assert wait_until(lambda: node_of(server, "untraced")) == "n1"
        assert process.stopped() == 0
