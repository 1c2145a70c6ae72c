"""What happened to pods in the words that the terminal has for it, beside the data."""

from podium.golang.document_structs import extend_part
from podium.live.record_documents import PodLogLine
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.pod_log_lines import describe_line


class LineInWords(PodLogLine, frozen=True):
    """One thing that happened to a pod, in words as well."""

    words: str
    """The same in words."""

    @classmethod
    def of(cls, line: PodLogLine) -> "LineInWords":
        told = Line(0.0, line.what, line.detail, line.plugins, line.about)
        return extend_part(line, cls, words=describe_line(told))
