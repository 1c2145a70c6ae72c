"""A scheduler's record of a pod on a screen: where it is, what was decided, what has happened."""

from collections.abc import Iterator

from podium.commands.console import RichText, Text
from podium.commands.recorded_pod import RecordedDecision, RecordedPodDocument
from podium.commands.tables import Screen, count
from podium.scheduler.explain.pod_log_lines import describe_line


def show_record(record: RecordedPodDocument, screen: Screen) -> None:
    """The last decision as it was really made."""
    _show_head(record, screen)
    decision = record.decision
    if decision is None:
        return
    details = decision.details
    if decision.node is None:
        counted = details.reasons if details is not None and details.reasons else {}
        _show_counts(screen, "Why not", "REASON", counted or decision.rejected_by)
        if decision.message:
            screen.print_heading("Message")
            screen.print(Text(decision.message))
        return
    if details is None:
        screen.print()
        screen.print(Text("its scores are forgotten: many were decided since", style="dim"))
        return
    if details.top_nodes:
        _show_top(decision, screen)


def show_recorded_story(record: RecordedPodDocument, screen: Screen) -> None:
    """Everything that the scheduler remembers of a pod, in order."""
    _show_head(record, screen)
    if record.log:
        screen.print_heading("Story", "as the scheduler has recorded it")
        table = screen.table("TIME", "WHAT", "WHY", whole=("TIME",))
        for entry in record.log:
            why = entry.detail if entry.what == "tried" else ""
            table.add_row(entry.at, Text(describe_line(entry.line)), Text(why))
        screen.print(table)


def _show_head(record: RecordedPodDocument, screen: Screen) -> None:
    profile = f"{record.scheduler_name or 'unknown'}, priority {record.priority or 0}"
    lines: list[tuple[str, RichText]] = [
        ("Pod", Text(record.key, style="bold")),
        ("Place", Text(_place(record))),
    ]
    if record.decision is not None:
        lines.append(("Decision", Text.assemble(*_verdict(record.decision, screen))))
    if record.scheduler_name:
        lines.append(("Profile", Text(profile)))
    for title, text in lines:
        screen.print_titled(title, text)


def _verdict(decision: RecordedDecision, screen: Screen) -> Iterator[tuple[str, str]]:
    fits = decision.node is not None
    yield screen.signs.yes if fits else screen.signs.no, "bold green" if fits else "bold red"
    told = f"attempt {decision.attempt} at {decision.at}"
    if decision.node is not None:
        yield (
            f" {decision.node}, one of {decision.feasible_nodes} that fit of"
            f" {decision.examined_nodes} looked at; {told}",
            "",
        )
    elif decision.is_error:
        yield f" it broke; {told}", ""
    else:
        yield f" no node fits of {decision.examined_nodes} looked at; {told}", ""


def _place(record: RecordedPodDocument) -> str:
    queue, waiting = record.queue, record.waiting
    if waiting is not None:
        by = ", ".join(waiting.plugins)
        return f"waits on {waiting.node} for {by}, until {waiting.deadline} at most"
    if queue is None:
        return f"bound to {record.node}" if record.node else record.place
    if queue.gated_by:
        return f"held back by {queue.gated_by}"
    if queue.backoff_until:
        return f"backs off until {queue.backoff_until}"
    if queue.ahead is not None:
        return f"in the queue, {count(queue.ahead, 'pod')} ahead of it"
    by = ", ".join((*queue.rejected_by, *queue.pending_at))
    last = f", {queue.retried_at} at the latest" if queue.retried_at else ""
    return f"waits for an event that may change the mind of {by or 'a plugin'}{last}"


def _show_counts(screen: Screen, title: str, heading: str, counted: dict[str, int]) -> None:
    if counted:
        screen.print_heading(title)
        table = screen.table("NODES", heading, right=("NODES",))
        for what, nodes in sorted(counted.items(), key=lambda item: -item[1]):
            table.add_row(str(nodes), Text(what))
        screen.print(table)


def _show_top(decision: RecordedDecision, screen: Screen) -> None:
    assert decision.details is not None
    nodes = decision.details.top_nodes
    plugins = list(nodes[0].scores)
    screen.print_heading("Nodes that fit", f"the best {len(nodes)}, weighted scores")
    table = screen.table("NODE", "TOTAL", *plugins, right=("TOTAL", *plugins), whole=("NODE",))
    for node in nodes:
        scores = (str(node.scores[plugin].weighted) for plugin in plugins if plugin in node.scores)
        style = "bold" if node.name == decision.node else ""
        table.add_row(Text(node.name, style=style), str(node.total), *scores)
    screen.print(table)
