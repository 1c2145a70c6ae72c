"""Follow a walkthrough as a reader would: write its files, type its commands, compare.

The directory is empty but for `examples` and `deploy`, the repository's; `podium` and
`kubectl` are on the path. A page starts its cluster itself (`podium up ... &`), waits for what it
needs with commands that it shows (`kubectl wait ...`), and may leave output out with a line `...`.
A command in the background has to print what is shown before the next one is typed.
"""

from pathlib import Path

from support.waiting import PATIENCE_S, Deadline, look_again
from support.walkthroughs.page_steps import CommandStep, FileStep, page_steps
from support.walkthroughs.shell import Job, Shell, TooSlow, shell
from support.walkthroughs.shown_output import LEFT_OUT, is_shown

ROOT = Path(__file__).parents[3]


def follow(page: Path, directory: Path) -> None:
    """Fails at the first command that does not print what the page shows."""
    reader, scratch = directory / "reader", directory / "scratch"
    reader.mkdir()
    scratch.mkdir()
    for name in ("examples", "deploy"):
        (reader / name).symlink_to(ROOT / name)
    with shell(reader, scratch) as opened:
        for step in page_steps(page):
            if isinstance(step, FileStep):
                (reader / step.name).write_text(step.text)
            elif step.is_background:
                _start(page, step, opened)
            else:
                _run(page, step, opened)
        _end_jobs(page, opened)


def _run(page: Path, step: CommandStep, opened: Shell) -> None:
    try:
        ended = opened.run(step.command, PATIENCE_S)
    except TooSlow:
        raise AssertionError(_told(page, step, ["(still running)"], opened.jobs)) from None
    matches = is_shown(step.shown, ended.printed)
    # What ends badly says why, and the page shows it.
    if not matches or (ended.code != 0 and not step.shown):
        printed = [*ended.printed, f"(exit code {ended.code})"]
        raise AssertionError(_told(page, step, printed, opened.jobs))


def _start(page: Path, step: CommandStep, opened: Shell) -> None:
    job = opened.start(step.command)
    deadline = Deadline()
    while True:
        is_over = not job.is_running() or deadline.has_passed
        if is_shown([*step.shown, LEFT_OUT], job.printed()):
            return
        if is_over:
            raise AssertionError(_told(page, step, job.printed(), opened.jobs))
        look_again()


def _end_jobs(page: Path, opened: Shell) -> None:
    for job in reversed(opened.jobs):
        code = opened.end(job)
        said = "\n".join(job.printed())
        assert code == 0, f"{page.name}: a command in the background ended with {code}:\n{said}"
        for trouble in ("Traceback", "ResourceWarning"):
            assert trouble not in said, f"{page.name}: {said}"


def _told(page: Path, step: CommandStep, printed: list[str], jobs: list[Job]) -> str:
    """Where it went wrong, and what the cluster said last."""
    parts = [
        f"{page.name}:{step.line}: $ {step.command}",
        "expected:",
        *(f"    {line}" for line in step.shown),
        "got:",
        *(f"    {line}" for line in printed),
    ]
    for job in jobs:
        parts += ["in the background:", *(f"    {line}" for line in job.printed()[-15:])]
    return "\n".join(parts)
