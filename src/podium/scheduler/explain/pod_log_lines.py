"""Lines of the engine's pod log in words, the same for timelines, stories and the page.

Events keep the names that kube-scheduler gives them, since logs and metrics have them too.
"""

from podium.scheduler.engine.observer import Line

BACKOFF = "BackoffComplete"
TIMEOUT = "UnschedulableTimeout"
ACTIVATED = "ForceActivate"
MAX_MESSAGE = 50


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


def _short(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."
