"""How a plan of moves looks, on a terminal and as a document."""

from collections.abc import Sequence

from podium.addons.gpu.packing.moves import Defragmentation, Move, Placement, Step
from podium.commands.tables import Screen, count
from podium.kubernetes.kinds.pod import Pod


def show_defragmentation(
    plan: Defragmentation, screen: Screen, notes: Sequence[str], *, wide: bool
) -> None:
    moves = plan.moves
    if not plan.steps:
        screen.print("there is nothing to move")
    else:
        screen.heading(
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
                table.add_row(str(number), _key(move.pod), _place(move.source), target, _aim(step))
            if step.places is not None and not step.moves:
                pod, place = step.places
                table.add_row(str(number), _key(pod), "", _place(place), "fits as it is")
        screen.print(table)
    if plan.unplaced:
        screen.heading("Not helped", "pods that wait, and that no moves make fit")
        for pod in plan.unplaced:
            screen.print(_key(pod))
    if wide and plan.kept:
        screen.heading("Kept", "pods that are not to be moved")
        table = screen.table("POD", "WHY", whole=("POD",))
        for pod, why in plan.kept:
            table.add_row(_key(pod), why)
        screen.print(table)
    if wide and plan.refused:
        screen.heading("Given up", "steps that the scheduler would bring to nothing")
        table = screen.table("PODS", "WHY", whole=("PODS",))
        for refused in plan.refused:
            table.add_row(_pods(refused.step), refused.why)
        screen.print(table)
    screen.notes((*notes, *_checked(plan)))


def defragmentation_document(plan: Defragmentation) -> dict[str, object]:
    return {
        "idleCardsBefore": plan.idle_before,
        "idleCardsAfter": plan.idle_after,
        "steps": [
            {
                "moves": [_move(move) for move in step.moves],
                "frees": None if step.frees is None else _placement(step.frees),
                "places": None
                if step.places is None
                else {"pod": _key(step.places[0]), **_placement(step.places[1])},
            }
            for step in plan.steps
        ],
        "unplaced": [_key(pod) for pod in plan.unplaced],
        "checked": plan.checked,
        "refused": [
            {"moves": [_move(move) for move in each.step.moves], "reason": each.why}
            for each in plan.refused
        ],
        "kept": [{"pod": _key(pod), "reason": why} for pod, why in plan.kept],
    }


def _move(move: Move) -> dict[str, object]:
    return {
        "pod": _key(move.pod),
        "from": _placement(move.source),
        "to": _placement(move.target),
        "proposed": _placement(move.proposed or move.target),
        "equalNodes": move.equal_nodes,
    }


def _checked(plan: Defragmentation) -> list[str]:
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


def _pods(step: Step) -> str:
    return ", ".join(_key(move.pod) for move in step.moves) or "none"


def _placement(place: Placement) -> dict[str, object]:
    return {"node": place.node, "cards": list(place.cards)}


def _place(place: Placement) -> str:
    cards = ", ".join(map(str, place.cards))
    return f"{place.node} card{'s' if len(place.cards) > 1 else ''} {cards}"


def _aim(step: Step) -> str:
    if step.places is not None:
        pod, place = step.places
        return f"{_key(pod)}, on {_place(place)}"
    return f"{_place(step.frees)} becomes idle" if step.frees is not None else ""


def _key(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"
