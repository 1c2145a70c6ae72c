"""The lives of pods on a screen, one row each, or a row for all pods with the same life.

A few pods are listed one by one with every step; thousands are grouped by what happened to them.
`--all` lists each pod in any case.
"""

from podium.commands.console import RichText, Text
from podium.commands.pod_log_words import describe_step, format_seconds
from podium.commands.tables import Screen, count, some
from podium.offline.simulate.timeline import LifeGroup, LifeStep, Timeline
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.pod_log_lines import describe_line

MAX_PODS = 25
MAX_GROUPS = 12
MAX_STEPS = 12
_FIRST_STEPS, _LAST_STEPS = 6, 5


def show_timeline(timeline: Timeline, screen: Screen, *, show_all: bool) -> None:
    pods = timeline.pods()
    length = f"seconds of virtual time; {count(len(pods), 'pod')} in {timeline.length_s():,.3f} s"
    if show_all or len(pods) <= MAX_PODS:
        screen.print_heading("Timeline", length)
        _show_lives(timeline, screen, show_all=show_all)
    else:
        screen.print_heading(
            "Timeline", f"{length}, grouped by what happened; --all lists each pod"
        )
        _show_groups(timeline.groups(), screen)


def _show_lives(timeline: Timeline, screen: Screen, *, show_all: bool) -> None:
    table = screen.table("POD", "LIFE", whole=("POD",))
    for key, life in timeline.lives():
        table.add_row(key, _life(life, screen, show_all=show_all))
    screen.print(table)


def _life(life: list[Line], screen: Screen, *, show_all: bool) -> RichText:
    steps = [_moment(line) for line in life]
    if not show_all and len(steps) > MAX_STEPS:
        left = len(steps) - _FIRST_STEPS - _LAST_STEPS
        more = Text(f"... {count(left, 'more step')} ...", style="dim")
        steps = [*steps[:_FIRST_STEPS], more, *steps[-_LAST_STEPS:]]
    return Text(f" {screen.signs.arrow} ").join(steps)


def _moment(line: Line) -> RichText:
    return Text.assemble((format_seconds(line.at), "dim"), " ", describe_line(line))


def _show_groups(groups: list[LifeGroup], screen: Screen) -> None:
    table = screen.table("PODS", "SUCH AS", "LIFE", right=("PODS",))
    for group in groups[:MAX_GROUPS]:
        steps = Text(f" {screen.signs.arrow} ").join(_step(step) for step in group.steps)
        table.add_row(f"{len(group.pods):,}", some(group.pods, 2), steps)
    screen.print(table)
    left = groups[MAX_GROUPS:]
    if left:
        pods = sum(len(group.pods) for group in left)
        lives = count(len(left), "more life").replace("lifes", "lives")
        screen.print(f"and {lives} of {count(pods, 'pod')}")


def _step(step: LifeStep) -> RichText:
    first, last = format_seconds(step.earliest_s), format_seconds(step.latest_s)
    when = first if first == last else f"{first} to {last}"
    return Text.assemble((when, "dim"), " ", describe_step(step))
