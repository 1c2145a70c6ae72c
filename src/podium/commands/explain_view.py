"""A pod's decision on a screen: a matrix of nodes by plugins, as small as it can be.

Plugins that gave every node the same have no say in the choice and are told in one line (`-o wide`
has them all). Nodes that do not fit are counted by reason, so that five thousand of them take no
more room than ten.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podium.commands.console import RichText, Text, stack_lines
from podium.commands.explain_document import ExplanationDocument
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.node_view import format_score, show_node
from podium.commands.tables import COLUMN_GAP, Heading, Screen, count, some
from podium.offline.simulate import ExplainedPod, PodOutcome, SimulationReport
from podium.scheduler.engine.decision import Consulted, Decision
from podium.scheduler.explain.explanation import Explanation, Ranked
from podium.scheduler.framework.status import Code

MAX_OTHER_CAUSES = 3
_WORD_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class ExplanationView(ReviewedAnswer):
    """`node` is the only one that was asked about, `top` how many are listed otherwise; `groups`
    are those in which a Policy's time explained filters, by plugin."""

    found: ExplainedPod
    review: SimulationReport
    notes: Sequence[str]
    notes_on_terminal: Sequence[str]
    has_crashed: bool
    groups: Mapping[str, str]
    node: str | None
    top: int

    @property
    def pod_key(self) -> str:
        return self.found.result.key

    @property
    def shown_notes(self) -> Sequence[str]:
        return self.notes_on_terminal

    @property
    def is_yes(self) -> bool:
        return self.found.result.placed

    def answer_document(self) -> ExplanationDocument:
        return ExplanationDocument.of(self.found, only_node=self.node, groups=self.groups)

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        _show_causes(self.found, screen)
        _show_head(self.found, screen)
        last, widest = self.found.last, self.found.widest
        if last is None or widest is None:
            return
        if self.node is not None:
            show_node(widest, self.node, screen)
            return
        _show_attempts(self.found, screen)
        if last.feasible_count:
            _show_ranking(last, screen, wide=wide, top=self.top)
            _show_lead(last, screen)
            _show_devices(last, screen, top=self.top)
        _show_rejections(widest, screen)
        if self.groups:
            _show_groups(widest, screen, self.groups)
        if wide:
            _show_verdicts(widest, screen, top=self.top)
        _show_consulted(widest.decision, screen)
        _show_message(widest.decision, screen)


def _show_head(explained: ExplainedPod, screen: Screen) -> None:
    result = explained.result
    lines = [
        ("Pod", Text(result.key, style="bold")),
        ("Decision", _verdict(explained, screen)),
        *([("Gets", Text(result.reserved))] if result.placed and result.reserved else ()),
        ("Premise", Text(explained.premise)),
        (
            "Profile",
            Text(f"{result.pod.spec.scheduler_name}, priority {result.pod.spec.priority or 0}"),
        ),
    ]
    for title, text in lines:
        screen.print_titled(title, text)


def _show_causes(explained: ExplainedPod, screen: Screen) -> None:
    """The cause in a sentence, before everything else; then what else stands in the way."""
    if not explained.causes:
        return
    first, *others = explained.causes
    screen.print(Text(first.sentence, style="bold"))
    for cause in others[:MAX_OTHER_CAUSES]:
        screen.print(f"{screen.signs.nothing} {cause.sentence}", style="dim")
    screen.print()


def _verdict(explained: ExplainedPod, screen: Screen) -> RichText:
    result, last = explained.result, explained.last
    if last is None or not result.placed:
        bad = result.outcome in (PodOutcome.UNSCHEDULABLE, PodOutcome.ERROR)
        found = last is not None and last.feasible_count > 0  # and the pod was turned away later
        unfit = result.outcome is PodOutcome.UNSCHEDULABLE and not found
        words = "no node fits" if unfit else result.message
        return Text.assemble((screen.signs.no, "bold red" if bad else "yellow"), f" {words}")
    fits, best = last.feasible_count, len(last.decision.best_rows)
    if last.on_nominated_node:
        words = "which it was nominated for"
    elif fits <= 1:
        words = f"the only node that fits of {last.node_count:,}"
    elif best > 1 and last.decision.total is not None:
        words = (
            f"one of {best:,} best among {fits:,} that fit of {last.node_count:,} (--seed picks)"
        )
    else:
        words = f"the best of {fits:,} that fit of {last.node_count:,}"
    where = Text(result.node, style="bold")
    return Text.assemble((screen.signs.yes, "bold green"), " ", where, f", {words}")


def _show_attempts(explained: ExplainedPod, screen: Screen) -> None:
    if len(explained.attempts) < 2:
        return
    screen.print_heading("Attempts")
    for explanation in explained.attempts:
        decision = explanation.decision
        screen.print(f"{decision.attempt}  {_attempt(decision)}")


def _attempt(decision: Decision) -> str:
    if decision.bound:
        return f"placed on {decision.bound}"
    outcome = decision.post_filter
    if outcome is not None and outcome.code is Code.SUCCESS:
        victims = some([victim.key for victim in outcome.victims])
        return f"no node fits; evicts {victims} from {outcome.nominated_node}"
    return "no node fits"


# --- nodes that fit ---------------------------------------------------------------------------


def _show_ranking(explanation: Explanation, screen: Screen, *, wide: bool, top: int) -> None:
    ranked = explanation.rank_nodes(top)
    remark = f"{explanation.feasible_count:,} of {explanation.node_count:,}"
    weights = explanation.weights
    even = {} if wide or len(ranked) < 2 else _even_plugins(explanation)
    plugins = [plugin for plugin in weights if plugin not in even]
    if plugins:
        shown = f"raw {screen.signs.arrow} normalised {screen.signs.arrow} weighted"
        remark += f"; {shown if wide else 'weighted'} scores by plugin"
    screen.print_heading("Nodes that fit", remark)
    if explanation.decision.total is None:
        names = [entry.name for entry in ranked]
        alone = "; with one node there is nothing to score" if len(names) == 1 else ""
        screen.print(some(names, top) + alone)
        return
    columns = [
        _ScoreColumn(
            (*_WORD_BREAK.split(plugin), f"x{weights[plugin]}"),
            [
                format_score(entry.scores[plugin], screen)
                if wide
                else str(entry.scores[plugin].weighted)
                for entry in ranked
            ],
        )
        for plugin in plugins
    ]
    names_width = max(len("NODE"), *(len(entry.name) for entry in ranked))
    room = screen.width - len("RANK") - names_width - len("TOTAL") - 2 * COLUMN_GAP
    for number, some_columns in enumerate(_split_columns(columns, room)):
        if number:
            screen.print()
        _print_ranking(explanation, ranked, some_columns, screen)
    left = explanation.feasible_count - len(ranked)
    if left:
        screen.print(f"and {count(left, 'more node')}; --top lists more", style="dim")
    if even:
        told = ", ".join(f"{plugin} {score}" for plugin, score in even.items())
        screen.print(f"the same for every node: {told}", style="dim")


class _ScoreColumn(NamedTuple):
    """A plugin's heading in lines, and what it gave each node."""

    heading: tuple[str, ...]
    cells: list[str]

    @property
    def width(self) -> int:
        return max(len(text) for text in (*self.heading, *self.cells))


def _split_columns(columns: Sequence[_ScoreColumn], room: int) -> Iterator[list[_ScoreColumn]]:
    """As many side by side as there is room for, so that neither words nor scores are broken; at
    least one."""
    chosen: list[_ScoreColumn] = []
    for column in columns:
        taken = sum(each.width + COLUMN_GAP for each in (*chosen, column))
        if chosen and taken > room:
            yield chosen
            chosen = []
        chosen.append(column)
    yield chosen


def _print_ranking(
    explanation: Explanation,
    ranked: Sequence[Ranked],
    columns: Sequence[_ScoreColumn],
    screen: Screen,
) -> None:
    headings = [stack_lines(column.heading) for column in columns]
    right: list[Heading] = ["RANK", "TOTAL", *headings]
    fixed = ("RANK", "NODE", "TOTAL")
    table = screen.table(*fixed, *headings, right=right, whole=(*fixed, *headings))
    for at, entry in enumerate(ranked):
        chosen = entry.name == explanation.decision.chosen
        style = "bold green" if chosen else None
        cells = [column.cells[at] for column in columns]
        table.add_row(str(entry.rank), entry.name, str(entry.total), *cells, style=style)
    screen.print(table)


def _even_plugins(explanation: Explanation) -> dict[str, int]:
    """Plugins whose weighted score is the same on all nodes that fit, with that score."""
    return {
        scores.plugin: int(scores.normalized[0]) * scores.weight
        for scores in explanation.decision.scores
        if int(scores.normalized.min()) == int(scores.normalized.max())
    }


def _show_lead(explanation: Explanation, screen: Screen) -> None:
    """Where the best node's lead over the next one comes from."""
    best = explanation.rank_nodes(1)[0]
    second = _runner_up(explanation, best)
    if second is None or best.total is None or second.total is None:
        return
    lead = best.total - second.total
    screen.print_heading(
        "Where the lead comes from", f"{best.name} is {lead} ahead of {second.name}"
    )
    table = screen.table(
        "PLUGIN",
        "WEIGHT",
        best.name,
        second.name,
        "LEAD",
        right=("WEIGHT", best.name, second.name, "LEAD"),
        whole=("PLUGIN", "WEIGHT", "LEAD"),
    )
    for plugin, weight in explanation.weights.items():
        ours, theirs = best.scores[plugin], second.scores[plugin]
        difference = ours.weighted - theirs.weighted
        if difference:
            table.add_row(
                plugin,
                f"x{weight}",
                format_score(ours, screen),
                format_score(theirs, screen),
                f"{difference:+}",
            )
    table.add_section()
    table.add_row("total", "", str(best.total), str(second.total), f"{lead:+}", style="bold")
    screen.print(table)


def _show_devices(explanation: Explanation, screen: Screen, *, top: int) -> None:
    """How many devices of drivers were in use on the best nodes, for pods that claim some."""
    uses = [(entry.name, explanation.devices(entry.name)) for entry in explanation.rank_nodes(top)]
    drivers = sorted({driver for _, found in uses for driver in found})
    if not drivers:
        return
    screen.print_heading("Devices", "in use of those that a node has, before the pod")
    table = screen.table("NODE", *drivers, right=drivers, whole=("NODE",))
    for name, found in uses:
        shown = (
            f"{found[d].before} of {found[d].allocatable}" if d in found else "" for d in drivers
        )
        table.add_row(name, *shown)
    screen.print(table)


def _runner_up(explanation: Explanation, best: Ranked) -> Ranked | None:
    total = explanation.decision.total
    if best.total is None or total is None or not (total < best.total).any():
        return None
    at_top = int((total == best.total).sum())
    return explanation.rank_nodes(at_top + 1)[-1]


# --- nodes that do not ------------------------------------------------------------------------


def _show_rejections(explanation: Explanation, screen: Screen) -> None:
    groups = explanation.rejections()
    if not groups:
        return
    nodes = sum(len(group.nodes) for group in groups)
    title = "Nodes that do not fit"
    if explanation.decision.post_filter is not None and explanation.decision.post_filter.victims:
        title = "Nodes that did not fit before the eviction"
    screen.print_heading(title, f"{nodes:,} of {explanation.node_count:,}")
    table = screen.table(
        "NODES",
        "PLUGIN",
        "REASON",
        "EVICTION",
        "SUCH AS",
        right=("NODES",),
        whole=("NODES", "PLUGIN"),
    )
    for group in groups:
        helps = "may help" if group.status.code is Code.UNSCHEDULABLE else "of no use"
        if not group.status.plugin:
            helps = screen.signs.nothing
        table.add_row(
            f"{len(group.nodes):,}",
            group.status.plugin or screen.signs.nothing,
            group.status.message,
            helps,
            some(group.nodes),
        )
    screen.print(table)


def _show_groups(explanation: Explanation, screen: Screen, groups: Mapping[str, str]) -> None:
    """Filters as texts about Policies group them, with how many nodes each group refuses."""
    examined = explanation.examination
    refused: Counter[str] = Counter()
    for rejected in explanation.rejections():
        refused[groups.get(rejected.status.plugin, "")] += len(rejected.nodes)
    screen.print_heading("Predicates", "as a Policy groups them")
    table = screen.table("GROUP", "FILTERS", "NODES REFUSED", right=("NODES REFUSED",))
    for group in dict.fromkeys(groups.values()):
        filters = [
            name for name in (*examined.plugins, *examined.skipped) if groups.get(name) == group
        ]
        if filters:
            table.add_row(group, ", ".join(filters), f"{refused[group]:,}")
    screen.print(table)


def _show_verdicts(explanation: Explanation, screen: Screen, *, top: int) -> None:
    """Filters by nodes: what each of them says, asked or not."""
    plugins = explanation.examination.plugins
    if not plugins:
        return
    names = [entry.name for entry in explanation.rank_nodes(top)]
    names += [name for group in explanation.rejections() for name in group.nodes]
    names = names[:top]
    screen.print_heading("Filters", f"asked about {len(names)} of {explanation.node_count:,} nodes")
    columns = [stack_lines(_WORD_BREAK.split(plugin)) for plugin in plugins]
    table = screen.table("NODE", *columns, whole=("NODE",))
    for name in names:
        objections = explanation.objections(name)
        cells = [
            Text(screen.signs.no, style="red")
            if plugin in objections
            else Text(screen.signs.yes, style="green")
            for plugin in plugins
        ]
        table.add_row(name, *cells)
    screen.print(table)
    if explanation.examination.skipped:
        skipped = ", ".join(explanation.examination.skipped)
        screen.print(f"nothing to check for: {skipped}", style="dim")


def _show_message(decision: Decision, screen: Screen) -> None:
    outcome = decision.post_filter
    if outcome is not None and outcome.victims:
        screen.print_heading("Preemption")
        victims = ", ".join(victim.key for victim in outcome.victims)
        screen.print(f"evicting {victims} makes room on {outcome.nominated_node}")
    if decision.message:
        screen.print_heading("Message", "as in the pod's events")
        screen.print(decision.message)


def _show_consulted(decision: Decision, screen: Screen) -> None:
    """A line for each time that one was asked."""
    if not decision.consulted:
        return
    screen.print_heading("Extenders", "in the order in which they were asked")
    table = screen.table("EXTENDER", "VERB", "ASKED ABOUT", "ANSWER", whole=("EXTENDER", "VERB"))
    for line in decision.consulted:
        style = None if not line.problem else ("yellow" if line.ignored else "red")
        asked = count(line.asked, "node")
        table.add_row(line.url_prefix, line.verb, asked, _format_answer(line), style=style)
    screen.print(table)


def _format_answer(line: Consulted) -> str:
    if line.problem:
        return f"failed, which was ignored: {line.problem}" if line.ignored else line.problem
    return count(line.kept, "node")
