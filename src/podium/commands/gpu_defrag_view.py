"""How a plan of moves looks on a terminal, and how it is carried out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podium.addons.gpu.packing.moves import CardPlacement, Defragmentation, MoveGroup
from podium.commands.answering import Answer
from podium.commands.gpu_defrag_document import DefragmentationDocument, key_of
from podium.commands.tables import Screen, count
from podium.kubernetes.kinds.pod import Pod


@dataclass(frozen=True)
class DefragmentationView(Answer):
    """`evict` carries the moves out if that was asked for, and says whether none was refused."""

    plan: Defragmentation
    notes: Sequence[str]
    evict: Callable[[list[Pod]], bool] | None = None
    has_crashed: bool = False

    @property
    def is_yes(self) -> bool:
        return not self.plan.unplaced

    def document(self) -> DefragmentationDocument:
        return DefragmentationDocument.of(self.plan, self.notes)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_plan(self.plan, screen, wide=wide)
        screen.notes((*self.notes, *_describe_check(self.plan)))

    def carry_out(self) -> bool:
        moves = self.plan.moves
        return self.evict is None or not moves or self.evict([move.pod for move in moves])


def _show_plan(plan: Defragmentation, screen: Screen, *, wide: bool) -> None:
    moves = plan.moves
    if not plan.steps:
        screen.print("there is nothing to move")
    else:
        screen.print_heading(
            "Defragmentation",
            f"{count(len(moves), 'move')}; idle cards: {plan.idle_before} before, "
            f"{plan.idle_after} after",
        )
        table = screen.table("STEP", "POD", "FROM", "TO", "FOR", right=("STEP",), whole=("POD",))
        for number, step in enumerate(plan.steps, 1):
            for move in step.moves:
                target = _place(move.target)
                if wide and move.proposed is not None:
                    target += f" (not {_place(move.proposed)})"
                table.add_row(
                    str(number), key_of(move.pod), _place(move.source), target, _aim(step)
                )
            if step.places is not None and not step.moves:
                pod, place = step.places
                table.add_row(str(number), key_of(pod), "", _place(place), "fits as it is")
        screen.print(table)
    if plan.unplaced:
        screen.print_heading("Not helped", "pods that wait, and that no moves make fit")
        for pod in plan.unplaced:
            screen.print(key_of(pod))
    if wide and plan.kept:
        screen.print_heading("Kept", "pods that are not to be moved")
        table = screen.table("POD", "WHY", whole=("POD",))
        for pod, why in plan.kept:
            table.add_row(key_of(pod), why)
        screen.print(table)
    if wide and plan.refused:
        screen.print_heading("Given up", "steps that the scheduler would bring to nothing")
        table = screen.table("PODS", "WHY", whole=("PODS",))
        for refused in plan.refused:
            table.add_row(_pods(refused.step), refused.why)
        screen.print(table)


def _describe_check(plan: Defragmentation) -> list[str]:
    """What the scheduler's word changed."""
    if not plan.checked:
        return []
    moves = plan.moves
    amended = sum(move.proposed is not None for move in moves)
    told = []
    if moves:
        agreed = f"the scheduler, asked after each move, makes {count(len(moves), 'move')} as shown"
        told.append(agreed + (f", {amended} to other cards than proposed" if amended else ""))
    if plan.refused:
        steps = count(len(plan.refused), "step")
        told.append(f"{steps} given up, as the scheduler would bring it to nothing (-o wide)")
    lucky = sum(move.equal_nodes > 1 for move in moves)
    if lucky:
        told.append(
            f"for {count(lucky, 'move')} other nodes are as good to the scheduler as the one shown"
        )
    return told


def _pods(step: MoveGroup) -> str:
    return ", ".join(key_of(move.pod) for move in step.moves) or "none"


def _place(place: CardPlacement) -> str:
    cards = ", ".join(map(str, place.cards))
    return f"{place.node} card{'s' if len(place.cards) > 1 else ''} {cards}"


def _aim(step: MoveGroup) -> str:
    if step.places is not None:
        pod, place = step.places
        return f"{key_of(pod)}, on {_place(place)}"
    return f"{_place(step.frees)} becomes idle" if step.frees is not None else ""
