"""A plan of moves carried out by the scheduler, one eviction after the other.

The pod goes, its successor arrives, and the scheduler decides with all that is configured. Where it
would choose another node than the plan, or where others are as good to it, these are closed for the
moment of the move. Contract: a step is kept only if the successor went where the step says and
nobody else lost a node; whoever carries the same steps out on the same cluster sees the same.
"""

import dataclasses
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changed_cluster import ChangedCluster
from podium.offline.what_if.changes import Cordon
from podium.offline.what_if.rebalance_answer import MoveStep
from podium.offline.what_if.rebalance_commands import expect_successor
from podium.offline.what_if.rebalance_plan import MovePlan, PlannedMove
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine.scheduler import Attempt

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
