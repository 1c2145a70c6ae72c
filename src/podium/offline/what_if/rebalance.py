"""The fewest moves that reach a goal, each of which the scheduler makes as it is told.

A solver says which pods to move (`rebalance_plan.py`), the scheduler carries the moves out on a
cluster in memory, first choosing itself where that is certain, then led to
the plan's nodes. A plan that it carries out otherwise is given up and the next best is tried. What
is told at the end was carried out twice with the same result.

A plan of moves carried out by the scheduler, one eviction after the other. The pod goes, its
successor arrives, and the scheduler decides with all that is configured. Where it would choose
another node than the plan, or where others are as good to it, these are closed for the moment of
the move. Contract: a step is kept only if the successor went where the step says and nobody else
lost a node; whoever carries the same steps out on the same cluster sees the same.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.optimum.integer_program import require_solver
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Cordon
from podium.offline.what_if.rebalance_answer import (
    GoalMeasure,
    MoveStep,
    RebalanceAnswer,
    RebalanceMove,
    list_all_commands,
)
from podium.offline.what_if.rebalance_commands import expect_successor
from podium.offline.what_if.rebalance_goals import FitPending, Goal, LimitSkew, require_known
from podium.offline.what_if.rebalance_plan import MovePlan, MovePlanner, PlannedMove
from podium.offline.what_if.usable_nodes import usable_nodes
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine.scheduler import Attempt
from podium.scheduler.explain.proposals.shell import BY_DEFAULT, Kubectl
from podium.user_code.plugins import Equipped

NewSimulation = Callable[[], Simulation]
"""The cluster as it is at the beginning, run until nobody moves."""


class StepsDiffer(Exception):
    """The scheduler does otherwise than a step says; the text tells how."""


class CarriedOutSteps:
    """A cluster on which steps are carried out."""

    def __init__(self, simulation: Simulation, scenario: Scenario) -> None:
        self.simulation = simulation
        self._changed = ChangedCluster(simulation, scenario)

    def close(self, nodes: Sequence[str], *, closed: bool = True) -> None:
        for name in nodes:
            self._changed.apply(Cordon(name, closed))

    def carry_out(self, step: MoveStep) -> MoveStep:
        """The step with whom else it places. Raises StepsDiffer."""
        before = self.places()
        self.close(step.closed)
        refusal = self._changed.evict(step.pod)
        if refusal:
            raise StepsDiffer(f"{step.pod} is not evicted: {refusal}")
        self.close(step.closed, closed=False)
        after = self.places()
        if after.get(step.pod, "") != step.target:
            went = after.get(step.pod, "") or "no node"
            raise StepsDiffer(f"{step.pod} goes to {went}, not to {step.target}")
        placed = []
        for key in sorted({*before, *after} - {step.pod}):
            old, new = before.get(key, ""), after.get(key, "")
            if old and old != new:
                raise StepsDiffer(f"{key} loses {old} when {step.pod} moves")
            if old != new:
                placed.append((key, new))
        return dataclasses.replace(step, placed=tuple(placed))

    def places(self) -> dict[str, str]:
        pods = self.simulation.engine.state.pods
        return {key: pod.spec.node_name for key, pod in pods.items()}


class StepSearch:
    """Finds the steps of a plan."""

    def __init__(self, begin: NewSimulation, scenario: Scenario) -> None:
        self._begin = begin
        self._scenario = scenario

    def find(self, plan: MovePlan, *, follows_targets: bool) -> tuple[list[MoveStep], str]:
        """Steps in an order that works, and what keeps the rest of them from being made, "" if
        there is no rest; without `follows_targets` the scheduler chooses where that is certain.
        """
        cluster = CarriedOutSteps(self._begin(), self._scenario)
        cluster.close(plan.emptied)
        steps: list[MoveStep] = []
        left = list(plan.moves)
        while left:
            for move in left:
                target = move.target if follows_targets else ""
                step = _Guide(cluster.simulation, plan, move).find(target)
                if step is None:
                    continue
                try:
                    steps.append(cluster.carry_out(step))
                except StepsDiffer as problem:
                    return steps, str(problem)
                left.remove(move)
                break
            else:
                return steps, f"{left[0].pod} finds no room on {left[0].target}"
        return steps, ""

    def replay(
        self, closed: Sequence[str], steps: Sequence[MoveStep]
    ) -> tuple[Simulation, list[MoveStep]]:
        """The cluster after the steps, carried out anew. Raises StepsDiffer."""
        cluster = CarriedOutSteps(self._begin(), self._scenario)
        cluster.close(closed)
        done = [cluster.carry_out(step) for step in steps]
        return cluster.simulation, done


class _Guide:
    """Looks for the nodes to close so that a pod's successor goes to one node for certain."""

    def __init__(self, simulation: Simulation, plan: MovePlan, move: PlannedMove) -> None:
        self._engine = simulation.engine
        self._ask = simulation.ask
        self._move = move
        self._shielded = [name for name in plan.wanted_by if name != move.target]

    def find(self, target: str) -> MoveStep | None:
        """With a target that one, else whichever the scheduler likes best; None if it cannot."""
        move, closed = self._move, list(dict.fromkeys(self._shielded))
        while True:
            best = self._best_nodes(closed)
            if not best or (target and target in closed):
                return None
            wanted = target
            if not wanted:
                others = [name for name in best if name != move.source]
                wanted = move.target if move.target in others else min(others, default="")
            more = [name for name in best if name != wanted]
            if not more:
                already = self._closed_nodes()
                return MoveStep(
                    move.pod,
                    move.source,
                    wanted,
                    tuple(sorted(name for name in closed if name not in already)),
                    successor=expect_successor(self._engine, self._pod(), wanted),
                )
            closed += more

    def _closed_nodes(self) -> set[str]:
        nodes = self._engine.cluster.nodes
        rows = self._engine.cluster.node_order().tolist()
        return {nodes.names[row] for row in rows if nodes.node(row).spec.unschedulable}

    def _best_nodes(self, closed: Sequence[str]) -> list[str]:
        """Where the successor may go while some nodes are closed."""
        engine = self._engine
        opened = self._close(closed)
        try:
            attempt = self._try()
            decision = attempt.decision
            if attempt.binding is not None:
                engine.undo(attempt.binding)
            if decision.bound is None or decision.waits_s:
                return []
            names = engine.cluster.nodes.names
            best = [names[row] for row in decision.best_rows.tolist()]
            return best or [decision.bound]
        finally:
            pod = self._pod()
            engine.cluster.add_pod(pod)
            for node in opened.values():
                engine.cluster.put_node(node)

    def _try(self) -> Attempt:
        engine, pod = self._engine, self._pod()
        engine.cluster.remove_pod(pod.metadata.uid or object_key(pod.metadata))
        status = replace(pod.status, nominated_node_name="")
        successor = replace(pod, spec=replace(pod.spec, node_name=""), status=status)
        return engine.schedule(engine.cluster.infos.of(successor), self._ask)

    def _pod(self) -> Pod:
        return self._engine.state.pods[self._move.pod]

    def _close(self, names: Sequence[str]) -> dict[str, Node]:
        cluster = self._engine.cluster
        found = {}
        for name in names:
            node = cluster.nodes.node(cluster.nodes.row(name))
            found[name] = node
            cluster.put_node(replace(node, spec=replace(node.spec, unschedulable=True)))
        return found


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
