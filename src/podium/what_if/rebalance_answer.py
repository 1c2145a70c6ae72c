"""What a rebalancing comes to: plain values that tables, JSON and tests read."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One pod is evicted while some nodes are closed, so that the scheduler puts its successor
    where the plan has it. `placed` are pods that waited and find a node in this step."""

    pod: str
    source: str
    target: str
    closed: tuple[str, ...] = ()
    placed: tuple[tuple[str, str], ...] = ()

    @property
    def commands(self) -> list[str]:
        namespace, _, name = self.pod.partition("/")
        delete = f"kubectl -n {shlex.quote(namespace)} delete pod {shlex.quote(name)}"
        if not self.closed:
            return [delete]
        return [close_command(self.closed), delete, open_command(self.closed)]


def close_command(nodes: Sequence[str]) -> str:
    return f"kubectl cordon {shlex.join(nodes)}"


def open_command(nodes: Sequence[str]) -> str:
    return f"kubectl uncordon {shlex.join(nodes)}"


@dataclass(frozen=True, slots=True)
class GoalState:
    """A figure that the goal is about. `wanted` is what it has to be; None: as good as it gets."""

    name: str
    before: float
    after: float
    wanted: float | None
    is_maximised: bool
    bound: float
    """What no moves can better, as far as was proven."""

    @property
    def is_reached(self) -> bool:
        if self.wanted is None:
            return True
        if self.is_maximised:
            return self.after >= self.wanted - 1e-9
        return self.after <= self.wanted + 1e-9


@dataclass(frozen=True, slots=True)
class KeptPod:
    pod: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class RebalanceAnswer:
    """`fewest` is what no plan can do with less, None where that is not known. `closed` are nodes
    that are closed first and stay so."""

    goal: str
    state: GoalState
    closed: tuple[str, ...]
    steps: Sequence[MoveStep]
    fewest: int | None
    kept: Sequence[KeptPod]
    given_up: Sequence[str]
    """Plans that the scheduler would have carried out otherwise, and where."""
    time_limit_s: float
    timed_out: bool

    @property
    def is_reached(self) -> bool:
        return self.state.is_reached

    @property
    def commands(self) -> list[str]:
        """All of it in order."""
        first = [close_command(self.closed)] if self.closed else []
        return [*first, *(command for step in self.steps for command in step.commands)]
