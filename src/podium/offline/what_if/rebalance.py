"""The fewest moves that reach a goal, each of which the scheduler makes as it is told.

A solver says which pods to move (`rebalance_plan.py`), the scheduler carries the moves out on a
cluster in memory (`rebalance_steps.py`), first choosing itself where that is certain, then led to
the plan's nodes. A plan that it carries out otherwise is given up and the next best is tried. What
is told at the end was carried out twice with the same result.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.optimum.integer_program import require_solver
from podium.offline.simulate.asking_extenders import asker_of
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.rebalance_answer import (
    GoalMeasure,
    MoveStep,
    RebalanceAnswer,
    RebalanceMove,
    list_all_commands,
)
from podium.offline.what_if.rebalance_goals import FitPending, Goal, LimitSkew, require_known
from podium.offline.what_if.rebalance_plan import MovePlan, MovePlanner
from podium.offline.what_if.rebalance_steps import NewSimulation, StepsDiffer, StepSearch
from podium.offline.what_if.usable_nodes import usable_nodes
from podium.scheduler.explain.proposals.shell import BY_DEFAULT, Kubectl
from podium.user_code.plugins import Equipped

MAX_PLANS: Final = 10
"""So many plans are tried before the goal is given up."""


@dataclass(frozen=True, slots=True)
class RebalanceQuestion:
    goal: Goal
    max_moves: int | None = None
    deletes_empty_dirs: bool = False
    time_limit_s: float = 30.0
    kubectl: Kubectl = BY_DEFAULT
    """Of the cluster that the question is about."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    value: float
    closed: tuple[str, ...]
    steps: list[MoveStep]


@contextmanager
def fresh_simulations(
    scenario: Scenario, equipped: Equipped, gates: FeatureGates, seed: int
) -> Iterator[NewSimulation]:
    """Simulations of one cluster, each run until nobody moves."""
    configuration, registry, _ = equipped
    with ExitStack() as stack:

        def begin() -> Simulation:
            simulation = Simulation(scenario, configuration, registry, seed=seed, gates=gates)
            ask = None
            if configuration.extenders:
                ask = stack.enter_context(asker_of(simulation.engine))
            simulation.run(ask=ask)
            return simulation

        yield begin


def find_rebalance(
    begin: NewSimulation, scenario: Scenario, question: RebalanceQuestion
) -> RebalanceAnswer:
    """`begin` gives the cluster anew each time. Raises InputError."""
    require_solver()
    return _Search(begin, scenario, question).answer()


class _Search:
    def __init__(
        self, begin: NewSimulation, scenario: Scenario, question: RebalanceQuestion
    ) -> None:
        self._question = question
        self._goal = question.goal
        self._steps = StepSearch(begin, scenario)
        first = begin()
        usable = usable_nodes(first.engine)
        require_known([self._goal], first.engine, usable)
        cluster = first.engine.cluster
        names = [cluster.nodes.names[row] for row in cluster.node_order().tolist()]
        left_out = sorted(name for name in names if name not in usable)
        self._unusable = () if isinstance(self._goal, FitPending) else tuple(left_out)
        self._before = self._goal.measure(first.engine)
        self._planner = MovePlanner(
            first,
            question.goal,
            max_moves=question.max_moves,
            deletes_empty_dirs=question.deletes_empty_dirs,
            time_limit_s=question.time_limit_s,
        )
        self._given_up: list[str] = []

    def answer(self) -> RebalanceAnswer:
        best = _Outcome(self._before, (), [])
        promised: float | None = None
        for _ in range(MAX_PLANS):
            plan = self._planner.plan()
            if plan is None:
                break
            found = self._carry_out(plan)
            if found is not None and self._is_better(found, best):
                best = found
            if promised is None:
                promised = self._bound()
            if found is not None and self._is_enough(best.value, promised):
                break
            self._planner.forbid(plan)
        bound = self._bound() if promised is None else promised
        wanted = self._goal.wanted
        better: Literal["more", "less"] = "more" if self._goal.is_maximised else "less"
        measure = GoalMeasure(self._goal.name, better, self._before, best.value, wanted, bound)
        kubectl = self._question.kubectl
        steps = tuple(RebalanceMove.of(step, kubectl) for step in best.steps)
        return RebalanceAnswer(
            goal=self._goal.text,
            reached=measure.is_reached,
            measure=measure,
            cordoned=best.closed,
            left_out=tuple(self._unusable),
            steps=steps,
            commands=list_all_commands(best.closed, steps, kubectl),
            moves=len(steps),
            # That less than no move will not do says nothing.
            fewest_moves=self._planner.fewest if self._planner.fewest or not steps else None,
            kept=tuple(self._planner.kept),
            given_up=tuple(self._given_up),
            time_limit_s=self._question.time_limit_s,
            timed_out=self._planner.timed_out,
        )

    def _carry_out(self, plan: MovePlan) -> _Outcome | None:
        """The better of both ways to carry a plan out."""
        best: _Outcome | None = None
        # Where the fullness of each node counts, no other node will do.
        ways = (True,) if isinstance(self._goal, LimitSkew) else (False, True)
        for follows_targets in ways:
            steps, problem = self._steps.find(plan, follows_targets=follows_targets)
            if problem:
                self._given_up.append(problem)
                if plan.emptied:
                    continue  # half an empty node is none
            try:
                simulation, steps = self._steps.replay(plan.emptied, steps)
            except StepsDiffer as differs:
                self._given_up.append(str(differs))
                continue
            found = _Outcome(self._measure(simulation), plan.emptied, steps)
            if best is None or self._is_better(found, best):
                best = found
            if self._is_enough(found.value, self._bound()):
                break
        return best

    def _measure(self, simulation: Simulation) -> float:
        return self._goal.measure(simulation.engine)

    def _is_better(self, found: _Outcome, than: _Outcome) -> bool:
        if self._goal.is_maximised:
            return found.value > than.value
        return found.value < than.value - 1e-9

    def _is_enough(self, value: float, bound: float) -> bool:
        wanted = self._goal.wanted
        goal = bound if wanted is None else wanted
        if self._goal.is_maximised:
            return value >= min(goal, bound)
        return value <= max(goal, bound) + 1e-6

    def _bound(self) -> float:
        """The goal's figure as good as the solver's objective says that it can be."""
        best = self._planner.best
        if self._goal.is_maximised:
            return best if best is not None else float("inf")
        if best is None:
            return 0.0
        if isinstance(self._goal, LimitSkew):
            return best if self._goal.limit is None else min(self._before, self._goal.limit + best)
        return self._before - best
