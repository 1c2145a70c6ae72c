"""The CSV files of the published `openb` traces: one line a node, one line a pod.

Other columns are passed over. Contract: every pod is one that the GPU rules know, and what is wrong
is an InputError that names file, line and column.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from podium.addons.gpu.packing.node_columns import WHOLE
from podium.golang.errors import InputError

MAX_DEVICES: Final = 16
MAX_AMOUNT: Final = 2**31 - 1
"""Amounts are 32 bits wide on GPUs."""
NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu")
POD_COLUMNS: Final = ("name", "cpu_milli", "num_gpu", "gpu_milli")


@dataclass(frozen=True, slots=True, order=True)
class NodeRow:
    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str = ""


@dataclass(frozen=True, slots=True, order=True)
class PodRow:
    """`gpu_milli` are thousandths of each device; times are seconds, None where none is given."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    spec: str = ""
    created_s: int | None = None
    deleted_s: int | None = None
    scheduled_s: int | None = None

    @property
    def duration_s(self) -> int | None:
        """How long it ran, from when it had its node; None: to the end and beyond."""
        began = self.created_s if self.scheduled_s is None else self.scheduled_s
        if began is None or self.deleted_s is None:
            return None
        return max(0, self.deleted_s - began)


def is_node_list(columns: Iterable[str]) -> bool:
    return set(columns) >= set(NODE_COLUMNS)


def is_pod_list(columns: Iterable[str]) -> bool:
    return set(columns) >= set(POD_COLUMNS)


def read_node_rows(text: str, source: str) -> list[NodeRow]:
    """In the order of the file. Raises InputError."""
    return [
        NodeRow(
            row.text("sn"),
            row.amount("cpu_milli"),
            row.amount("memory_mib"),
            row.amount("gpu", MAX_DEVICES),
            row.text("model", ""),
        )
        for row in _rows(text, source, NODE_COLUMNS)
    ]


def read_pod_rows(text: str, source: str) -> list[PodRow]:
    """In the order of the file. Raises InputError."""
    return [_pod(row) for row in _rows(text, source, POD_COLUMNS)]


class _Row:
    """A line of a CSV file, whose mistakes are told with their place."""

    def __init__(self, fields: dict[str, str | None], source: str, line: int) -> None:
        self._fields = fields
        self._source = source
        self._line = line

    def text(self, column: str, default: str | None = None) -> str:
        value = self._fields.get(column)
        if value is not None:
            return value.strip()
        if default is None:
            raise self.error(column, "is missing")
        return default

    def amount(self, column: str, highest: int = MAX_AMOUNT, default: str | None = None) -> int:
        text = self.text(column, default)
        if not (text.isascii() and text.isdecimal()):
            raise self.error(column, f"not a whole number: {text!r}")
        if int(text) > highest:
            raise self.error(column, f"{text} is more than {highest}")
        return int(text)

    def moment(self, column: str) -> int | None:
        """Published files write whole seconds, some with a fraction of zero."""
        text = self.text(column, "").removesuffix(".0")
        if not text:
            return None
        if not (text.isascii() and text.isdecimal()) or int(text) > MAX_AMOUNT:
            raise self.error(column, f"not a number of seconds: {text!r}")
        return int(text)

    def error(self, column: str, problem: str) -> InputError:
        return InputError(problem, source=self._source, line=self._line, path=column)


def _pod(row: _Row) -> PodRow:
    gpus = row.amount("num_gpu", MAX_DEVICES)
    milli = min(row.amount("gpu_milli"), WHOLE) if gpus else 0
    if gpus and not milli:
        raise row.error("gpu_milli", "a pod with GPUs asks for none of each")
    if gpus > 1 and milli < WHOLE:
        raise row.error("gpu_milli", f"parts of several GPUs: {gpus} x {milli}; only whole ones")
    spec = "|".join(name for name in row.text("gpu_spec", "").split("|") if name) if gpus else ""
    return PodRow(
        row.text("name"),
        row.amount("cpu_milli"),
        row.amount("memory_mib", default="0"),
        gpus,
        milli,
        spec,
        row.moment("creation_time"),
        row.moment("deletion_time"),
        row.moment("scheduled_time"),
    )


def _rows(text: str, source: str, needed: Sequence[str]) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = reader.fieldnames or ()
        for column in needed:
            if column not in columns:
                raise InputError(f"no column {column}", source=source, line=1)
        for fields in reader:
            yield _Row(fields, source, reader.line_num)
    except csv.Error as problem:
        raise InputError(str(problem), source=source, line=reader.line_num) from None
