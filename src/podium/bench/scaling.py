"""How cost grows: one quantity after the other is varied while all else stays as it is.

The cost of a pod is CPU time, the best of some runs in processes of their own: it adds up where a
rate does not, and it minds other programs on the machine less than the wall clock does. The result
is a block of Markdown with the tables and with what has to be known to read them.
"""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from podium.bench.cases import CASES
from podium.bench.child import Order
from podium.bench.results import Figures, Result
from podium.bench.templates import BenchmarkPlan
from podium.golang.errors import InputError

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
NODES = 5000
PODS = 2000

Measure = Callable[[Order], Figures]


@dataclass(frozen=True, slots=True)
class Axis:
    """A quantity, the values it takes, and the workloads that are measured at each."""

    title: str
    quantity: str
    values: tuple[int, ...]
    cases: tuple[str, ...]
    about: str
    pods_per_node: tuple[int, ...] = ()
    """How full the cluster is at each value, where that is not up to the case."""

    @property
    def name(self) -> str:
        return "clusters" if self.pods_per_node else self.quantity

    def plan(self, case: str, value: int) -> BenchmarkPlan:
        nodes = value if self.quantity == "nodes" else NODES
        plan = replace(CASES[case].plan(nodes), pods=min(PODS, CASES[case].plan(nodes).pods))
        if self.pods_per_node:
            return replace(plan, init=nodes * self.pods_per_node[self.values.index(value)])
        return plan if self.quantity == "nodes" else replace(plan, **{self.quantity: value})

    def up_to(self, most: int) -> "Axis":
        """The same with fewer values, of which the first always stays."""
        return replace(self, values=tuple(v for v in self.values if v <= most) or self.values[:1])


AXES = (
    Axis(
        "Nodes",
        "nodes",
        (500, 1000, 5000, 15_000, 50_000, 100_000),
        ("SchedulingBasic", "TopologySpreading", "SchedulingPodAntiAffinity", "ManySignatures"),
        "Every node is filtered and scored for every pod.",
    ),
    Axis(
        "Pods on nodes",
        "init",
        (0, 5000, 20_000, 100_000),
        ("SchedulingBasic", "SchedulingPodAffinity", "SchedulingPreferredPodAntiAffinity"),
        f"{NODES:,} nodes. The pods that are there before have the same rules as those measured.",
    ),
    Axis(
        "Signatures",
        "signatures",
        (1, 10, 100, 1000),
        ("ManySignatures",),
        f"{NODES:,} nodes. So many different kinds of pods come in turn, {PODS:,} pods in all, the"
        " first of each kind included.",
    ),
    Axis(
        "Selectors",
        "selectors",
        (1, 10, 100, 1000),
        ("ManySelectors",),
        f"{NODES:,} nodes in three zones. Pods of so many applications, each spread by its own"
        f" selector, come in turn, {PODS:,} pods in all, the first of each application included.",
    ),
    Axis(
        "Domains",
        "domains",
        (3, 30, 300, 3000),
        ("ManyDomains",),
        f"{NODES:,} nodes in so many racks, over which one application is spread.",
    ),
    Axis(
        "Whole clusters",
        "nodes",
        (1000, 5000, 15_000, 100_000),
        ("FullCluster",),
        "Nodes that are full of running pods (20 on a node; at 100,000 nodes 10), read from JSON"
        " of about 4 KB a pod as an API server lists them. Taking in is CPU time from the first"
        " byte to the last column, the making of the JSON included.",
        pods_per_node=(20, 20, 20, 10),
    ),
)


@dataclass(frozen=True, slots=True)
class Point:
    """What was found at one value of an axis, by case."""

    value: int
    results: dict[str, Result]


def orders_of(axes: Sequence[Axis]) -> int:
    """How many measurements the axes take, each once."""
    return sum(len(axis.values) * len(axis.cases) for axis in axes)


def measure_axis(axis: Axis, measure: Measure, repeat: int) -> list[Point]:
    points = []
    for value in axis.values:
        found = {}
        for case in axis.cases:
            order = Order(case=case, plan=axis.plan(case, value))
            runs = tuple(measure(order) for _ in range(repeat))
            found[case] = Result(workload=case, case=case, runs=runs)
        points.append(Point(value, found))
    return points


def format_markdown(axes: Sequence[tuple[Axis, Sequence[Point]]], repeat: int) -> str:
    """Tables of all axes, with the circumstances in front."""
    runs = [run for _, points in axes for p in points for r in p.results.values() for run in r.runs]
    return "\n".join((*_circumstances(runs, repeat), *_tables(axes)))


def _circumstances(runs: Sequence[Figures], repeat: int) -> Iterator[str]:
    loads = [run.load for run in runs]
    yield (
        f"Measured on {os.cpu_count()} processors ({platform.machine()}, {platform.system()}),"
        f" Python {platform.python_version()}, numpy {np.__version__}, with a one-minute load"
        f" between {min(loads)} and {max(loads)} (the measurement itself makes 1.0 of it)."
        f" Best of {repeat} runs; in brackets, how far the slowest stayed behind."
    )


def _tables(axes: Sequence[tuple[Axis, Sequence[Point]]]) -> Iterator[str]:
    for axis, points in axes:
        yield f"\n### {axis.title}\n\n{axis.about}\n"
        heads = [f"{case}, µs a pod" for case in axis.cases]
        if axis.pods_per_node:
            heads = ["pods on nodes", "taken in, s", *heads]
        yield f"| {axis.title} | {' | '.join(heads)} | peak memory, MB |"
        yield "|" + "---:|" * (len(heads) + 2)
        for point in points:
            cells = [cost(point.results[case]) for case in axis.cases]
            if axis.pods_per_node:
                cells = [*_taken_in(point.results[axis.cases[0]]), *cells]
            memory = max(run.peak_rss_mb for r in point.results.values() for run in r.runs)
            yield f"| {point.value:,} | {' | '.join(cells)} | {memory:,.0f} |"


def _taken_in(result: Result) -> tuple[str, str]:
    """How many pods were there, and how long it took to take them in."""
    return f"{result.best.init:,}", f"{min(run.load_cpu_seconds for run in result.runs):,.1f}"


def cost(result: Result) -> str:
    """CPU time of a pod in microseconds with the spread of the runs: `212 (9 %)`."""
    costs = sorted(1e6 * run.cpu_seconds / run.pods for run in result.runs)
    behind = 100 * (costs[-1] - costs[0]) / costs[0] if costs[0] else 0.0
    return f"{costs[0]:,.0f} ({behind:.0f} %)"


def with_block(text: str, block: str, source: str) -> str:
    """A document with the measured block in the place that is marked for it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(
            "has no place for measured tables",
            source=source,
            remedy=f"put the lines {BEGIN} and {END} where they belong",
        )
    return f"{before}{BEGIN}\n\n{block}\n\n{END}{after}"
