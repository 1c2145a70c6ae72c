"""What a rebalancing is for: empty nodes, room for pods that wait, or nodes that are equally full.

A goal knows two things: the figure that it is about, read from a cluster as it is, and the rows and
the objective by which a solver brings that figure to what is wanted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from podium.golang.errors import InputError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import PODS
from podium.offline.optimum.integer_program import Expression, Objective, add_up
from podium.offline.optimum.placement_program import PlacementProgram
from podium.offline.what_if.usable_nodes import has_pods, usable_nodes
from podium.scheduler.engine.scheduler import Engine


@dataclass(frozen=True, slots=True)
class PlannedGoal:
    """A goal in a program: what comes first, and how nodes that are to be empty are told."""

    objective: Objective
    emptied: Mapping[int, int]
    """Node -> the variable that is 1 if it is to be empty."""


class Goal(Protocol):
    @property
    def text(self) -> str:
        """As a user would write it."""
        ...

    @property
    def wanted(self) -> float | None: ...

    @property
    def name(self) -> str:
        """Of the figure."""
        ...

    @property
    def is_maximised(self) -> bool: ...

    def measure(self, engine: Engine) -> float: ...

    def plan(
        self, program: PlacementProgram, engine: Engine, usable: Collection[str]
    ) -> PlannedGoal:
        """`engine` has the cluster without the pods of the program; `usable` are the nodes that
        pods of the whole cluster may use."""
        ...


@dataclass(frozen=True, slots=True)
class FreeNodes:
    """So many nodes without pods but their own; those that are empty already count, unless no pod
    of the cluster may use them."""

    nodes: int
    name: ClassVar[str] = "empty nodes"
    is_maximised: ClassVar[bool] = True

    @property
    def text(self) -> str:
        return f"free nodes: {self.nodes}"

    @property
    def wanted(self) -> float:
        return float(self.nodes)

    def measure(self, engine: Engine) -> float:
        nodes = engine.cluster.nodes
        rows = [nodes.row(name) for name in usable_nodes(engine)]
        return float(sum(not has_pods(engine, row) for row in rows))

    def plan(
        self, program: PlacementProgram, engine: Engine, usable: Collection[str]
    ) -> PlannedGoal:
        nodes = engine.cluster.nodes
        emptied = {}
        for at, name in enumerate(program.problem.nodes):
            if name in usable and not has_pods(engine, nodes.row(name)):
                emptied[at] = program.program.add_variable(1)
                here = program.on_node(at)
                most = program.program.highest(here)
                row = [*here.items(), (emptied[at], most)]
                program.program.add_row(add_up(row), at_most=most)
        freed = dict.fromkeys(emptied.values(), 1.0)
        if freed:
            program.program.add_row(freed, at_most=self.nodes)
        return PlannedGoal(Objective(self.name, freed), emptied)


@dataclass(frozen=True, slots=True)
class FitPending:
    """No pod waits for want of a node."""

    name: ClassVar[str] = "pods that wait"
    wanted: ClassVar[float] = 0.0
    is_maximised: ClassVar[bool] = False
    text: ClassVar[str] = "fit pending pods"

    def measure(self, engine: Engine) -> float:
        return float(sum(_is_waiting(engine, pod) for pod in engine.state.pods.values()))

    def plan(
        self,
        program: PlacementProgram,
        engine: Engine,  # noqa: ARG002
        usable: Collection[str],  # noqa: ARG002
    ) -> PlannedGoal:
        kinds = program.problem.kinds
        waiting = [at for at, kind in enumerate(kinds) if kind.is_waiting]
        placed = program.sum_placed(waiting)
        return PlannedGoal(Objective("pods placed", placed), {})


@dataclass(frozen=True, slots=True)
class LimitSkew:
    """The fullest and the emptiest node, or domain of a topology key, are at most so far apart in
    what is requested of a resource; without a limit as little as possible."""

    resource: str
    limit: float | None = None
    key: str = ""
    is_maximised: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return f"skew of {self.resource}" + (f" by {self.key}" if self.key else "")

    @property
    def text(self) -> str:
        return self.name + ("" if self.limit is None else f" <= {self.limit:.0%}")

    @property
    def wanted(self) -> float | None:
        return self.limit

    def measure(self, engine: Engine) -> float:
        shares = [
            sum(self._read_requested(engine, row) for row in rows) / sum(sizes)
            for rows, sizes in self.domains(engine, usable_nodes(engine))
        ]
        return max(shares) - min(shares) if shares else 0.0

    def plan(
        self, program: PlacementProgram, engine: Engine, usable: Collection[str]
    ) -> PlannedGoal:
        position = {name: at for at, name in enumerate(program.problem.nodes)}
        names, solver = engine.cluster.nodes.names, program.program
        highest = solver.add_variable(100.0, whole=False)
        lowest = solver.add_variable(100.0, lower=-100.0, whole=False)
        for rows, sizes in self.domains(engine, usable):
            whole = sum(sizes)
            here = program.sum_requested([position[names[row]] for row in rows], self.resource)
            share = {at: amount / whole for at, amount in here.items() if amount}
            there = sum(self._read_requested(engine, row) for row in rows) / whole
            solver.add_row(add_up([*share.items(), (highest, -1.0)]), at_most=-there)
            solver.add_row(add_up([*share.items(), (lowest, -1.0)]), at_least=-there)
        skew: Expression = {highest: 1.0, lowest: -1.0}
        if self.limit is None:
            return PlannedGoal(Objective(self.name, skew, is_maximised=False), {})
        excess = solver.add_variable(100.0, whole=False)
        solver.add_row({**skew, excess: -1.0}, at_most=self.limit)
        return PlannedGoal(Objective("beyond the limit", {excess: 1.0}, is_maximised=False), {})

    def domains(self, engine: Engine, usable: Collection[str]) -> list[tuple[list[int], list[int]]]:
        """Rows of nodes that take pods, with what they have of the resource."""
        nodes = engine.cluster.nodes
        found: dict[str, tuple[list[int], list[int]]] = {}
        for row in engine.cluster.node_order().tolist():
            node, size = nodes.node(row), self._allocatable(engine, row)
            labels = node.metadata.labels or {}
            domain = labels.get(self.key) if self.key else node.metadata.name
            takes_pods = node.metadata.name in usable and not node.spec.unschedulable
            if domain is not None and size > 0 and takes_pods:
                rows, sizes = found.setdefault(domain, ([], []))
                rows.append(row)
                sizes.append(size)
        return list(found.values())

    def _allocatable(self, engine: Engine, row: int) -> int:
        nodes = engine.cluster.nodes
        if self.resource == PODS:
            return int(nodes.allowed_pods[row])
        index = nodes.resources.find(self.resource)
        return int(nodes.allocatable[index][row]) if index >= 0 else 0

    def _read_requested(self, engine: Engine, row: int) -> int:
        usage = engine.cluster.usage
        usage.grow()
        if self.resource == PODS:
            return int(usage.pod_count[row])
        index = engine.cluster.nodes.resources.find(self.resource)
        return int(usage.requested_of(index)[row])


def parse_skew(text: str) -> tuple[str, float]:
    """`cpu<=20%` or `cpu<=0.2`; raises InputError."""
    resource, sign, limit = text.partition("<=")
    number = limit.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != limit.strip() else 1)
    except ValueError:
        share = -1.0
    if not sign or not resource.strip() or not 0 <= share <= 1:
        raise InputError(f"{text!r} is no limit of a skew", remedy="write it as 'cpu<=20%'")
    return resource.strip(), share


def require_known(goals: Sequence[Goal], engine: Engine, usable: Collection[str]) -> None:
    """Raises InputError for a resource that no node has."""
    for goal in goals:
        if isinstance(goal, LimitSkew) and not goal.domains(engine, usable):
            by = f", or none has the label {goal.key}" if goal.key else ""
            raise InputError(f"no node that takes pods has {goal.resource}{by}")


def _is_waiting(engine: Engine, pod: Pod) -> bool:
    """Whether a pod has no node and nothing but the want of one keeps it."""
    if pod.spec.node_name or pod.spec.scheduler_name not in engine.profiles:
        return False
    return engine.pre_enqueue(engine.cluster.infos.of(pod)) is None
