"""Traces: a list of nodes and a list of pods, read from CSV files as columns.

The files are those of the published `openb` traces (`addons/gpu/packing/openb_rows.py`), gzipped or
not. Models become bits, and what a pod allows becomes a mask of them. Contract: rows are in the
order of names.
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS, WHOLE
from podium.addons.gpu.packing.openb_rows import NodeRow, PodRow, read_node_rows, read_pod_rows
from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input


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


def read_nodes(path: Path) -> Nodes:
    return node_columns(read_node_rows(_read_text(path), str(path)), path)


def node_columns(unordered: Iterable[NodeRow], path: Path) -> Nodes:
    rows = sorted(unordered)
    if not any(row.gpus for row in rows):
        raise InputError("no node has a GPU", source=str(path))
    models = tuple(sorted({row.model for row in rows} - {""}))
    if len(models) > MAX_MODELS:
        raise InputError(f"more than {MAX_MODELS} models", source=str(path))
    bits = {model: 1 << number for number, model in enumerate(models)} | {"": 1 << MAX_MODELS}
    return Nodes(
        tuple(row.name for row in rows),
        _column(row.cpu_milli for row in rows),
        _column(row.memory_mib for row in rows),
        _column(row.gpus for row in rows),
        _column(bits[row.model] for row in rows),
        models,
    )


def read_pods(path: Path) -> Pods:
    return pod_columns(read_pod_rows(_read_text(path), str(path)), path)


def pod_columns(unordered: Iterable[PodRow], path: Path) -> Pods:
    rows = sorted(unordered, key=_without_times)
    if not rows:
        raise InputError("no pods", source=str(path))
    return Pods(
        tuple(row.name for row in rows),
        _column(row.cpu_milli for row in rows),
        _column(row.memory_mib for row in rows),
        _column(row.gpus for row in rows),
        _column(row.gpu_milli for row in rows),
        tuple(row.spec for row in rows),
    )


def _without_times(row: PodRow) -> tuple[str, int, int, int, int, str]:
    return (row.name, row.cpu_milli, row.memory_mib, row.gpus, row.gpu_milli, row.spec)


def _read_text(path: Path) -> str:
    data = read_input(str(path), MAX_CLUSTER_BYTES)
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
