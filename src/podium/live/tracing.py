"""Attempts as OpenTelemetry traces: a span for each, with one for every extension point in it.

    Scheduling attempt                    from the search to the end of the binding, or the failure
      PreFilter · Filter · Score          or PostFilter, where no node fits
      Reserve                             Reserve and Permit
      Permit wait
      PreBind · Bind · PostBind

Nothing is measured for it: the engine takes these times for its records and metrics, and spans are
made of them afterwards. This module and OpenTelemetry are imported only where traces are wanted.
"""

from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context

from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code
from podium.scheduler.framework.status import Status as PluginStatus

ATTEMPT: Final = "Scheduling attempt"
_POINTS: Final = (
    ("pre_filter", "PreFilter"),
    ("filter", "Filter"),
    ("score", "Score"),
    ("post_filter", "PostFilter"),
)


class Tracing(Observer):
    def __init__(self, engine: Engine, tracer: Tracer) -> None:
        """Observes from now on."""
        self._engine = engine
        self._tracer = tracer
        self._open: dict[str, tuple[Span, Context]] = {}
        engine.observers.add(self)

    # --- what the engine says -----------------------------------------------------------------

    def pod_decided(self, decision: Decision) -> None:
        now = self._engine.clock()
        durations = decision.durations_s
        begun = now - durations.get("total", 0.0)
        span = self._tracer.start_span(
            ATTEMPT, Context(), start_time=_ns(begun), attributes=_attributes(decision)
        )
        inside = set_span_in_context(span, Context())
        at = begun
        for key, point in _POINTS:
            if key in durations:
                at = self._add(point, inside, at, durations[key])
        if decision.chosen is not None:
            self._add("Reserve", inside, at, max(0.0, now - at))
        self._open[decision.pod.uid] = span, inside

    def wait_ended(self, waiting: WaitingPod, seconds: float) -> None:
        found = self._open.get(waiting.info.uid)
        if found is not None:
            self._add("Permit wait", found[1], waiting.since, seconds, waiting.outcome)

    def binding_ended(
        self, queued: QueuedPod, binding: Binding, problem: PluginStatus | None
    ) -> None:
        found = self._open.get(queued.info.uid)
        if found is None:
            return
        at = self._engine.clock() - sum(seconds for _, _, seconds in binding.timings)
        for point, code, seconds in binding.timings:
            failure = problem if code is not Code.SUCCESS else None
            at = self._add(point, found[1], at, seconds, failure)
        if problem is None:
            self._end(queued, "scheduled")

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        self._end(queued, "unschedulable" if rejected else "error", message)

    # --- spans --------------------------------------------------------------------------------

    def _add(
        self,
        name: str,
        inside: Context,
        begun: float,
        seconds: float,
        outcome: PluginStatus | None = None,
    ) -> float:
        """A span within an attempt; when it ended."""
        span = self._tracer.start_span(name, inside, start_time=_ns(begun))
        if outcome is not None and outcome.code is not Code.SUCCESS:
            span.set_status(Status(StatusCode.ERROR, outcome.message))
            span.set_attribute("podium.plugin", outcome.plugin)
        span.end(_ns(begun + seconds))
        return begun + seconds

    def _end(self, queued: QueuedPod, result: str, message: str = "") -> None:
        found = self._open.pop(queued.info.uid, None)
        if found is None:
            return
        span, _ = found
        span.set_attribute("podium.result", result)
        if result == "error":
            span.set_status(Status(StatusCode.ERROR, message))
        elif message:
            span.set_attribute("podium.message", message)
        span.end(_ns(self._engine.clock()))


def _attributes(decision: Decision) -> dict[str, str | int]:
    metadata = decision.pod.pod.metadata
    found: dict[str, str | int] = {
        "k8s.namespace.name": metadata.namespace,
        "k8s.pod.name": metadata.name,
        "k8s.pod.uid": decision.pod.uid,
        "podium.profile": decision.profile,
        "podium.attempt": decision.attempt,
        "podium.feasible_nodes": len(decision.feasible),
    }
    if decision.chosen is not None:
        found["k8s.node.name"] = decision.chosen
    return found


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
