"""The fewest moves that reach a goal, found by an integer program over all pods that may move.

Pods that may move are taken out of a cluster of one's own and placed anew, each at its old node if
nothing speaks against that; every other place costs a move. The program knows where pods end up and
not how they get there, so its plans are carried out by the scheduler before anybody sees them
(`rebalance.py`). Contract: rows that pods may break on their way are left out where the
fewest moves are counted, so no plan can do with less.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podium.kubernetes.kinds.pod import Pod
from podium.offline.optimum.integer_program import Objective, Solution
from podium.offline.optimum.placement_problem import Assignment
from podium.offline.optimum.placement_program import PlacementProgram
from podium.offline.simulate.report import PodOutcome
from podium.offline.simulate.run import Simulation
from podium.offline.what_if.consequences import KeptPod
from podium.offline.what_if.placement_reading import StatedProblem, state_problem
from podium.offline.what_if.rebalance_goals import Goal, PlannedGoal
from podium.offline.what_if.usable_nodes import DrainRules, belongs_to_node, usable_nodes
from podium.scheduler.cluster.catalog import object_key


class PlannedMove(NamedTuple):
    pod: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class MovePlan:
    """`emptied` are nodes that are to be closed first; `wanted_by` those that pods which wait are
    to find room on."""

    moves: tuple[PlannedMove, ...]
    emptied: tuple[str, ...]
    wanted_by: tuple[str, ...]
    assignment: Assignment


class MovePlanner:
    def __init__(
        self,
        simulation: Simulation,
        goal: Goal,
        *,
        max_moves: int | None,
        deletes_empty_dirs: bool,
        time_limit_s: float,
    ) -> None:
        """The simulation has been run; all that may move is taken out of it."""
        engine = simulation.engine
        self.usable = usable_nodes(engine)
        self._limit_s = time_limit_s
        self.kept: list[KeptPod] = []
        held: dict[str, list[Pod]] = {}
        rules = DrainRules(simulation.disruptions, deletes_empty_dirs=deletes_empty_dirs)
        names = engine.cluster.nodes.names
        for row in engine.cluster.node_order().tolist():
            for info in sorted(engine.cluster.usage.pods(row), key=lambda info: info.key):
                if belongs_to_node(info.pod):
                    continue
                why = rules.why_kept(info)
                if why:
                    self.kept.append(KeptPod(info.key, names[row], why))
                else:
                    held.setdefault(names[row], []).append(info.pod)
        waiting = _waiting_pods(simulation)
        for pods in held.values():
            for pod in pods:
                simulation.remove_pod(pod)
        self._stated = state_problem(engine, waiting, held)
        self._held = {object_key(pod.metadata): node for node in held for pod in held[node]}
        problem = self._stated.problem
        self._depends_on_order = bool(problem.attractions or problem.spreads)
        self._free = self._program(goal, simulation, max_moves, is_order_free=True)
        self._whole = (
            self._program(goal, simulation, max_moves, is_order_free=False)
            if self._depends_on_order
            else self._free
        )
        self.best: float | None = None
        """What the goal's objective can be at best."""
        self.fewest: int | None = None
        self.timed_out = False

    def plan(self) -> MovePlan | None:
        """The best plan that is not forbidden yet; None if there is none."""
        if self.best is None:
            found = self._solve(self._free)
            if found.stages:
                self.best = found.stages[0].bound
            if len(found.stages) > 1 and found.stages[0].is_proven:
                self.fewest = round(found.stages[1].bound)
            if found.values is None or not self._depends_on_order:
                return self._read(self._free, found)
        for program in (self._whole, self._free):
            found = self._solve(program)
            if found.values is not None:
                return self._read(program, found)
        return None

    def forbid(self, plan: MovePlan) -> None:
        self._whole.program.forbid(plan.assignment)
        if self._whole is not self._free:
            self._free.program.forbid(plan.assignment)

    def _program(
        self, goal: Goal, simulation: Simulation, max_moves: int | None, *, is_order_free: bool
    ) -> "_GoalProgram":
        program = PlacementProgram(self._stated.problem, is_order_free=is_order_free)
        planned = goal.plan(program, simulation.engine, self.usable)
        moves = program.moves()
        if max_moves is not None and moves:
            program.program.add_row(moves, at_most=max_moves)
        return _GoalProgram(program, planned, moves)

    def _solve(self, program: "_GoalProgram") -> Solution:
        moves = Objective("moves", program.moves, is_maximised=False)
        still = dict.fromkeys(program.moves, 0.0)
        other = self._whole if program is self._free else self._free
        spent_s = 0.0 if other is program else other.program.program.spent_s
        solution = program.program.program.solve(
            [program.goal.objective, moves], self._limit_s - spent_s, still or None
        )
        self.timed_out |= solution.timed_out
        return solution

    def _read(self, program: "_GoalProgram", solution: Solution) -> MovePlan | None:
        values = solution.values
        if values is None:
            return None
        assignment = program.program.assignment(values)
        nodes = self._stated.problem.nodes
        kinds = self._stated.problem.kinds
        emptied = [nodes[at] for at, flag in program.goal.emptied.items() if values[flag] > 0.5]
        wanted_by = {
            nodes[node]: None for (kind, node) in sorted(assignment) if kinds[kind].is_waiting
        }
        return MovePlan(
            tuple(_moves(self._stated, self._held, assignment)),
            tuple(emptied),
            tuple(wanted_by),
            assignment,
        )


@dataclass(frozen=True, slots=True)
class _GoalProgram:
    program: PlacementProgram
    goal: PlannedGoal
    moves: Mapping[int, float]


def _waiting_pods(simulation: Simulation) -> list[Pod]:
    results = simulation.results
    found = []
    for key, pod in simulation.engine.state.pods.items():
        result = results.get(key)
        is_tried = result is not None and result.outcome is PodOutcome.UNSCHEDULABLE
        if not pod.spec.node_name and is_tried:
            found.append(pod)
    return found


def _moves(
    stated: StatedProblem, held: Mapping[str, str], assignment: Assignment
) -> list[PlannedMove]:
    """Which pod goes where: of each kind those leave that have a node with too many."""
    nodes = stated.problem.nodes
    found: list[PlannedMove] = []
    for number, kind in enumerate(stated.problem.kinds):
        if kind.is_waiting:
            continue
        leaving: list[tuple[str, str]] = []
        by_node: dict[str, list[str]] = {}
        for info in stated.pods[number]:
            by_node.setdefault(held[info.key], []).append(info.key)
        targets: list[str] = []
        for at, name in enumerate(nodes):
            there, wanted = kind.held.get(at, 0), assignment.get((number, at), 0)
            leaving += [(key, name) for key in _last(by_node.get(name, []), there - wanted)]
            targets += [name] * (wanted - there)
        found += [
            PlannedMove(key, source, target)
            for (key, source), target in zip(leaving, targets, strict=True)
        ]
    return found


def _last(keys: Sequence[str], count: int) -> Sequence[str]:
    return keys[len(keys) - count :] if count > 0 else ()
