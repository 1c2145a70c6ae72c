"""Traces: a list of nodes and a list of pods, read from CSV files as columns.

The columns are those of the published `openb` traces, others are passed over; a file may be
gzipped. Models become bits, and what a pod allows becomes a mask of them. Contract: rows are in the
order of names, and every pod is one that the rules of the study know; others are refused here, with
their line.
"""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from podium.api.errors import InputError
from podium.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.gpu.columns import Ints
from podium.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS, WHOLE

MAX_DEVICES: Final = 16
MAX_AMOUNT: Final = 2**31 - 1
"""Amounts are 32 bits wide on GPUs."""


@dataclass(frozen=True, slots=True)
class Nodes:
    names: tuple[str, ...]
    cpu_milli: Ints
    memory_mib: Ints
    gpus: Ints
    model_bit: Ints
    models: tuple[str, ...]

    @property
    def gpu_milli(self) -> int:
        """The capacity that everything is a percentage of."""
        return WHOLE * int(self.gpus.sum())

    @property
    def capacity(self) -> dict[int, int]:
        """Devices by the bit of their model."""
        bits = self.model_bit.tolist()
        return {bit: int(self.gpus[self.model_bit == bit].sum()) for bit in sorted(set(bits))}

    def mask(self, spec: str) -> int:
        """The models that a pod's `gpu_spec` allows; a name that no node has allows nothing."""
        allowed = [name for name in spec.split("|") if name]
        if not allowed:
            return ANY_MODEL
        return sum(1 << self.models.index(name) for name in set(allowed) & set(self.models))


@dataclass(frozen=True, slots=True)
class Pods:
    names: tuple[str, ...]
    cpu_milli: Ints
    memory_mib: Ints
    gpus: Ints
    gpu_milli: Ints
    """Thousandths of each device."""
    specs: tuple[str, ...]

    @property
    def demand_milli(self) -> Ints:
        """Of all devices together."""
        return self.gpus * self.gpu_milli


@dataclass(frozen=True, eq=False)
class Trace:
    """Compared by identity: what follows from a trace is worked out once for each."""

    name: str
    nodes: Nodes
    pods: Pods


NodeRow = tuple[str, int, int, int, str]
"""Name, CPU in milli, memory in MiB, devices, model."""
PodRow = tuple[str, int, int, int, int, str]
"""Name, CPU in milli, memory in MiB, devices, thousandths of each, allowed models."""


def read_nodes(path: Path) -> Nodes:
    return node_columns(
        [
            (
                row.text("sn"),
                row.amount("cpu_milli"),
                row.amount("memory_mib"),
                row.amount("gpu", MAX_DEVICES),
                row.text("model", ""),
            )
            for row in _rows(path, ("sn", "cpu_milli", "memory_mib", "gpu"))
        ],
        path,
    )


def node_columns(unordered: Iterable[NodeRow], path: Path) -> Nodes:
    rows = sorted(unordered)
    if not any(row[3] for row in rows):
        raise InputError("no node has a GPU", source=str(path))
    models = tuple(sorted({row[4] for row in rows} - {""}))
    if len(models) > MAX_MODELS:
        raise InputError(f"more than {MAX_MODELS} models", source=str(path))
    bits = {model: 1 << number for number, model in enumerate(models)} | {"": 1 << MAX_MODELS}
    return Nodes(
        tuple(row[0] for row in rows),
        _column(row[1] for row in rows),
        _column(row[2] for row in rows),
        _column(row[3] for row in rows),
        _column(bits[row[4]] for row in rows),
        models,
    )


def read_pods(path: Path) -> Pods:
    rows = _rows(path, ("name", "cpu_milli", "num_gpu", "gpu_milli"))
    return pod_columns([_pod(row) for row in rows], path)


def pod_columns(unordered: Iterable[PodRow], path: Path) -> Pods:
    rows = sorted(unordered)
    if not rows:
        raise InputError("no pods", source=str(path))
    return Pods(
        tuple(row[0] for row in rows),
        _column(row[1] for row in rows),
        _column(row[2] for row in rows),
        _column(row[3] for row in rows),
        _column(row[4] for row in rows),
        tuple(row[5] for row in rows),
    )


class _Row:
    """A line of a CSV file, whose mistakes are told with their place."""

    def __init__(self, fields: dict[str, str | None], path: Path, line: int) -> None:
        self._fields = fields
        self._path = path
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

    def error(self, column: str, problem: str) -> InputError:
        return InputError(problem, source=str(self._path), line=self._line, path=column)


def _pod(row: _Row) -> PodRow:
    gpus = row.amount("num_gpu", MAX_DEVICES)
    milli = min(row.amount("gpu_milli"), WHOLE) if gpus else 0
    if gpus and not milli:
        raise row.error("gpu_milli", "a pod with GPUs asks for none of each")
    if gpus > 1 and milli < WHOLE:
        raise row.error("gpu_milli", f"parts of several GPUs: {gpus} x {milli}; only whole ones")
    spec = "|".join(name for name in row.text("gpu_spec", "").split("|") if name) if gpus else ""
    cpu, memory = row.amount("cpu_milli"), row.amount("memory_mib", default="0")
    return (row.text("name"), cpu, memory, gpus, milli, spec)


def _rows(path: Path, needed: Sequence[str]) -> Iterator[_Row]:
    text = _decompress(path, read_input(str(path), MAX_CLUSTER_BYTES))
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = reader.fieldnames or ()
        for column in needed:
            if column not in columns:
                raise InputError(f"no column {column}", source=str(path), line=1)
        for fields in reader:
            yield _Row(fields, path, reader.line_num)
    except csv.Error as problem:
        raise InputError(str(problem), source=str(path), line=reader.line_num) from None


def _decompress(path: Path, data: bytes) -> str:
    try:
        if data[:2] == b"\x1f\x8b":
            with gzip.open(io.BytesIO(data)) as file:
                data = file.read(MAX_CLUSTER_BYTES + 1)
        if len(data) > MAX_CLUSTER_BYTES:
            raise InputError("too large when decompressed", source=str(path))
        return data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None


def _column(values: Iterator[int]) -> Ints:
    return np.fromiter(values, np.int64)
