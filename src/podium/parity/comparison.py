"""How far decisions agree with recorded ones: field by field, and over a file of cases.

A step agrees when every field does. Where the recording leaves freedom (ties between errors of
several nodes) any of the recorded texts is right, as the corpus describes.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from podium.parity.cases import Case, family_of, read_case_file
from podium.parity.replay import decide
from podium.scheduler.framework.faults import locate_problem

FIELDS = (
    "preenqueue",
    "prefilter",
    "filter",
    "prescore_skipped",
    "scores",
    "total",
    "best",
    "bound",
    "message",
    "preemption",
    "reserve",
)


@dataclass(slots=True)
class Difference:
    case: str
    step: int
    field: str
    expected: Any
    found: Any


@dataclass(slots=True)
class Agreement:
    """One family's tally."""

    family: str
    cases: int = 0
    steps: int = 0
    exact: int = 0
    crashed: int = 0
    by_field: Counter[str] = field(default_factory=Counter)
    first: list[Difference] = field(default_factory=list)

    def add(self, differences: list[Difference], keep: int) -> None:
        self.steps += 1
        if not differences:
            self.exact += 1
        for difference in differences:
            self.by_field[difference.field] += 1
        if differences and len({(d.case, d.step) for d in self.first}) < keep:
            self.first.extend(differences)


def compare(
    case: str, step: int, expected: dict[str, Any], found: dict[str, Any]
) -> list[Difference]:
    return [
        Difference(case, step, name, expected.get(name), found.get(name))
        for name in FIELDS
        if expected.get(name) != found.get(name) and not _equivalent(name, expected, found)
    ]


def _equivalent(name: str, expected: dict[str, Any], found: dict[str, Any]) -> bool:
    """When filters broke on several nodes, the message may be any of their texts."""
    if name != "message":
        return False
    errors = {
        reason
        for status in expected["filter"].values()
        if status and status["code"] == "Error"
        for reason in status["reasons"]
    }
    return found.get("message") in errors and expected["message"] in errors


def narrow(expected: Any, found: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """The smallest differing parts of two values, with their paths."""
    if isinstance(expected, dict) and isinstance(found, dict):
        parts: list[tuple[str, Any, Any]] = []
        for key in sorted({*expected, *found}):
            if expected.get(key) != found.get(key):
                inner = f"{path}.{key}" if path else str(key)
                parts.extend(narrow(expected.get(key), found.get(key), inner))
        return parts
    return [(path, expected, found)]


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
        answers.append(f"crash: {locate_problem(problem)}")
    answers.extend(["not decided"] * (len(case.steps) - len(answers)))
    return answers
