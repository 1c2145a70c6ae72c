"""Proposals as a document, and on a screen: a line for each with the commands that carry it out.

Commands are printed as they are, however long, so that they can be copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from podium.commands.console import Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.printing import print_lines
from podium.commands.tables import PLAIN, Screen, count
from podium.golang.document_structs import Count, Notes, PodKey
from podium.offline.simulate import SimulationReport
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.scheduler.explain.proposals.answer_document import (
    PodProposal,
    WorkloadPods,
    answer_fields,
)
from podium.scheduler.explain.proposals.proposal import Proposal
from podium.scheduler.explain.proposals.search import ProposalAnswer
from podium.scheduler.explain.proposals.workload import OwnedPods


class ProposalsDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium why` prints: changes that would give a pending pod a node."""

    KIND: ClassVar[str] = "Proposals"

    namespace: str
    """The pod's namespace."""
    name: str
    """The pod's name."""
    fits: bool
    """Whether the pod gets a node as things are."""
    node: str | None
    """Which one."""
    victims: tuple[PodKey, ...]
    """Pods that are evicted for that."""
    runs_on: str | None
    """The node of a pod that runs already and was decided anew."""
    turned_away_from: str | None
    """The node that the pod had and lost again before it was bound."""
    message: str | None
    """Why it does not fit."""
    workload: WorkloadPods | None
    """What the pod belongs to, null if nothing has made it."""
    trials: Count
    """Changes that were tried."""
    complete: bool
    """Whether the search came to its end."""
    proposals: tuple[PodProposal, ...]
    """What would make it fit, the least disturbing first."""
    notes: Notes = ()

    @classmethod
    def of(cls, answer: ProposalAnswer, *, runs_on: str) -> ProposalsDocument:
        return cls(
            **answer_fields(answer, runs_on=runs_on),
            message=answer.reason or None,
            proposals=tuple(PodProposal.for_pod(each, answer.pod) for each in answer.proposals),
        )


@dataclass(frozen=True)
class ProposalsView(ReviewedAnswer):
    """`runs_on` is where the pod is if it runs, `top` how many proposals are shown."""

    found: ProposalAnswer
    review: SimulationReport
    notes: Sequence[str]
    notes_on_terminal: Sequence[str]
    has_crashed: bool
    key: str
    runs_on: str
    top: int

    @property
    def pod_key(self) -> str:
        return self.key

    @property
    def shown_notes(self) -> Sequence[str]:
        return self.notes_on_terminal

    @property
    def is_yes(self) -> bool:
        return bool(self.found.node or self.found.proposals)

    def answer_document(self) -> ProposalsDocument:
        return ProposalsDocument.of(self.found, runs_on=self.runs_on)

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        answer = self.found
        _show_head(answer, screen, self.runs_on)
        if answer.node:
            return
        shown = answer.proposals[: self.top]
        if shown:
            screen.print_heading(
                "What would make it fit", "least disturbance first, each of them tried"
            )
        for number, proposal in enumerate(shown, 1):
            _show_proposal(number, proposal, screen, wide=wide)
        left = len(answer.proposals) - len(shown)
        if left:
            screen.print()
            screen.print(f"and {count(left, 'more proposal')}; --top shows more", style="dim")
        if not answer.is_complete:
            screen.print()
            screen.print(f"there may be more: given up after {answer.trials} trials", style="dim")


def _show_head(answer: ProposalAnswer, screen: Screen, runs_on: str) -> None:
    metadata, spec = answer.pod.metadata, answer.pod.spec
    sign, style = (screen.signs.yes, "bold green") if answer.node else (screen.signs.no, "bold red")
    lines = [
        ("Pod", Text(f"{metadata.namespace}/{metadata.name}", style="bold")),
        ("Answer", Text.assemble((sign, style), Text(f" {_summary(answer)}"))),
        ("Profile", Text(f"{spec.scheduler_name}, priority {spec.priority or 0}")),
    ]
    if runs_on:
        lines.append(
            ("Premise", Text(f"runs on {runs_on}; decided anew, as if its place were free"))
        )
    if answer.workload is not None:
        lines.append(("Workload", Text(_describe_workload(answer.workload))))
    if answer.reason:
        lines.append(("Message", Text(answer.reason)))
    for title, text in lines:
        screen.print_titled(title, text)


def _summary(answer: ProposalAnswer) -> str:
    if answer.node:
        room = f", once {', '.join(answer.victims)} made room for it" if answer.victims else ""
        return f"goes to {answer.node}{room}; nothing has to change"
    if answer.turned_away_from:
        return f"gets {answer.turned_away_from} and loses it again before it is bound"
    if not answer.proposals:
        return f"gets no node, and nothing that was tried helps ({count(answer.trials, 'trial')})"
    if len(answer.proposals) == 1:
        return "gets no node; one change would give it one"
    return f"gets no node; {len(answer.proposals)} changes would give it one, each by itself"


def _show_proposal(number: int, proposal: Proposal, screen: Screen, *, wide: bool) -> None:
    screen.print()
    text = Text.assemble(
        (f"{number}. ", "bold"),
        Text(proposal.sentence, style="bold"),
        Text(f" {_dash(screen)} {_effect(proposal)}"),
    )
    screen.print(text)
    if wide:
        told = f"{proposal.code}, disturbance {proposal.disturbance}, would go to {proposal.node}"
        screen.print(Text(f"   {told}", style="dim"))
    for disruption in proposal.disruptions:
        screen.print(Text.assemble("   ", (f"! {disruption}", "yellow")))
    screen.console.file.flush()
    print_lines(
        f"   {line}" if line.startswith("#") else f"   $ {line}" for line in proposal.commands
    )


def _dash(screen: Screen) -> str:
    return "-" if screen.signs is PLAIN else "—"


def _describe_workload(workload: OwnedPods) -> str:
    placed, waiting = len(workload.placed), len(workload.waiting)
    return (
        f"{workload.target}: {placed} of {count(workload.wanted, 'pod')} placed, {waiting} waiting"
    )


def _effect(proposal: Proposal) -> str:
    outcome, effects = proposal.outcome, []
    if proposal.hypothesis.replicas is not None:
        return "then none waits"
    if proposal.destinations:
        effects.append(f"fits on {', '.join(dict.fromkeys(proposal.destinations))} as well")
    if proposal.nodes:
        then = "then " if effects else ""
        effects.append(f"{then}{count(proposal.nodes, 'node')} would fit")
    if outcome.wanted > 1 and outcome.after >= outcome.wanted:
        effects.append(f"all {outcome.wanted} pods get a node")
    elif outcome.wanted > 1:
        effects.append(f"{outcome.after} of {outcome.wanted} pods get a node, {outcome.before} now")
    return "; ".join(effects) or f"goes to {proposal.node}"
