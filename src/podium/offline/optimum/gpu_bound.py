"""How much of a cluster's GPUs pods can have at most, however cleverly they are placed.

A linear program over groups of equal nodes and kinds of equal pods, without whole numbers: pods may
be cut up and spread over the nodes of a group, which no policy can do, so no policy has more. What
cutting up hides is partly brought back by dual feasible functions: where parts above a half, a
third and so on share a device, a node or its CPU, only so many fit, and rows say so
(`f(x) = floor((k + 1) x) / k`, or x where (k + 1) x is whole; parts that fit together never add up
to more than 1).

Worked example: shares of 0.6 on one device. Sums allow 1.66 of them; with k = 1 each counts as
floor(1.2) / 1 = 1, so one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from podium.offline.optimum.integer_program import IntegerProgram, Objective

WHOLE_MILLI: Final = 1000
_DUAL_DEPTH: Final = 5
"""Parts up to a sixth are told from smaller ones."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """So many nodes that are alike; `model` is one bit."""

    count: int
    cpu_milli: int
    gpus: int
    model: int


@dataclass(frozen=True, slots=True)
class GPUPodKind:
    """So many pods that are alike; `models` are the bits of those that they allow."""

    count: int
    cpu_milli: int
    gpus: int
    gpu_milli: int
    """Of each device, in thousandths."""
    models: int

    @property
    def demand_milli(self) -> int:
        return self.gpus * self.gpu_milli


def bound_allocation(
    groups: Sequence[NodeGroup], kinds: Sequence[GPUPodKind], time_limit_s: float = 30.0
) -> float:
    """The most thousandths of devices that pods can hold. Raises InputError without a solver."""
    program = IntegerProgram()
    wanted = [kind for kind in kinds if kind.demand_milli and kind.count]
    placed: dict[tuple[int, int], int] = {}
    for number, kind in enumerate(wanted):
        for at, group in enumerate(groups):
            if _fits(group, kind):
                placed[number, at] = program.add_variable(kind.count, whole=False)
        everywhere = {var: 1.0 for (number_, _), var in placed.items() if number_ == number}
        if everywhere:
            program.add_row(everywhere, at_most=kind.count)
    for at, group in enumerate(groups):
        here = [(wanted[number], var) for (number, where), var in placed.items() if where == at]
        _add_capacity(program, group, here)
    demand = {var: float(wanted[number].demand_milli) for (number, _), var in placed.items()}
    solution = program.solve([Objective("allocation", demand)], time_limit_s)
    everything = float(sum(kind.count * kind.demand_milli for kind in wanted))
    return min(solution.stages[0].bound if solution.stages else everything, everything)


def _fits(group: NodeGroup, kind: GPUPodKind) -> bool:
    return (
        kind.cpu_milli <= group.cpu_milli
        and kind.gpus <= group.gpus
        and bool(kind.models & group.model)
    )


def _add_capacity(
    program: IntegerProgram, group: NodeGroup, here: Sequence[tuple[GPUPodKind, int]]
) -> None:
    if not here:
        return
    devices = group.gpus

    def of_device(kind: GPUPodKind) -> Fraction:
        return Fraction(kind.gpu_milli, WHOLE_MILLI)

    def of_node(kind: GPUPodKind) -> Fraction:
        return Fraction(kind.demand_milli, WHOLE_MILLI * devices)

    def of_cpu(kind: GPUPodKind) -> Fraction:
        return Fraction(kind.cpu_milli, max(group.cpu_milli, 1))

    for part, bins, times in (
        (of_device, group.count * devices, lambda kind: kind.gpus),
        (of_node, group.count, lambda _: 1),
        (of_cpu, group.count, lambda _: 1),
    ):
        _add_duals(program, here, part, bins, times)


def _add_duals(
    program: IntegerProgram,
    here: Iterable[tuple[GPUPodKind, int]],
    part: Callable[[GPUPodKind], Fraction],
    bins: int,
    times: Callable[[GPUPodKind], int],
) -> None:
    """Rows for parts of so many equal bins; a pod has `times` parts of different bins."""
    pods = [(part(kind), times(kind), var) for kind, var in here]
    seen: set[tuple[float, ...]] = set()
    for depth in range(_DUAL_DEPTH + 1):
        weights = tuple(float(_dual(size, depth)) * count for size, count, _ in pods)
        if weights not in seen:
            seen.add(weights)
            row = {var: weight for (_, _, var), weight in zip(pods, weights, strict=True) if weight}
            if row:
                program.add_row(row, at_most=bins)


def _dual(part: Fraction, depth: int) -> Fraction:
    """The part itself with depth 0."""
    scaled = (depth + 1) * part
    if depth == 0 or scaled.denominator == 1:
        return part
    return Fraction(scaled.numerator // scaled.denominator, depth)
