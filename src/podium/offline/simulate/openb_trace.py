"""The published `openb` traces as inputs: a CSV file of nodes, a CSV file of pods.

Files are recognised by their columns. As objects, pods come in the order of the file and all at
once; as events, each comes when it was created and runs for as long as it ran there. How cards and
shares are written as objects is what the add-on for GPUs knows, which is asked about files with a
header of several columns and about no others.
"""

import csv
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, Protocol

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid
from podium.offline.simulate.timed_events import PodArrival
from podium.user_code.shipped import INPUT_FORMATS, load_entry_point

_MAX_HEADER_BYTES: Final = 4096
_FEWEST_COLUMNS: Final = 4
WORKLOAD: Final = "openb"


class TablePod(Protocol):
    """A line with a pod; times are seconds, None where none is given."""

    @property
    def created_s(self) -> int | None: ...
    @property
    def duration_s(self) -> int | None: ...


class TableFormat(Protocol):
    """Lists of nodes and of pods, by the names of their columns."""

    def is_node_list(self, columns: Iterable[str]) -> bool: ...
    def is_pod_list(self, columns: Iterable[str]) -> bool: ...
    def read_nodes(self, text: str, source: str) -> Sequence[JsonObject]:
        """Manifests. Raises InputError."""

    def read_pods(self, text: str, source: str) -> Sequence[TablePod]:
        """Raises InputError."""

    def write_pod(self, row: Any) -> JsonObject:
        """The manifest of a pod that was read. Raises InputError."""


@cache
def _format() -> TableFormat:
    made: TableFormat = load_entry_point(INPUT_FORMATS, "openb")()
    return made


def is_openb(data: bytes) -> bool:
    """Whether a file is a list of nodes or of pods."""
    return is_openb_pods(data) or _is_openb_nodes(data)


def is_openb_pods(data: bytes) -> bool:
    columns = _columns(data)
    return len(columns) >= _FEWEST_COLUMNS and _format().is_pod_list(columns)


def _is_openb_nodes(data: bytes) -> bool:
    columns = _columns(data)
    return len(columns) >= _FEWEST_COLUMNS and _format().is_node_list(columns)


def openb_documents(data: bytes, source: str) -> list[SourceDocument]:
    """Nodes or pods as documents, one a line. Raises InputError."""
    text, form = _text(data, source), _format()
    if _is_openb_nodes(data):
        values = list(form.read_nodes(text, source))
    else:
        values = [form.write_pod(row) for row in form.read_pods(text, source)]
    return [
        SourceDocument(source, index, index + 1, value, of=len(values))
        for index, value in enumerate(values, 1)
    ]


def read_openb_events(data: bytes, source: str, *, gates: FeatureGates) -> list[PodArrival]:
    """The arrivals of a list of pods, the first one at 0. Raises InputError."""
    form = _format()
    rows = list(form.read_pods(_text(data, source), source))
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
            assign_uid(admission.admit_leniently(form.write_pod(row), Pod)),
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
