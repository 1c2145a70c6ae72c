"""Decisions against the reference scheduler's own, case by case.

A family is a test, so that they can run beside each other; its file is read when the test runs.
"""

import pytest
from support.recorded_cases import PARITY

from podium.parity.cases import family_of
from podium.parity.comparison import judge_file

FAMILIES = {
    "balancedallocation": (60, 369),
    "dra": (90, 537),
    "dra_devices": (60, 346),
    "imagelocality": (60, 371),
    "interpodaffinity": (60, 411),
    "mixed": (60, 474),
    "nodeaffinity": (60, 389),
    "nodedeclaredfeatures": (60, 250),
    "nodename": (60, 329),
    "nodeports": (60, 346),
    "noderesources": (60, 295),
    "nominated": (60, 366),
    "podtopologyspread": (60, 464),
    "preemption": (100, 450),
    "profiles": (60, 351),
    "schedulinggates": (60, 245),
    "tainttoleration": (60, 391),
    "volumes": (120, 744),
}
"""The recorded cases and steps of each."""


VALIDATED = frozenset({"dra_devices", "nominated", "preemption", "schedulinggates"})
"""Families whose steps change the most beside the pod that is tried: here the engine's whole state
is checked after every transition, which takes twice the time."""


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(each, marks=() if each in VALIDATED else pytest.mark.unvalidated)
        for each in FAMILIES
    ],
)
def test_every_recorded_step_is_decided_exactly_alike(family: str) -> None:
    agreement = judge_file(PARITY / f"{family}.jsonl.gz", keep=2)

    assert agreement.first == []
    assert (agreement.cases, agreement.steps) == FAMILIES[family]
    assert agreement.exact == agreement.steps


def test_every_recorded_family_is_compared() -> None:
    assert {family_of(path) for path in PARITY.iterdir()} == set(FAMILIES)
    assert sum(steps for _, steps in FAMILIES.values()) == 7128
