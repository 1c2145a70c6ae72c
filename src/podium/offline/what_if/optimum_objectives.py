"""What a placement is to be as good as possible at: a list of measures, the first counts most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import fsum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.offline.optimum.integer_program import Expression
    from podium.offline.optimum.placement_problem import Assignment, PlacementProblem
    from podium.offline.optimum.placement_program import PlacementProgram
    from podium.scheduler.cluster.state import Cluster

ObjectiveName = Literal["pods", "priority", "cost", "nodes", "utilisation"]
OBJECTIVES: Final[tuple[str, ...]] = get_args(ObjectiveName)
PLACED: Final = "pods placed"


class Measure(NamedTuple):
    """One figure of a placement, and how a program has it."""

    name: str
    is_maximised: bool
    of: Callable[[Assignment], float]
    expression: Callable[[PlacementProgram], Expression]
    is_whole: bool = False
    """Whether the figure is a count."""


def measures_of(
    objective: str,
    problem: PlacementProblem,
    cluster: Cluster,
    prices: Mapping[str, Fraction],
    in_use: Iterable[str],
) -> list[Measure]:
    """`in_use` are nodes that have pods of their own already. Raises InputError."""
    placed = Measure(PLACED, True, _count, lambda program: program.sum_placed(), is_whole=True)
    match objective:
        case "pods":
            return [placed]
        case "priority":
            return _by_priority(problem) or [placed]
        case "utilisation":
            return [_utilisation(problem, cluster), placed]
        case "nodes":
            weights = dict.fromkeys(range(len(problem.nodes)), Fraction(1))
            return [placed, _nodes("nodes added to use", problem, weights, in_use)]
        case "cost":
            missing = [name for name in problem.nodes if name not in prices]
            if missing:
                raise InputError(
                    f"node {missing[0]} has no price",
                    remedy="annotate nodes with podium.dev/price, or use --price NODES:PRICE",
                )
            weights = {at: prices[name] for at, name in enumerate(problem.nodes)}
            return [placed, _nodes("price of nodes added to use", problem, weights, in_use)]
    raise InputError(f"no objective is named {objective}", remedy=", ".join(OBJECTIVES))


def _count(assignment: Assignment) -> float:
    return float(sum(assignment.values()))


def _by_priority(problem: PlacementProblem) -> list[Measure]:
    levels: dict[int, list[int]] = {}
    for at, kind in enumerate(problem.kinds):
        levels.setdefault(kind.priority, []).append(at)

    def measure(priority: int, kinds: frozenset[int]) -> Measure:
        return Measure(
            f"{PLACED}, priority {priority}",
            True,
            lambda assignment: float(
                sum(count for (kind, _), count in assignment.items() if kind in kinds)
            ),
            lambda program: program.sum_placed(kinds),
            is_whole=True,
        )

    return [measure(each, frozenset(levels[each])) for each in sorted(levels, reverse=True)]


def _utilisation(problem: PlacementProblem, cluster: Cluster) -> Measure:
    """The mean share of CPU and memory of all nodes that the pods take, in percent."""
    from podium.kubernetes.rules.requests import CPU, MEMORY

    nodes = cluster.nodes
    rows = [nodes.row(name) for name in problem.nodes]
    weights: dict[int, float] = {}
    for resource in (CPU, MEMORY):
        whole = int(nodes.allocatable[nodes.resources.find(resource)][rows].sum())
        for at, kind in enumerate(problem.kinds):
            share = 50 * kind.demands.get(resource, 0) / whole if whole else 0.0
            weights[at] = weights.get(at, 0.0) + share
    return Measure(
        "percent of cpu and memory taken",
        True,
        lambda assignment: fsum(weights[kind] * count for (kind, _), count in assignment.items()),
        lambda program: program.sum_weighted(weights),
    )


def _nodes(
    name: str, problem: PlacementProblem, weights: Mapping[int, Fraction], in_use: Iterable[str]
) -> Measure:
    """What nodes weigh that have no pod but those of the problem."""
    taken = set(in_use)
    idle = {at: weights[at] for at, node in enumerate(problem.nodes) if node not in taken}

    def measure(assignment: Assignment) -> float:
        used = {node for (_, node), count in assignment.items() if count}
        return float(sum(idle[node] for node in used if node in idle))

    def express(program: PlacementProgram) -> Expression:
        return {at: float(idle[node]) for node, at in program.indicate_used(idle).items()}

    is_whole = all(weight.denominator == 1 for weight in idle.values())
    return Measure(name, False, measure, express, is_whole)
