"""An extender that agrees with everything changes no decision.

Engines with extenders take their own way through a cycle, one that can wait. The recorded cases say
whether it leads to the same place.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.recorded_cases import PARITY
from support.scheduler.engine.scripted_extenders import Script

from podium.parity.cases import Case, family_of, read_case_file
from podium.parity.comparison import Difference, compare
from podium.parity.replay import decide
from podium.scheduler.config.types import API_VERSION, KIND

FAMILIES = sorted(PARITY.glob("*.jsonl.gz"))
EVERY = 20
"""Every so many cases of a family are decided by `make test`."""

AGREES = {
    "urlPrefix": "http://a",
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "weight": 1,
    "nodeCacheCapable": True,
}


def extended(case: Case) -> Case:
    config = {"apiVersion": API_VERSION, "kind": KIND, **(case.config or {})}
    return replace(case, config={**config, "extenders": [AGREES]})


def differences(case: Case) -> list[Difference]:
    answers = decide(extended(case), lambda _: nullcontext(Script()))
    found: list[Difference] = []
    for index, (step, answer) in enumerate(zip(case.steps, answers, strict=True)):
        assert step.expect is not None
        found += compare(case.name, index, step.expect, _without_the_extender(answer))
    return found


def _without_the_extender(answer: dict[str, Any]) -> dict[str, Any]:
    scores = {plugin: row for plugin, row in answer["scores"].items() if plugin != "http://a"}
    return {**answer, "scores": scores}


@pytest.mark.parametrize("path", FAMILIES, ids=family_of)
@pytest.mark.parametrize(
    "is_quick",
    [pytest.param(True, id="few"), pytest.param(False, id="others", marks=pytest.mark.slow)],
)
def test_recorded_steps_are_decided_alike_with_an_extender_that_agrees(
    path: Path, is_quick: bool
) -> None:
    cases = [
        case
        for number, case in enumerate(read_case_file(path))
        if is_quick == (number % EVERY == 0)
    ]
    assert cases
    assert [difference for case in cases for difference in differences(case)] == []
