"""Lines of the engine's pod log in words, the same for timelines and stories.

Events keep the names that kube-scheduler gives them, since logs and metrics have them too.
"""

from podium.engine.pod_log import Line
from podium.simulator.timeline import LifeStep, LineKind

BACKOFF = "BackoffComplete"
TIMEOUT = "UnschedulableTimeout"
ACTIVATED = "ForceActivate"
MAX_MESSAGE = 50


def format_seconds(at_s: float) -> str:
    return f"{at_s:.3f}"


def describe_line(line: Line) -> str:
    """A line in a few words: `tried, rejected by NodeResourcesFit`."""
    by = ", ".join(line.plugins)
    match line.what:
        case "tried" if line.about:
            return "tried, fits"
        case "tried" if line.plugins:
            return f"tried, rejected by {by}"
        case "tried":
            return f"tried, failed: {_short(line.detail)}"
        case "woken" if line.detail == BACKOFF:
            return "backoff over"
        case "woken":
            return f"woken by {line.detail}" + (f" ({line.about})" if line.about else "")
        case "held back":
            return f"held back by {by}"
        case "preempting":
            return f"evicts {line.detail} from {line.about}"
        case "preempted":
            return f"evicted for {line.about}"
        case "waiting":
            return f"waits on {line.about} for {by}"
        case "bound":
            return f"bound to {line.about}"
        case "binding failed":
            return f"binding to {line.about} failed: {_short(line.detail)}"
        case "deleted":
            return "gone"
    return line.what


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


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."
