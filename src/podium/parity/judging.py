"""Deciding a file of cases and tallying how far the answers agree."""

from pathlib import Path
from typing import Any

from podium.parity.cases import Case, family_of, read_case_file
from podium.parity.comparison import FIELDS, Agreement, Difference, compare
from podium.parity.replay import decide
from podium.scheduler.framework.faults import located


def judge_file(path: Path, *, keep: int = 3) -> Agreement:
    """Agreement over one file; the first `keep` differing steps are kept for showing."""
    agreement = Agreement(family_of(path))
    for case in read_case_file(path):
        judge_case(case, agreement, keep=keep)
    return agreement


def judge_case(case: Case, agreement: Agreement, *, keep: int = 3) -> None:
    """Decide a case and compare; a crash counts every step it left undecided as differing."""
    agreement.cases += 1
    answers = _answers(case)
    for index, (step, answer) in enumerate(zip(case.steps, answers, strict=True)):
        if step.expect is None:
            continue
        if isinstance(answer, str):
            differences = [Difference(case.name, index, FIELDS[0], "a decision", answer)]
        else:
            differences = compare(case.name, index, step.expect, answer)
        agreement.add(differences, keep)


def _answers(case: Case) -> list[dict[str, Any] | str]:
    answers: list[dict[str, Any] | str] = []
    try:
        answers.extend(decide(case))
    except Exception as problem:  # a bug must show up as a difference, not end the comparison
        answers.append(f"crash: {located(problem)}")
    answers.extend(["not decided"] * (len(case.steps) - len(answers)))
    return answers
