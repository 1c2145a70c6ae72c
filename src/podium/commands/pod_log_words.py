"""Steps that several pods have in common, in words, and times as timelines show them."""

from podium.offline.simulate.timeline import LifeStep, LineKind
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.pod_log_lines import describe_line


def format_seconds(at_s: float) -> str:
    return f"{at_s:.3f}"


def describe_step(step: LifeStep) -> str:
    """A step of several pods' lives: what it was for all of them."""
    kind = step.kind
    words = _describe_kind(kind)
    if step.most == 1:
        return words
    times = f"{step.most}" if step.fewest == step.most else f"{step.fewest} to {step.most}"
    return f"{words}, {times} times"


def _describe_kind(kind: LineKind) -> str:
    """The words for one line without what differs from pod to pod."""
    match kind.what:
        case "tried" if not kind.found and not kind.plugins:
            return "tried, failed"
        case "preempting":
            return "evicts others"
        case "preempted":
            return "evicted for another pod"
        case "waiting":
            return f"waits for {', '.join(kind.plugins)}"
        case "bound":
            return "bound"
        case "binding failed":
            return "binding failed"
    about = "found" if kind.what == "tried" and kind.found else ""
    return describe_line(Line(0.0, kind.what, kind.event, kind.plugins, about))
