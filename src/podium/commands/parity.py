"""`podium parity`: how far decisions agree with recorded ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import NO, OK

if TYPE_CHECKING:
    from podium.commands.console import Console
    from podium.parity.comparison import Agreement, Difference


PROGRAM = Path(__file__)
"""Inside a clone where Podium was installed from one to be edited, as `make setup` does."""


def parity(
    *paths: Annotated[
        Path,
        Parameter(
            help="Case files, or directories of them; without any, the recorded cases of the clone "
            "of Podium that contains the current directory or this program (tests/recorded)."
        ),
    ],
    show: Annotated[int, Parameter(help="Differing steps to show per family.")] = 3,
    output: Annotated[
        Literal["table", "json", "yaml"], Parameter(name=["--output", "-o"], help="What to print.")
    ] = "table",
) -> int:
    """Decide recorded cases again and compare every field with the recording.

    Prints agreement per family and field, and the first differences side by side. Exit code 0
    means that every step agrees.

    Example: podium parity

    Example: podium parity tests/recorded/parity-1.36/volumes.jsonl.gz
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    from podium.commands.console import Console, DescriptionColumn
    from podium.commands.documents import print_list
    from podium.parity.cases import case_files, family_of, find_recorded_cases
    from podium.parity.comparison import judge_file

    files = case_files(paths or find_recorded_cases(Path.cwd(), PROGRAM))
    tallies: list[Agreement] = []
    console = Console(stderr=True)
    columns = (DescriptionColumn(), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("cases", total=len(files))
        for path in files:
            progress.update(task, description=family_of(path))
            tallies.append(judge_file(path, keep=show))
            progress.advance(task)
    if output == "table":
        _print_tables(tallies)
    else:
        print_list("Agreement", map(_as_json, tallies), output)
    return OK if all(t.exact == t.steps for t in tallies) else NO


def _as_json(tally: Agreement) -> dict[str, Any]:
    return {
        "family": tally.family,
        "cases": tally.cases,
        "steps": tally.steps,
        "exact": tally.exact,
        "differing_fields": dict(tally.by_field),
    }


def _print_tables(tallies: list[Agreement]) -> None:
    from rich.table import Table

    from podium.commands.console import Console
    from podium.parity.comparison import FIELDS

    console = Console()
    table = Table(title="Agreement with the recorded decisions")
    table.add_column("family")
    for heading in ("cases", "steps", "exact"):
        table.add_column(heading, justify="right")
    table.add_column("differing fields")
    for tally in [*tallies, _sum(tallies)]:
        style = "bold" if tally.family == "all" else ("green" if tally.exact == tally.steps else "")
        fields = ", ".join(f"{n} {tally.by_field[n]}" for n in FIELDS if tally.by_field[n])
        table.add_row(
            tally.family,
            str(tally.cases),
            str(tally.steps),
            f"{tally.exact} ({_percent(tally)})",
            fields,
            style=style,
        )
    console.print(table)
    for tally in tallies:
        for difference in tally.first:
            _print_difference(console, difference)


def _print_difference(console: Console, difference: Difference) -> None:
    from podium.commands.console import Text
    from podium.parity.comparison import narrow

    heading = f"{difference.case} step {difference.step}: {difference.field}"
    console.print()
    console.print(Text(heading, "bold"))
    for path, expected, found in narrow(difference.expected, difference.found)[:4]:
        place = f" {path}" if path else ""
        console.print(f"  recorded{place}: {expected!r}")
        console.print(f"  decided {place}: {found!r}")


def _sum(tallies: list[Agreement]) -> Agreement:
    from podium.parity.comparison import Agreement

    total = Agreement("all")
    for tally in tallies:
        total.cases += tally.cases
        total.steps += tally.steps
        total.exact += tally.exact
        total.by_field.update(tally.by_field)
    return total


def _percent(tally: Agreement) -> str:
    if not tally.steps:
        return "-"
    if tally.exact == tally.steps:
        return "100 %"
    return f"{min(99.99, 100 * tally.exact / tally.steps):.2f} %"
