"""Attempts as traces: one a pod and attempt, with its extension points inside."""

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from support.scheduler.framework.fake_plugins import permit

from podium.live.tracing import ATTEMPT, Tracing
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.status import Code, Status, error
from podium.testing import FakeCluster, make_node, make_pod


def traced(cluster: FakeCluster) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    Tracing(cluster.engine, provider.get_tracer("test"))
    return exporter


def attempts(exporter: InMemorySpanExporter) -> list[tuple[ReadableSpan, list[ReadableSpan]]]:
    """Attempts, each with what is inside it."""
    spans = exporter.get_finished_spans()
    roots = [span for span in spans if span.parent is None]
    return [
        (root, [s for s in spans if s.parent and s.parent.span_id == root.context.span_id])
        for root in roots
    ]


def test_an_attempt_is_a_span_with_its_points_inside() -> None:
    cluster = FakeCluster(make_node("a"), make_node("b"))
    exporter = traced(cluster)
    cluster.clock.advance(100)
    cluster.schedule(make_pod("web"))
    ((root, inside),) = attempts(exporter)
    assert root.name == ATTEMPT
    assert [span.name for span in inside] == [
        "PreFilter",
        "Filter",
        "Score",
        "Reserve",
        "PreBind",
        "Bind",
        "PostBind",
    ]
    told = dict(root.attributes or {})
    assert (told["k8s.pod.name"], told["k8s.node.name"]) == ("web", "a")
    assert (told["podium.feasible_nodes"], told["podium.result"]) == (2, "scheduled")
    assert root.start_time == root.end_time == int(cluster.clock() * 1e9)


def test_each_attempt_is_a_trace_of_its_own() -> None:
    cluster = FakeCluster(make_node("a", allocatable={"cpu": "1", "pods": 10}))
    exporter = traced(cluster)
    cluster.put(make_pod("web", requests={"cpu": "2"}))
    cluster.run()
    cluster.wait(2)
    cluster.put(make_node("b"))
    cluster.run()
    cluster.bound("web")
    (first, tried), (second, _) = attempts(exporter)
    assert [span.name for span in tried] == ["PreFilter", "Filter", "PostFilter"]
    assert (first.attributes or {})["podium.result"] == "unschedulable"
    assert "Insufficient cpu" in str((first.attributes or {})["podium.message"])
    assert (second.attributes or {})["podium.attempt"] == 2
    assert first.context.trace_id != second.context.trace_id


def test_a_wait_and_a_binding_that_fails_have_their_time_and_reason() -> None:
    waits = permit("Waits", PermitResult(Status(Code.WAIT), 10.0))
    cluster = FakeCluster(make_node("a"), plugins=[waits])
    exporter = traced(cluster)
    cluster.put(make_pod("web"))
    cluster.run()
    cluster.wait(12)
    ((_, inside),) = attempts(exporter)
    wait = inside[-1]
    assert wait.name == "Permit wait"
    assert (wait.end_time or 0) - (wait.start_time or 0) == 12_000_000_000
    assert wait.status.status_code is StatusCode.ERROR
    other = FakeCluster(make_node("a"), make_pod("web"))
    exporter = traced(other)
    other.put(make_pod("next"))
    other.attempt()
    other.finish("web", error("the server is gone"))
    ((root, _),) = attempts(exporter)
    assert (root.status.status_code, root.status.description) == (
        StatusCode.ERROR,
        "the server is gone",
    )
