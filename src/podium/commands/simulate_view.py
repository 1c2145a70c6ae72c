"""A simulation's report on a screen, and never much more than a screen of it.

A few pods are listed one by one. Thousands are grouped by the workload they belong to, failures by
their cause, and of many nodes the fullest are shown; `--all` lists everything.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from rich.table import Table

from podium.commands.answering import Answer
from podium.commands.console import RichText, Text, stack_lines
from podium.commands.input_warnings import review_fields, show_input_warnings
from podium.commands.tables import Screen, count, percent, some
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from podium.offline.simulate import PodOutcome, PodResult, SimulationReport
from podium.offline.simulate.report import group_by_cause
from podium.offline.simulate.simulation_answer import SimulationAnswer
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.decision_digest import why
from podium.scheduler.explain.explanation import Use

MAX_PODS = 25
MAX_GROUPS = 15
MAX_FAILURES = 8
MAX_NODES = 15

MAX_BAR, FEWEST_BAR = 16, 4

_MEASURED = (CPU, MEMORY, EPHEMERAL_STORAGE)
_HEADINGS = {CPU: "CPU", MEMORY: "MEMORY", PODS: "PODS"}
_ALL_NODES = "all nodes"
_SPACE_PER_COLUMN = 4

_HASH_SUFFIX = re.compile(r"-[a-z0-9]{4,10}$")
_NUMBER_SUFFIX = re.compile(r"-?\d+$")


@dataclass(frozen=True)
class SimulationView(Answer):
    """`page` is the file for browsers, made while the engine was there."""

    found: SimulationReport
    has_crashed: bool
    page: bytes = b""
    has_timeline: bool = False

    @property
    def is_yes(self) -> bool:
        return self.found.all_fit

    def document(self) -> SimulationAnswer:
        answer = SimulationAnswer.of(self.found, timeline=self.has_timeline)
        return replace(answer, **review_fields(self.found))

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        show_input_warnings(self.found, screen)
        show_report(self.found, screen, wide=wide, show_all=show_all, timeline=self.has_timeline)

    def make_page(self, document: Callable[[], Any], command: str) -> bytes:  # noqa: ARG002
        return self.page


def show_report(
    report: SimulationReport, screen: Screen, *, wide: bool, show_all: bool, timeline: bool = False
) -> None:
    placed = [result for result in report.pods if result.placed]
    if placed:
        if show_all or len(placed) <= MAX_PODS:
            _show_placed(placed, screen, wide=wide)
        else:
            _show_groups(report.pods, screen)
    _show_failures([r for r in report.pods if not r.placed], screen, show_all=show_all)
    _show_evictions(report, screen, show_all=show_all)
    if timeline:
        from podium.commands.timeline_view import show_timeline

        show_timeline(report.timeline, screen, show_all=show_all)
    _show_nodes(report, screen, show_all=show_all)
    _show_summary(report, screen)


# --- pods -------------------------------------------------------------------------------------


def _show_placed(results: list[PodResult], screen: Screen, *, wide: bool) -> None:
    screen.print_heading("Placed", count(len(results), "pod"))
    extra = ("PRIORITY", "FIT", "TRIES") if wide else ()
    has_reserved = any(result.reserved for result in results)
    table = screen.table(
        "POD",
        "NODE",
        "SCORE",
        *extra,
        *(("GETS",) if has_reserved else ()),
        "WHY",
        right=("SCORE", "PRIORITY", "FIT", "TRIES"),
        whole=("POD", "NODE", "SCORE"),
    )
    for result in results:
        digest = result.digest
        score = screen.signs.nothing if digest.score is None else str(digest.score)
        more = (
            str(result.pod.spec.priority or 0),
            f"{digest.feasible_nodes}/{digest.examined_nodes}",
            str(result.attempts),
        )
        told = why(digest, result.victims)
        gets = (result.reserved,) if has_reserved else ()
        table.add_row(result.key, result.node, score, *(more if wide else ()), *gets, told)
    screen.print(table)


def _show_groups(results: list[PodResult], screen: Screen) -> None:
    groups: dict[str, list[PodResult]] = {}
    for result in results:
        groups.setdefault(workload_of(result.pod), []).append(result)
    largest = sorted(groups.items(), key=lambda kv: -len(kv[1]))
    placed = sum(result.placed for result in results)
    remark = f"{count(placed, 'pod')}, grouped by workload; --all lists each of them"
    screen.print_heading("Placed", remark)
    table = screen.table(
        "WORKLOAD",
        "PODS",
        "PLACED",
        "NODES",
        "PER NODE",
        "SCORES",
        right=("PODS", "PLACED", "NODES", "PER NODE"),
    )
    for workload, members in largest[:MAX_GROUPS]:
        nodes = Counter(member.node for member in members if member.placed)
        table.add_row(
            workload,
            f"{len(members):,}",
            f"{nodes.total():,}",
            f"{len(nodes):,}",
            _range(nodes.values(), screen),
            _range((m.digest.score for m in members if m.digest.score is not None), screen),
        )
    screen.print(table)
    left = largest[MAX_GROUPS:]
    if left:
        pods = sum(len(members) for _, members in left)
        screen.print(f"and {count(len(left), 'more workload')} with {count(pods, 'pod')}")


def _range(numbers: Iterable[int], screen: Screen) -> str:
    found = list(numbers)
    if not found:
        return screen.signs.nothing
    low, high = min(found), max(found)
    return str(low) if low == high else f"{low} to {high}"


def workload_of(pod: Pod) -> str:
    """The workload a pod belongs to; pods without an owner go by their name without its number."""
    namespace = pod.metadata.namespace
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            if owner.kind == "ReplicaSet" and "pod-template-hash" in (pod.metadata.labels or {}):
                return f"{namespace}/{_HASH_SUFFIX.sub('', owner.name)} (Deployment)"
            return f"{namespace}/{owner.name} ({owner.kind})"
    base = _NUMBER_SUFFIX.sub("", pod.metadata.name)
    return (
        f"{namespace}/{pod.metadata.name}" if base == pod.metadata.name else f"{namespace}/{base}*"
    )


# --- pods without a place ---------------------------------------------------------------------

_TITLES = {
    PodOutcome.UNSCHEDULABLE: "No node fits",
    PodOutcome.PREEMPTED: "Placed, then preempted",
    PodOutcome.ERROR: "Failed",
    PodOutcome.GATED: "Held back by a gate",
    PodOutcome.NOT_OURS: "For another scheduler",
    PodOutcome.TERMINATING: "On their way out",
}
_TURNED_AWAY = "Turned away from the node they had"
_BAD = (PodOutcome.UNSCHEDULABLE, PodOutcome.PREEMPTED, PodOutcome.ERROR)


def _show_failures(results: list[PodResult], screen: Screen, *, show_all: bool) -> None:
    groups_by_title: dict[tuple[PodOutcome, str], list[PodResult]] = {
        (outcome, title): [] for outcome, title in _TITLES.items()
    }
    for result in results:
        title = _TITLES[result.outcome]
        if result.outcome is PodOutcome.UNSCHEDULABLE and result.turned_away_from:
            title = _TURNED_AWAY
        groups_by_title.setdefault((result.outcome, title), []).append(result)
    for (outcome, title), members in groups_by_title.items():
        if not members:
            continue
        screen.print_heading(title, count(len(members), "pod"))
        groups = group_by_cause(members)
        shown = groups if show_all else groups[:MAX_FAILURES]
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        sign = screen.signs.no if outcome in _BAD else screen.signs.nothing
        for cause, group in shown:
            keys = [result.key for result in group]
            names = ", ".join(keys) if show_all else some(keys)
            text = stack_lines((Text(names, "bold"), *_why(cause, group)))
            table.add_row(Text(sign, style="red" if outcome in _BAD else "dim"), text)
        screen.print(table)
        if len(shown) < len(groups):
            left = groups[len(shown) :]
            pods = sum(len(group) for _, group in left)
            screen.print(f"  and {count(pods, 'more pod')} for {count(len(left), 'other cause')}")


def _why(cause: Cause | None, group: list[PodResult]) -> list[RichText | str]:
    """The cause, and the message that events and alerts have; both are those of the first pod."""
    first = group[0]
    if cause is None:
        return [first.message]
    alike = all(result.causes[0].sentence == cause.sentence for result in group)
    told = cause.sentence if alike else f"{first.key}: {cause.sentence}"
    return [told, Text(first.message, style="dim")] if first.message else [told]


def _show_evictions(report: SimulationReport, screen: Screen, *, show_all: bool) -> None:
    if not report.evictions:
        return
    screen.print_heading("Evicted", f"{count(len(report.evictions), 'pod')}, to make room")
    table = screen.table("POD", "PRIORITY", "NODE", "FOR", right=("PRIORITY",))
    shown = report.evictions if show_all else report.evictions[:MAX_FAILURES]
    for eviction in shown:
        priority = str(eviction.victim.spec.priority or 0)
        table.add_row(eviction.key, priority, eviction.node, eviction.by)
    screen.print(table)
    left = len(report.evictions) - len(shown)
    if left:
        screen.print(f"and {count(left, 'more pod')}")


# --- nodes ------------------------------------------------------------------------------------


def _show_nodes(report: SimulationReport, screen: Screen, *, show_all: bool) -> None:
    use = report.utilisation
    names = list(use.nodes)
    remark = "requested of allocatable, before " + screen.signs.arrow + " after"
    if not show_all and len(names) > MAX_NODES:
        fullest = sorted(names, key=lambda name: (-use.fullness(name), name))
        names = sorted(fullest[: MAX_NODES - 3])
        remark += f"; the {len(names)} fullest of {len(use.nodes):,}, --all lists every node"
    screen.print_heading("Nodes", remark)
    rows = {name: [use.of(name, resource) for resource in use.resources] for name in names}
    rows[_ALL_NODES] = [use.total(resource) for resource in use.resources]
    numbers = {
        name: [_numbers(r, u, screen) for r, u in zip(use.resources, uses, strict=True)]
        for name, uses in rows.items()
    }
    width = _bar_width(numbers, screen)
    headings = [_HEADINGS.get(resource, resource) for resource in use.resources]
    table = screen.table("NODE", *headings, whole=("NODE",))
    for name, uses in rows.items():
        if name == _ALL_NODES:
            table.add_section()
        cells = [_cell(u, text, screen, width) for u, text in zip(uses, numbers[name], strict=True)]
        table.add_row(name, *cells, style="bold" if name == _ALL_NODES else None)
    screen.print(table)


def _numbers(resource: str, use: Use, screen: Screen) -> str:
    """Shares of what is measured, counts of what is counted."""
    if not use.allocatable and not use.after:
        return ""
    if resource in _MEASURED:
        before, after, end = percent(use.fraction_before), percent(use.fraction_after), ""
    else:
        before, after, end = f"{use.before:,}", f"{use.after:,}", f" of {use.allocatable:,}"
    change = after if use.before == use.after else f"{before} {screen.signs.arrow} {after}"
    return change + end


def _bar_width(numbers: dict[str, list[str]], screen: Screen) -> int:
    """How long bars can be beside the numbers; 0 if there is no room for any."""
    columns = list(zip(*numbers.values(), strict=True))
    taken = max(map(len, numbers)) + sum(max(map(len, column)) for column in columns)
    spare = (screen.width - taken) // len(columns) - _SPACE_PER_COLUMN
    return min(MAX_BAR, spare) if spare >= FEWEST_BAR else 0


def _cell(use: Use, text: str, screen: Screen, width: int) -> RichText:
    if not text:
        return Text(screen.signs.nothing, style="dim")
    if not width:
        return Text(text)
    return Text.assemble(screen.bar(use.fraction_before, use.fraction_after, width), f" {text}")


# --- the end ----------------------------------------------------------------------------------

_WORDS = {
    PodOutcome.PLACED: "placed",
    PodOutcome.UNSCHEDULABLE: "without a node",
    PodOutcome.PREEMPTED: "preempted again",
    PodOutcome.ERROR: "failed",
    PodOutcome.GATED: "gated",
    PodOutcome.NOT_OURS: "for another scheduler",
    PodOutcome.TERMINATING: "terminating",
}


def _show_summary(report: SimulationReport, screen: Screen) -> None:
    screen.notes(report.notes)
    pods, nodes = (
        count(len(report.pods), "pending pod"),
        count(len(report.utilisation.nodes), "node"),
    )
    parts = [
        f"{report.count(outcome):,} {word}"
        for outcome, word in _WORDS.items()
        if report.count(outcome)
    ]
    told = ", ".join(parts) if parts else "nothing to do"
    if report.evictions:
        told += f"; {count(len(report.evictions), 'pod')} evicted"
    sign = screen.signs.yes if report.all_fit else screen.signs.no
    style = "bold green" if report.all_fit else "bold red"
    screen.print()
    screen.print(Text.assemble((sign, style), f" {pods} on {nodes}: {told}"))
