"""Decisions against the reference scheduler's own, case by case.

The whole corpus is used where it stands beside the repository, a small sample of it otherwise.
"""

from pathlib import Path

import pytest

from podium.parity.cases import Case, family_of, read_case_file
from podium.parity.comparison import Agreement
from podium.parity.judging import judge_case

_ROOT = Path(__file__).parents[2]
_SHARED = _ROOT.parent / "shared" / "parity"
_SAMPLE = Path(__file__).parent / "sample"

FAMILIES = (
    "balancedallocation",
    "dra",
    "dra_devices",
    "imagelocality",
    "interpodaffinity",
    "mixed",
    "nodeaffinity",
    "nodedeclaredfeatures",
    "nodename",
    "nodeports",
    "noderesources",
    "nominated",
    "podtopologyspread",
    "preemption",
    "profiles",
    "schedulinggates",
    "tainttoleration",
    "volumes",
)


def _corpus() -> Path:
    return _SHARED if _SHARED.is_dir() else _SAMPLE


def _cases(family: str) -> list[Case]:
    files = [p for p in _corpus().glob("*.jsonl.gz") if family_of(p) == family]
    assert files, f"no cases of {family} in {_corpus()}"
    return [case for path in files for case in read_case_file(path)]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_recorded_step_is_decided_exactly_alike(family: str) -> None:
    agreement = Agreement(family)
    for case in _cases(family):
        judge_case(case, agreement, keep=2)

    assert agreement.first == []
    assert agreement.exact == agreement.steps > 0


def test_the_committed_sample_has_every_family() -> None:
    assert {family_of(path) for path in _SAMPLE.glob("*.jsonl.gz")} >= set(FAMILIES)
