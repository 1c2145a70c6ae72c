"""Counts of pods that fit: on a screen how many, what stops the next one, and node by node; and as
a report for browsers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from podium.commands.answering import Report
from podium.commands.console import Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.tables import Screen, count, some
from podium.offline.simulate.report import SimulationReport
from podium.offline.what_if.capacity_answer import CapacityAnswer, NodeRoom, PodRoom

MAX_NODES = 15


@dataclass(frozen=True)
class CapacityView(ReviewedAnswer):
    """`shapes` are names of nodes that could be added."""

    answer: CapacityAnswer
    review: SimulationReport
    notes: Sequence[str]
    has_crashed: bool
    shapes: Sequence[str] = ()

    @property
    def is_yes(self) -> bool:
        return self.answer.enough

    def answer_document(self) -> CapacityAnswer:
        return self.answer

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        answer = self.answer
        # Both lists have the same pods, or the second has none.
        together = [room.fits for room in answer.together]
        screen.print_heading(
            "How many more fit", "copies of each pod, scheduled until one finds no node"
        )
        turns = ("TOGETHER",) if together else ()
        table = screen.table(
            "POD", "ALONE", *turns, "WHAT STOPS THE NEXT ONE", right=("ALONE", "TOGETHER")
        )
        for number, room in enumerate(answer.pods):
            fits = (f"{together[number]:,}",) if together else ()
            table.add_row(room.title, f"{room.fits:,}", *fits, _stop(room))
        screen.print(table)
        for room in answer.pods:
            if room.fits or len(answer.pods) == 1:
                _show_nodes(room, screen, wide=wide, show_all=show_all)
        screen.print()
        for room in answer.pods:
            is_enough = room.fits >= (answer.wanted or 1)
            sign, style = (screen.signs.yes, "green") if is_enough else (screen.signs.no, "red")
            told = Text(f" {self._sentence(room)}")
            screen.print(Text.assemble((sign, f"bold {style}"), told))

    def report(self, document: CapacityAnswer) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import CAPACITY

        pods = document.pods
        facts = [Fact.count(max(len(room.nodes) for room in pods), "node")]
        if len(pods) == 1:
            facts.append(Fact(f"{pods[0].fits:,}", "more fit", not document.enough))
        else:
            facts.append(Fact.count(len(pods), "template", bad=not document.enough))
        return Report(facts, {"capacity": document}, CAPACITY)

    def _sentence(self, room: PodRoom) -> str:
        wanted, add = self.answer.wanted, self.answer.add
        if wanted is None:
            return f"{room.title}: {count(room.fits, 'more pod')}"
        told = f"{room.title}: {room.fits:,} of {wanted:,} wanted"
        if add is None:
            return told
        if not add.found:
            shapes = some(self.shapes)
            return f"{told}; no number of these nodes makes room for the rest: {shapes}"
        nodes = ", ".join(f"{each.nodes:,} x {each.shape}" for each in add.nodes)
        price = "" if add.price is None else f" for {add.price:g}"
        best = "the cheapest mix" if add.price is not None else "the fewest nodes"
        proof = best if add.cheapest else f"{best} of those tried"
        return f"{told}; add {nodes}{price}, then {add.fits:,} fit ({proof})"


def _stop(room: PodRoom) -> str:
    if room.stopped_by:
        return f"{room.stopped_by} of the whole cluster reaches the limit"
    return room.message or ""


def _show_nodes(room: PodRoom, screen: Screen, *, wide: bool, show_all: bool) -> None:
    if not room.nodes:
        return
    nodes = sorted(room.nodes, key=lambda each: (-each.fits, each.name))
    if not show_all and not wide and len(nodes) > MAX_NODES:
        _show_groups(room, screen)
        return
    screen.print_heading(f"Nodes for {room.title}", "copies alone, and why no more")
    table = screen.table("NODE", "FITS", "WHY NO MORE", right=("FITS",), whole=("NODE",))
    for each in nodes:
        table.add_row(each.name, f"{each.fits:,}", _reasons(each, screen))
    screen.print(table)


def _show_groups(room: PodRoom, screen: Screen) -> None:
    """Many nodes are told by what stops them; `--all` lists each."""
    groups: dict[tuple[str, ...], list[NodeRoom]] = {}
    for each in room.nodes:
        groups.setdefault(each.reasons, []).append(each)
    remark = f"{count(len(room.nodes), 'node')}, grouped by why they take no more; --all lists each"
    screen.print_heading(f"Nodes for {room.title}", remark)
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
            some([each.name for each in members]),
        )
    screen.print(table)


def _reasons(each: NodeRoom, screen: Screen) -> str:
    return ", ".join(each.reasons) or screen.signs.nothing
