"""Traces: lists of nodes and pods as columns, from CSV files or from what kubectl prints.

The files are those of the published `openb` traces (`addons/gpu/packing/openb_rows.py`), gzipped or
not. Models become bits, and what a pod allows becomes a mask of them. Contract: rows are in the
order of names.

Traces also come from what `kubectl get -o json` or `-o yaml` prints: nodes and pods of a cluster.
Cards and what pods ask for are read by the dialect that most nodes speak; where none speaks one,
`nvidia.com/gpu` are whole cards. Traces know one size of card: shares of memory are parts of the
most frequent size. Left out are other kinds of objects, and pods that belong to one node.
"""

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.addons.gpu.packing.card_columns import CardSize, card_need
from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS, WHOLE
from podium.addons.gpu.packing.openb_rows import (
    MAX_DEVICES,
    NodeRow,
    PodRow,
    read_node_rows,
    read_pod_rows,
)
from podium.golang.documents import expand_lists, read_documents
from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import UnknownKind, decode_document
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.requests import (
    ALL_REQUESTS,
    allocatable_vector,
    pod_requests,
    to_vector,
)
from podium.net.files.bounded_files import MAGIC, MAX_CLUSTER_BYTES, read_input, unpack_gzip


@dataclass(frozen=True, slots=True)
class TraceNodes:
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
    nodes: TraceNodes
    pods: Pods


def read_nodes(path: Path) -> TraceNodes:
    return node_columns(read_node_rows(_read_text(path), str(path)), path)


def node_columns(unordered: Iterable[NodeRow], path: Path) -> TraceNodes:
    rows = sorted(unordered)
    if not any(row.gpus for row in rows):
        raise InputError("no node has a GPU", source=str(path))
    models = tuple(sorted({row.model for row in rows} - {""}))
    if len(models) > MAX_MODELS:
        raise InputError(f"more than {MAX_MODELS} models", source=str(path))
    bits = {model: 1 << number for number, model in enumerate(models)} | {"": 1 << MAX_MODELS}
    return TraceNodes(
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


def read_trace(name: str, nodes: Path, pods: Path) -> Trace:
    kinds = {is_cluster_file(nodes), is_cluster_file(pods)}
    if kinds == {True}:
        return Trace(name, *read_cluster(nodes, pods))
    if kinds == {True, False}:
        raise InputError(
            f"{nodes} and {pods} are of different kinds",
            remedy=f"both as CSV, or both as Kubernetes objects ({', '.join(SUFFIXES)})",
        )
    return Trace(name, read_nodes(nodes), read_pods(pods))


SUFFIXES: Final = (".json", ".yaml", ".yml")
WHOLE_CARDS: Final = "nvidia.com/gpu"
MODEL_LABEL: Final = "nvidia.com/gpu.product"
_MIB: Final = 1024**2


def is_cluster_file(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(SUFFIXES)


def read_cluster(nodes_file: Path, pods_file: Path) -> tuple[TraceNodes, Pods]:
    nodes = [each for each in _objects(nodes_file) if isinstance(each, Node)]
    pods = [each for each in _objects(pods_file) if isinstance(each, Pod)]
    spoken = find_spoken_dialects(nodes)
    dialect = find_dialect(next(iter(spoken))) if spoken else None
    cards = {node.metadata.name: _cards(node, dialect) for node in nodes}
    for name, some in cards.items():
        if len(some) > MAX_DEVICES:
            told = f"node {name}: {len(some)} GPUs are more than {MAX_DEVICES}"
            raise InputError(told, source=str(nodes_file))
    reader = _PodReader(dialect, cards, str(pods_file))
    staying = (pod for pod in pods if not (is_daemon(pod) or is_bound_to_node(pod)))
    return (
        node_columns([_node_row(node, cards[node.metadata.name]) for node in nodes], nodes_file),
        pod_columns([reader.row(pod) for pod in staying], pods_file),
    )


def _objects(path: Path) -> Iterator[object]:
    data = read_input(str(path), MAX_CLUSTER_BYTES)
    if data.startswith(MAGIC):
        data = unpack_gzip(data, MAX_CLUSTER_BYTES, str(path))
    for document in expand_lists(read_documents(data, str(path))):
        try:
            yield decode_document(document, strict=False)
        except UnknownKind:
            continue


def _cards(node: Node, dialect: Dialect | None) -> tuple[Card, ...]:
    if dialect is not None:
        return dialect.node_cards(node, -inf).cards
    count = allocatable_vector(node.status.allocatable).get(WHOLE_CARDS, 0)
    model = (node.metadata.labels or {}).get(MODEL_LABEL, "")
    return tuple(Card(index, model=model) for index in range(min(count, MAX_DEVICES + 1)))


def _node_row(node: Node, cards: tuple[Card, ...]) -> NodeRow:
    room = allocatable_vector(node.status.allocatable)
    model = _model_name(cards[0].model) if cards else ""
    cpu, memory = room.get("cpu", 0), room.get("memory", 0)
    return NodeRow(node.metadata.name, cpu, memory // _MIB, len(cards), model)


class _Asked(NamedTuple):
    cards: int
    milli: int
    spec: str


class _PodReader:
    def __init__(
        self, dialect: Dialect | None, cards: dict[str, tuple[Card, ...]], source: str
    ) -> None:
        self._dialect = dialect
        self._source = source
        self._table = CardTable()
        sizes: Counter[CardSize] = Counter()
        for row, some in enumerate(cards.values()):
            self._table.put_node(row, NodeCards(some))
            sizes.update(CardSize(card.cores, card.memory) for card in some)
        self._size = sizes.most_common(1)[0][0] if sizes else CardSize(0, 0)

    def row(self, pod: Pod) -> PodRow:
        asked = to_vector(pod_requests(pod, status_resources=False, rules=ALL_REQUESTS))
        memory = -(-asked.get("memory", 0) // _MIB)
        cards, milli, spec = self._read_demand(pod, asked.get(WHOLE_CARDS, 0))
        if cards > 1 and milli < WHOLE:
            raise self._error(pod, f"parts of several GPUs: {cards} x {milli}; only whole ones")
        if cards > MAX_DEVICES:
            raise self._error(pod, f"{cards} GPUs are more than {MAX_DEVICES}")
        name = "/".join(pod.metadata.key)
        return PodRow(name, asked.get("cpu", 0), memory, cards, milli, spec)

    def _read_demand(self, pod: Pod, whole_cards: int) -> _Asked:
        if self._dialect is None:
            return _Asked(whole_cards, WHOLE if whole_cards else 0, "")
        try:
            need = card_need(self._dialect.pod_request(pod))
        except InvalidRequest as problem:
            raise self._error(pod, str(problem)) from None
        matching = self._table.matching_kinds(need.selector)
        models = sorted(
            {
                _model_name(model)
                for number, (model, _mode) in enumerate(self._table.kinds)
                if matching is not None and matching[number]
            }
        )
        # A name that no node has allows nothing, as does one of a model that is not there.
        spec = "" if matching is None else "|".join(models) or "none"
        return _Asked(need.cards, need.milli(self._size), spec if need.cards else "")

    def _error(self, pod: Pod, problem: str) -> InputError:
        return InputError(f"pod {'/'.join(pod.metadata.key)}: {problem}", source=self._source)


def _model_name(model: str) -> str:
    """Bars stand between the models that a pod allows."""
    return model.replace("|", " ")
