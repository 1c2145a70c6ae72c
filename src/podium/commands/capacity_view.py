"""Counts of pods that fit on a screen: how many, what stops the next one, and node by node."""

from collections import Counter

from podium.commands.console import Text
from podium.commands.tables import Screen, count, some
from podium.offline.what_if.capacity_answer import CapacityAnswer, NodeRoom, Room

MAX_NODES = 15


def show_capacity(answer: CapacityAnswer, screen: Screen, *, wide: bool, show_all: bool) -> None:
    together = {room.template.key: room.fits for room in answer.together}
    screen.heading("How many more fit", "copies of each pod, scheduled until one finds no node")
    turns = ("TOGETHER",) if together else ()
    table = screen.table(
        "POD", "ALONE", *turns, "WHAT STOPS THE NEXT ONE", right=("ALONE", "TOGETHER")
    )
    for room in answer.alone:
        fits = (f"{together[room.template.key]:,}",) if together else ()
        table.add_row(room.template.name, f"{room.fits:,}", *fits, _stop(room))
    screen.print(table)
    for room in answer.alone:
        if room.fits or len(answer.alone) == 1:
            _show_nodes(room, screen, wide=wide, show_all=show_all)
    _show_end(answer, screen)


def _stop(room: Room) -> str:
    if room.stopped_by:
        return f"{room.stopped_by} of the whole cluster reaches the limit"
    return room.message


def _show_nodes(room: Room, screen: Screen, *, wide: bool, show_all: bool) -> None:
    if not room.nodes:
        return
    nodes = sorted(room.nodes, key=lambda each: (-each.fits, each.node))
    if not show_all and not wide and len(nodes) > MAX_NODES:
        _show_groups(room, screen)
        return
    screen.heading(f"Nodes for {room.template.name}", "copies alone, and why no more")
    table = screen.table("NODE", "FITS", "WHY NO MORE", right=("FITS",), whole=("NODE",))
    for each in nodes:
        table.add_row(each.node, f"{each.fits:,}", _reasons(each, screen))
    screen.print(table)


def _show_groups(room: Room, screen: Screen) -> None:
    """Many nodes are told by what stops them; `--all` lists each."""
    groups: dict[tuple[str, ...], list[NodeRoom]] = {}
    for each in room.nodes:
        groups.setdefault(each.reasons, []).append(each)
    remark = f"{count(len(room.nodes), 'node')}, grouped by why they take no more; --all lists each"
    screen.heading(f"Nodes for {room.template.name}", remark)
    table = screen.table(
        "WHY NO MORE", "NODES", "FITS", "PER NODE", "FOR EXAMPLE", right=("NODES", "FITS")
    )
    for members in sorted(groups.values(), key=lambda members: -len(members))[:MAX_NODES]:
        per_node = Counter(each.fits for each in members)
        low, high = min(per_node), max(per_node)
        table.add_row(
            _reasons(members[0], screen),
            f"{len(members):,}",
            f"{sum(each.fits for each in members):,}",
            f"{low:,}" if low == high else f"{low:,} to {high:,}",
            some([each.node for each in members]),
        )
    screen.print(table)


def _reasons(each: NodeRoom, screen: Screen) -> str:
    return ", ".join(each.reasons) or screen.signs.nothing


def _show_end(answer: CapacityAnswer, screen: Screen) -> None:
    screen.print()
    for room in answer.alone:
        is_enough = room.fits >= (answer.wanted or 1)
        sign, style = (screen.signs.yes, "green") if is_enough else (screen.signs.no, "red")
        screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {_sentence(answer, room)}")))


def _sentence(answer: CapacityAnswer, room: Room) -> str:
    if answer.wanted is None:
        return f"{room.template.name}: {count(room.fits, 'more pod')}"
    told = f"{room.template.name}: {room.fits:,} of {answer.wanted:,} wanted"
    if answer.purchase is None:
        return told
    mix = answer.purchase.mix
    if mix is None:
        shapes = some(answer.purchase.shapes)
        return f"{told}; no number of these nodes makes room for the rest: {shapes}"
    nodes = ", ".join(f"{number:,} x {shape}" for shape, number in mix.nodes.items())
    price = "" if mix.price is None else f" for {float(mix.price):g}"
    best = "the cheapest mix" if mix.price is not None else "the fewest nodes"
    proof = best if mix.proven else f"{best} of those tried"
    return f"{told}; add {nodes}{price}, then {mix.fits:,} fit ({proof})"
