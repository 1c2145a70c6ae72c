"""What happened to pods in the words that the terminal has for it, beside the data."""

from collections.abc import Iterable
from typing import Any

from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.pod_log_lines import describe_line


def add_words(lines: Iterable[dict[str, Any]]) -> None:
    """To the lines of a pod's log, as the scheduler's records have them."""
    for line in lines:
        told = Line(0.0, line["what"], line["detail"], tuple(line["plugins"]), line["about"])
        line["words"] = describe_line(told)
