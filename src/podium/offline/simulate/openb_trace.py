"""The published `openb` traces as inputs: a CSV file of nodes, a CSV file of pods.

Files are recognised by their columns. As objects, pods come in the order of the file and all at
once; as events, each comes when it was created and runs for as long as it ran there.
"""

import csv
from typing import Final

from podium.addons.gpu.packing.openb_rows import (
    is_node_list,
    is_pod_list,
    read_node_rows,
    read_pod_rows,
)
from podium.golang.documents import Document
from podium.golang.errors import InputError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid
from podium.offline.simulate.timed_events import PodArrival

_MAX_HEADER_BYTES: Final = 4096
WORKLOAD: Final = "openb"


def is_openb(data: bytes) -> bool:
    """Whether a file is a list of nodes or of pods."""
    columns = _columns(data)
    return is_node_list(columns) or is_pod_list(columns)


def is_openb_pods(data: bytes) -> bool:
    return is_pod_list(_columns(data))


def openb_documents(data: bytes, source: str) -> list[Document]:
    """Nodes or pods as documents, one a line. Raises InputError."""
    from podium.addons.gpu.packing.openb_manifests import node_manifest, pod_manifest

    text = _text(data, source)
    if is_node_list(_columns(data)):
        values = [node_manifest(row) for row in read_node_rows(text, source)]
    else:
        values = [pod_manifest(row) for row in read_pod_rows(text, source)]
    return [
        Document(source, index, index + 1, value, of=len(values))
        for index, value in enumerate(values, 1)
    ]


def read_openb_events(data: bytes, source: str, *, gates: FeatureGates) -> list[PodArrival]:
    """The arrivals of a list of pods, the first one at 0. Raises InputError."""
    from podium.addons.gpu.packing.openb_manifests import pod_manifest

    rows = read_pod_rows(_text(data, source), source)
    if not rows:
        raise InputError("no pods", source=source)
    if any(row.created_s is None for row in rows):
        remedy = "without it the file can be given to podium simulate, which knows no times"
        raise InputError("pods have no creation_time", source=source, remedy=remedy)
    rows.sort(key=lambda row: row.created_s or 0)
    first, admission = rows[0].created_s or 0, Admission(gates)
    return [
        PodArrival(
            float((row.created_s or 0) - first),
            assign_uid(admission.admit_leniently(pod_manifest(row), Pod)),
            row.duration_s,
            WORKLOAD,
        )
        for row in rows
    ]


def _columns(data: bytes) -> list[str]:
    """Those that a file opens with; none if that is no text."""
    line, _, _ = data[:_MAX_HEADER_BYTES].partition(b"\n")
    try:
        return next(csv.reader([line.decode("utf-8-sig").rstrip("\r")]), [])
    except (UnicodeDecodeError, csv.Error):
        return []


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"cannot be read: {problem}", source=source) from None
