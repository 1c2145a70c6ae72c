"""A proposal: changes that together make a pod fit, what proves it and how to carry them out."""

from dataclasses import dataclass

from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.proposals.rehearsal import RehearsalOutcome


@dataclass(frozen=True, slots=True)
class ProposalStep:
    """One change. `code` is a stable word for its kind and `sentence` says it to people, as an
    order and without a full stop ("tolerate gpu=yes:NoSchedule"). `disturbance` is on the scale
    of `disturbance.py`; `hypothesis` is the cluster with this step and all before it."""

    code: str
    sentence: str
    disturbance: int
    hypothesis: Hypothesis


@dataclass(frozen=True, slots=True)
class Proposal:
    """`steps` in the order of carrying them out, one of them nearly always. `outcome` is what came
    of it when it was tried, `nodes` how many nodes would take the pod. `commands` are lines for a
    shell; a line that starts with a number sign is for people. `disruptions` say what they delete,
    restart or evict."""

    steps: tuple[ProposalStep, ...]
    outcome: RehearsalOutcome
    nodes: int
    commands: tuple[str, ...] = ()
    disruptions: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """Where the pod would go."""
        return self.outcome.node

    @property
    def destinations(self) -> tuple[str, ...]:
        """Where the pods would go that have to move."""
        return self.outcome.destinations

    @property
    def code(self) -> str:
        return "+".join(step.code for step in self.steps)

    @property
    def sentence(self) -> str:
        return ", and ".join(step.sentence for step in self.steps)

    @property
    def disturbance(self) -> int:
        return sum(step.disturbance for step in self.steps)

    @property
    def hypothesis(self) -> Hypothesis:
        """The cluster with all of it."""
        return self.steps[-1].hypothesis

    @property
    def rank(self) -> tuple[int, int, str]:
        """Proposals are ordered by it: least disturbance, then the most nodes."""
        return self.disturbance, -self.nodes, self.sentence
