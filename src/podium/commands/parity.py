"""`podium parity`: how far decisions agree with recorded ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.answering import IN_ONE_WIDTH, Answer, answers

if TYPE_CHECKING:
    from podium.parity.comparison import Agreement


PROGRAM = Path(__file__)
"""Inside a clone where Podium was installed from one to be edited, as `make setup` does."""


@answers("parity", IN_ONE_WIDTH)
def parity(
    *paths: Annotated[
        Path,
        Parameter(
            help="Case files, or directories of them; without any, the recorded cases of the clone "
            "of Podium that contains the current directory or this program (tests/recorded)."
        ),
    ],
    show: Annotated[int, Parameter(help="Differing steps to show per family.")] = 3,
) -> Answer:
    """Decide recorded cases again and compare every field with the recording.

    Prints agreement per family and field, and the first differences side by side. Exit code 0
    means that every step agrees.

    Example: podium parity

    Example: podium parity tests/recorded/parity-1.36/volumes.jsonl.gz
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    from podium.commands.console import Console, DescriptionColumn
    from podium.commands.parity_view import AgreementView
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
    return AgreementView(tallies)
