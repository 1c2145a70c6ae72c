"""How good is greedy: the pending pods placed as well as they can be, beside the scheduler's way.

The scheduler places one pod after the other and never thinks back. Here all of them are placed at
once by an integer program whose rows are the answers of the scheduler's own filters
(`placement_reading.py`), and the placement found is put through these filters pod by pod
(`forced_placement.py`). What the program leaves out makes its bound too good, never too bad; a
placement that fails the check is forbidden and another one is looked for. Nobody is evicted.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Final, Literal, cast

from podium.golang.document_structs import PodOnNode
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.requests import unit_of
from podium.offline.optimum.integer_program import Objective, ObjectiveStage, Solution
from podium.offline.optimum.placement_problem import Assignment
from podium.offline.optimum.placement_program import PlacementProgram
from podium.offline.simulate.report import PodOutcome, SimulationReport
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.forced_placement import ForcedPlacement, OrderFound
from podium.offline.what_if.optimum_answer import (
    DifferentPod,
    MeasuredGap,
    OptimumAnswer,
    OptimumPods,
    ResourceGap,
    gap_between,
    is_best,
)
from podium.offline.what_if.optimum_objectives import Measure, ObjectiveName, measures_of
from podium.offline.what_if.placement_reading import StatedProblem, state_problem
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine

DEFAULT_TIME_LIMIT_S: Final = 30.0
MAX_REPAIRS: Final = 50
MAX_REPAIRED_PLACES: Final = 2_000
"""A placement of more kinds and nodes than this is not looked for again once it is refused."""
_TRIED: Final = (PodOutcome.PLACED, PodOutcome.UNSCHEDULABLE, PodOutcome.PREEMPTED)
_SLACK: Final = 1e-6
_AGREEMENT: Final = "pods as the scheduler has them"


@dataclass(frozen=True, slots=True)
class OptimumQuestion:
    objective: str = "pods"
    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    prices: Mapping[str, Fraction] | None = None


def find_optimum(
    engine: Engine, report: SimulationReport, question: OptimumQuestion
) -> OptimumAnswer:
    """`engine` has the cluster without the pods of the report, which the scheduler has tried.
    Raises InputError."""
    search = _Search(engine, report, question)
    return search.answer()


class _Search:
    def __init__(self, engine: Engine, report: SimulationReport, question: OptimumQuestion) -> None:
        self._report = report
        self._question = question
        tried = [result for result in report.pods if result.outcome in _TRIED]
        self._stated = state_problem(engine, [result.pod for result in tried])
        self._problem = self._stated.problem
        self._scheduled = {result.key: result.node for result in tried if result.placed}
        self._left_out = [
            f"{result.key}: {result.outcome.value}"
            for result in report.pods
            if result.outcome not in _TRIED
        ]
        self._measures = measures_of(
            question.objective,
            self._problem,
            engine.cluster,
            question.prices or {},
            _nodes_in_use(engine),
        )
        self._forced = ForcedPlacement(engine, self._problem)
        self._own = _assignment_of(self._stated, self._scheduled)

    def answer(self) -> OptimumAnswer:
        program = PlacementProgram(self._problem)
        objectives = [
            Objective(each.name, each.expression(program), each.is_maximised)
            for each in self._measures
        ]
        objectives.append(self._agreement(program))
        may_start = not self._report.evictions
        start = program.start_from(self._own) if may_start else None
        stages, order, timed_out = self._solve(program, objectives, start)
        best = self._best(order)
        placement = self._place_pods(best)
        measures = self._gaps(stages, program, objectives, Counter(best))
        return OptimumAnswer(
            objective=cast(ObjectiveName, self._question.objective),  # else it was refused
            scheduler_is_best=is_best(measures),
            proven=all(each.proven for each in measures),
            checked=order.is_whole,
            refusal=None if order.is_whole else order.refusal or None,
            time_limit_s=self._question.time_limit_s,
            timed_out=timed_out,
            bound_ignores=(
                *self._stated.ignored,
                *sorted(f"plugin {name} makes pods wait" for name in order.waits),
            ),
            pods=OptimumPods(
                pending=sum(kind.count for kind in self._problem.kinds),
                placed_by_scheduler=len(self._scheduled),
                placed_by_optimum=len(placement),
                evicted_by_scheduler=len(self._report.evictions),
                left_out=tuple(self._left_out),
            ),
            measures=measures,
            resources=self._resources(Counter(best)),
            different=self._different(placement),
            placement=tuple(PodOnNode(pod, node) for pod, node in placement.items()),
        )

    def _solve(
        self,
        program: PlacementProgram,
        objectives: Sequence[Objective],
        start: Mapping[int, float] | None,
    ) -> tuple[Sequence[ObjectiveStage], OrderFound, bool]:
        """Solve, check, and solve again without what was refused; the best stages that hold."""
        stages: Sequence[ObjectiveStage] = ()
        first: OrderFound | None = None
        limit = self._question.time_limit_s
        is_exact = True
        for _ in range(MAX_REPAIRS):
            solution = program.program.solve(objectives, limit, start)
            if is_exact and solution.stages:
                stages = solution.stages
            if solution.values is None:
                return stages, first or OrderFound(), solution.timed_out
            assignment = program.assignment(solution.values)
            order = self._forced.find_order(self._stated.pods, assignment)
            if order.is_whole:
                return stages, order, _is_timed_out(solution, len(self._measures))
            first = first or order
            is_exact = is_exact and order.is_final
            places = sum(len(kind.fits) for kind in self._problem.kinds)
            if places > MAX_REPAIRED_PLACES or solution.timed_out:
                return stages, first, solution.timed_out
            program.forbid(assignment)
            start = None
        return stages, first or OrderFound(), False

    def _agreement(self, program: PlacementProgram) -> Objective:
        """Of equally good placements the one nearest to the scheduler's."""
        expression = {}
        for place, at in program.variables(self._own):
            alike = program.program.add_variable(self._own[place])
            program.program.add_row({alike: 1.0, at: -1.0}, at_most=0)
            expression[alike] = 1.0
        return Objective(_AGREEMENT, expression)

    def _best(self, order: OrderFound) -> list[tuple[int, int]]:
        """The better of what the check let in and of the scheduler's own, as an order."""
        own = list(Counter(self._own).elements())
        if order.is_whole or self._figures(Counter(order.order)) > self._figures(Counter(own)):
            return order.order
        return own

    def _figures(self, assignment: Assignment) -> list[float]:
        """To be compared; more is better."""
        return [
            each.of(assignment) if each.is_maximised else -each.of(assignment)
            for each in self._measures
        ]

    def _gaps(
        self,
        stages: Sequence[ObjectiveStage],
        program: PlacementProgram,
        objectives: Sequence[Objective],
        best: Assignment,
    ) -> tuple[MeasuredGap, ...]:
        found = []
        is_settled = True
        for number, (measure, objective) in enumerate(
            zip(self._measures, objectives, strict=False)
        ):
            value = measure.of(best)
            bound = stages[number].bound if number < len(stages) else _limit(program, objective)
            bound = _tighten_bound(measure, bound)
            is_proven = is_settled and abs(value - bound) <= _SLACK * max(1.0, abs(bound))
            is_settled = is_proven
            own = measure.of(self._own)
            better: Literal["more", "less"] = "more" if measure.is_maximised else "less"
            gap = gap_between(better, own, value)
            found.append(MeasuredGap(measure.name, better, own, value, bound, gap, is_proven))
        return tuple(found)

    def _resources(self, best: Assignment) -> dict[str, ResourceGap]:
        kinds = self._problem.kinds
        names = dict.fromkeys(name for kind in kinds for name in kind.demands)

        def sum_served(assignment: Assignment, name: str) -> int:
            return sum(
                count * kinds[kind].demands.get(name, 0) for (kind, _), count in assignment.items()
            )

        return {
            name: ResourceGap(
                unit_of(name),
                sum(kind.count * kind.demands.get(name, 0) for kind in kinds),
                sum_served(self._own, name),
                sum_served(best, name),
            )
            for name in names
        }

    def _place_pods(self, order: Sequence[tuple[int, int]]) -> dict[str, str]:
        """Which pod takes which place: as many as can keep the node that the scheduler chose."""
        nodes, left = self._problem.nodes, Counter(order)
        position = {name: at for at, name in enumerate(nodes)}
        chosen: dict[tuple[int, int], list[str]] = {}
        others: list[list[str]] = []
        for kind, infos in enumerate(self._stated.pods):
            rest = []
            for info in infos:
                place = (kind, position.get(self._scheduled.get(info.key, ""), -1))
                if left[place] > 0:
                    left[place] -= 1
                    chosen.setdefault(place, []).append(info.key)
                else:
                    rest.append(info.key)
            others.append(rest[::-1])
        placement = {}
        for place in order:
            kind, node = place
            waiting = chosen.get(place)
            key = waiting.pop(0) if waiting else others[kind].pop()
            placement[key] = nodes[node]
        return placement

    def _different(self, placement: Mapping[str, str]) -> tuple[DifferentPod, ...]:
        keys = [info.key for infos in self._stated.pods for info in infos]
        pairs = [(key, self._scheduled.get(key, ""), placement.get(key, "")) for key in keys]
        return tuple(
            DifferentPod(pod, own or None, best or None)
            for pod, own, best in sorted(pairs)
            if own != best
        )


def _assignment_of(stated: StatedProblem, nodes: Mapping[str, str]) -> Assignment:
    position = {name: at for at, name in enumerate(stated.problem.nodes)}
    found: Counter[tuple[int, int]] = Counter()
    for kind, infos in enumerate(stated.pods):
        for info in infos:
            node = nodes.get(info.key, "")
            if node in position:
                found[kind, position[node]] += 1
    return dict(found)


def _nodes_in_use(engine: Engine) -> list[str]:
    """Nodes with pods that do not just belong to them."""
    cluster = engine.cluster
    return [
        cluster.nodes.names[row]
        for row in cluster.node_order().tolist()
        if any(_is_use(info) for info in cluster.usage.pods(row))
    ]


def _is_use(info: PodInfo) -> bool:
    return not (is_daemon(info.pod) or is_bound_to_node(info.pod))


def _is_timed_out(solution: Solution, measures: int) -> bool:
    """The last objective, agreement, need not be settled."""
    stages = solution.stages[:measures]
    return len(stages) < measures or not all(stage.is_proven for stage in stages)


def _limit(program: PlacementProgram, objective: Objective) -> float:
    """What is known without solving."""
    if objective.is_maximised:
        return program.program.highest(objective.expression)
    return 0.0


def _tighten_bound(measure: Measure, bound: float) -> float:
    """Pods and nodes are whole."""
    if not measure.is_whole:
        return bound
    return float(floor(bound + _SLACK) if measure.is_maximised else ceil(bound - _SLACK))


def cluster_without_pending(scenario: Scenario, simulation: Simulation) -> Scenario:
    """The cluster that the scheduler has placed its pods on. Pods that were on their way out and
    have gone meanwhile are gone here too."""
    known = simulation.engine.state.pods
    running = tuple(
        pod
        for pod in scenario.running
        if pod.metadata.deletion_timestamp is None or object_key(pod.metadata) in known
    )
    return dataclasses.replace(scenario, running=running, pending=())
