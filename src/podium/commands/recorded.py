"""`--recorded`: what a scheduler that runs knows of a pod, on a screen or as a document."""

from collections.abc import Callable

from podium.commands.cluster_options import ClusterOptions
from podium.commands.documents import print_document
from podium.commands.exit_codes import NO, OK
from podium.commands.recorded_options import RecordedOptions
from podium.commands.recorded_pod import RecordedPod
from podium.commands.tables import Screen


def tell_recorded(
    reference: str,
    cluster: ClusterOptions,
    options: RecordedOptions,
    output: str,
    show: Callable[[RecordedPod, Screen], None],
) -> int:
    """Raises InputError."""
    from podium.commands.recorded_reading import read_pod_record

    record, document = read_pod_record(reference, cluster, options)
    if output in ("json", "yaml"):
        print_document("PodRecord", document, output)
    else:
        show(record, Screen())
    return OK if record.is_placed else NO
