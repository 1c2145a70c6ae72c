"""What a rebalancing comes to: plain values that tables, JSON and tests read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podium.offline.what_if.rebalance_commands import (
    UNKNOWN,
    Successor,
    close_command,
    evict_command,
    open_command,
    wait_until_gone,
    wait_until_placed,
    wait_until_ready,
    wait_until_scheduled,
)
from podium.scheduler.explain.proposals.shell import BY_DEFAULT, Kubectl


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One pod is evicted while some nodes are closed, so that the scheduler puts its successor
    where the plan has it. `placed` are pods that waited and find a node in this step."""

    pod: str
    source: str
    target: str
    closed: tuple[str, ...] = ()
    placed: tuple[tuple[str, str], ...] = ()
    successor: Successor = UNKNOWN
    kubectl: Kubectl = BY_DEFAULT

    @property
    def commands(self) -> list[str]:
        """Each waits for what the next one builds on."""
        kubectl, namespace = self.kubectl, self.pod.partition("/")[0]
        told = [close_command(kubectl, self.closed)] if self.closed else []
        told.append(evict_command(kubectl, self.pod))
        if not self.successor.keeps_name:
            # One of the same name can be there again before the question is put.
            told.append(wait_until_gone(kubectl, self.pod))
        told.append(wait_until_placed(kubectl, namespace, self.target, self.successor))
        if self.closed:
            told.append(open_command(kubectl, self.closed))
        told.append(wait_until_ready(kubectl, namespace, self.target, self.successor))
        return [*told, *(wait_until_scheduled(kubectl, pod) for pod, _ in self.placed)]


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

    @property
    def allows_wanted(self) -> bool:
        """Whether what is wanted is not proven to be out of reach."""
        if self.wanted is None:
            return True
        if self.is_maximised:
            return self.bound >= self.wanted - 1e-9
        return self.bound <= self.wanted + 1e-9


@dataclass(frozen=True, slots=True)
class KeptPod:
    pod: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class RebalanceAnswer:
    """`fewest` is what no plan can do with less, None where that is not known or says nothing.
    `closed` are nodes that are closed first and stay so, `unusable` those that no pod of the
    cluster may use and that the goal therefore leaves out."""

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
    unusable: tuple[str, ...] = ()
    kubectl: Kubectl = BY_DEFAULT

    def reached_by(self, kubectl: Kubectl) -> "RebalanceAnswer":
        """The same with commands for the cluster that the question was about."""
        steps = [replace(step, kubectl=kubectl) for step in self.steps]
        return replace(self, steps=steps, kubectl=kubectl)

    @property
    def is_reached(self) -> bool:
        return self.state.is_reached

    @property
    def commands(self) -> list[str]:
        """All of it in order."""
        first = [close_command(self.kubectl, self.closed)] if self.closed else []
        return [*first, *(command for step in self.steps for command in step.commands)]
