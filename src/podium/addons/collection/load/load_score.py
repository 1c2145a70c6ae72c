"""What the load-aware scorers have in common: loads, and figures about pods, as columns.

Measured loads as columns over the nodes, in percent of capacity. Made anew when the source has
another answer or nodes come and go; a node whose object changed has its row brought up to date,
since its capacity may be another.

Figures about the pods on each node, as columns that follow pods as they come and go. A figure is
worked out of the pods of one row; only rows whose pods changed are looked at again. An imagined
cluster (`Usage.fork`) is asked row by row, since its pods are nobody else's.

What a pod asks for and may use at most, as Trimaran adds it up. upstream: containers are summed, a
single init container counts if it is larger, overhead is added; sidecars and pod-level resources
are not looked at. Limits are never less than requests.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from podium.addons.collection.load.load_source import LoadArgs, Loads, NodeLoad, load_source
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.quantity import milli_value, value
from podium.plugin import (
    Cycle,
    Floats,
    Handle,
    Ints,
    NodeTable,
    PodInfo,
    PodShape,
    Rows,
    ScorePlugin,
    SourceColumn,
    Usage,
    ValueSource,
    count_of,
    indices,
)

_UNKNOWN = NodeLoad()
_CPU, _CPU_CAPACITY = 0, 4


class LoadRows(NamedTuple):
    """Of some rows; NaN where nothing was measured."""

    cpu: Floats
    cpu_deviation: Floats
    memory: Floats
    memory_deviation: Floats
    cpu_capacity_milli: Floats


class LoadColumns:
    def __init__(self) -> None:
        self._columns: Floats = np.zeros((5, 0))
        self._moment: tuple[object, ...] = ()
        self._generation = 0

    def of(self, column: SourceColumn, nodes: NodeTable, rows: Rows) -> LoadRows:
        self._follow(column, nodes)
        return LoadRows(*self._columns[:, rows])

    def of_row(self, column: SourceColumn, nodes: NodeTable, row: int) -> tuple[float, float]:
        """(cpu in percent, cpu capacity in milli-cores) of one node."""
        self._follow(column, nodes)
        item = self._columns.item
        return item(_CPU, row), item(_CPU_CAPACITY, row)

    def _follow(self, column: SourceColumn, nodes: NodeTable) -> None:
        loads = column.value
        known = loads if isinstance(loads, Loads) else Loads({}, 0.0)
        moment = (column.version, nodes.membership, nodes.size)
        if moment != self._moment:
            self._columns = np.empty((5, nodes.size))
            self._update(range(nodes.size), known, nodes)
            self._moment = moment
        elif self._generation != nodes.generation:
            self._update(nodes.changed_since(self._generation).tolist(), known, nodes)
        self._generation = nodes.generation

    def _update(self, rows: "list[int] | range", loads: Loads, nodes: NodeTable) -> None:
        for row in rows:
            load = loads.nodes.get(nodes.names[row], _UNKNOWN)
            cpu_milli, memory_bytes = _capacity(nodes, row)
            if not loads.in_percent:
                cpu = 100 * load.cpu / cpu_milli if cpu_milli else np.nan
                memory = 100 * load.memory / memory_bytes if memory_bytes else np.nan
                load = load._replace(cpu=cpu, memory=memory)
            self._columns[:, row] = (*load, cpu_milli)


def _capacity(nodes: NodeTable, row: int) -> tuple[int, int]:
    """(cpu milli, memory bytes); allocatable where a node does not tell its capacity."""
    node = nodes.objects[row]
    if node is None:
        return 0, 0
    amounts = node.status.capacity or node.status.allocatable or {}
    return milli_value(amounts.get("cpu", 0)), value(amounts.get("memory", 0))


MAX_SCORE: Final = 100


class LoadScorePlugin(ScorePlugin):
    """A node without measurements scores 0, so that without any all nodes are equal."""

    in_range = True

    def __init__(self, args: LoadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._source = load_source(args, handle.client_settings)
        self._loads = LoadColumns()

    def sources(self) -> Sequence[ValueSource]:
        return [self._source]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        raise NotImplementedError

    @property
    def column(self) -> SourceColumn:
        return self.handle.sources.column(self._source.name)

    def loads(self, cycle: Cycle, rows: Rows) -> LoadRows:
        return self._loads.of(self.column, cycle.nodes, rows)


def round_scores(scores: Floats) -> Ints:
    """Half away from zero, as Go rounds; 0 for what is not known."""
    known = np.nan_to_num(scores, nan=0.0)
    return np.floor(np.clip(known, 0, MAX_SCORE) + 0.5).astype(np.int64)


Figures = Sequence[float]


class PodColumns:
    def __init__(
        self,
        usage: Callable[[], Usage],
        width: int,
        figures: Callable[[Sequence[PodInfo]], Figures],
    ) -> None:
        """`usage` is that of the cluster itself; `figures` are as many as `width`, all of them 0
        for no pods."""
        self._usage = usage
        self._figures = figures
        self._width = width
        self._columns: Floats = np.zeros((width, 0))
        self._generation = 0

    def of(self, usage: Usage, rows: Rows) -> Floats:
        """`width` lines of as many figures as there are rows."""
        if usage is not self._usage():
            return self._made(usage, rows)
        usage.grow()
        if self._columns.shape[1] < usage.capacity:
            grown = np.zeros((self._width, usage.capacity))
            grown[:, : self._columns.shape[1]] = self._columns
            self._columns = grown
        self._follow(usage)
        return self._columns[:, rows]

    def _follow(self, usage: Usage) -> None:
        if usage.generation == self._generation:
            return
        changed: Iterable[int] | None = usage.log.since(self._generation)
        if changed is None:
            changed = np.flatnonzero(usage.changed > self._generation).tolist()
        for row in set(changed):
            self._columns[:, row] = self._figures(usage.pods(row))
        self._generation = usage.generation

    def _made(self, usage: Usage, rows: Rows) -> Floats:
        made = np.zeros((self._width, count_of(rows)))
        for position, row in enumerate(indices(rows).tolist()):
            made[:, position] = self._figures(usage.pods(row))
        return made


class EffectiveResources(NamedTuple):
    cpu_request_milli: int
    cpu_limit_milli: int
    memory_request_bytes: int
    memory_limit_bytes: int

    @property
    def is_best_effort(self) -> bool:
        return not any(self)


_known: WeakKeyDictionary[PodShape, EffectiveResources] = WeakKeyDictionary()


def effective_resources(shape: PodShape) -> EffectiveResources:
    """Worked out once for all pods of a shape."""
    found = _known.get(shape)
    if found is None:
        found = _known[shape] = _effective(shape.first)
    return found


def _effective(pod: Pod) -> EffectiveResources:
    requests = _amounts(pod, "requests")
    limits = _amounts(pod, "limits")
    return EffectiveResources(
        requests[0], max(limits[0], requests[0]), requests[1], max(limits[1], requests[1])
    )


def _amounts(pod: Pod, kind: str) -> tuple[int, int]:
    spec = pod.spec
    running = [_amount(getattr(c.resources, kind, None)) for c in spec.containers or ()]
    starting = [_amount(getattr(c.resources, kind, None)) for c in spec.init_containers or ()]
    overhead = _amount(spec.overhead)
    cpu, memory = (
        max(sum(each[at] for each in running), *(each[at] for each in starting), 0) + overhead[at]
        for at in (0, 1)
    )
    return cpu, memory


def _amount(resources: ResourceList | None) -> tuple[int, int]:
    known = resources or {}
    return milli_value(known.get("cpu", 0)), value(known.get("memory", 0))
