"""`--recorded`: what a scheduler that runs knows of a pod, on a screen or as it has sent it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from podium.commands.answering import Answer
from podium.commands.cluster_options import ClusterOptions
from podium.commands.recorded_options import RecordedOptions
from podium.commands.recorded_pod import RecordedPodDocument
from podium.commands.tables import Screen
from podium.net.files.versioned_documents import ReceivedDocument


@dataclass(frozen=True)
class RecordedAnswer(Answer):
    """`sent` is the whole record, with fields that this release does not know."""

    record: RecordedPodDocument
    sent: Mapping[str, object]
    show_on: Callable[[RecordedPodDocument, Screen], None]
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return self.record.is_placed

    def document(self) -> ReceivedDocument:
        return ReceivedDocument("PodRecord", self.sent)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        self.show_on(self.record, screen)


def ask_scheduler(
    reference: str,
    cluster: ClusterOptions,
    options: RecordedOptions,
    show_on: Callable[[RecordedPodDocument, Screen], None],
) -> RecordedAnswer:
    """Raises InputError."""
    from podium.commands.recorded_reading import read_pod_record

    record, sent = read_pod_record(reference, cluster, options)
    return RecordedAnswer(record, sent, show_on)
