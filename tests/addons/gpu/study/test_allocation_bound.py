"""No policy of a study is above the bound that is shown beside it."""

import pytest
from support.commands.command_line import ROOT, podium

FILES = ROOT / "examples" / "study"


def test_a_study_shows_a_bound_that_no_policy_passes(capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        *("study", "gpu-packing", "--nodes", str(FILES / "nodes.csv")),
        *("--pods", str(FILES / "mixed.csv"), "--policy", "FGD", "--policy", "BestFit"),
        *("--seeds", "1,2", "--device", "numpy", "--bound"),
    )

    document = podium(capsys, *command, "-o", "json").decoded()

    (bounds,) = document["bounds"]
    by_percent = {each["arrivedPercent"]: each["mean"] for each in bounds["allocationPercent"]}
    assert set(by_percent) == {50, 80, 90, 100, 110, 120, 130}
    for policy in document["policies"]:
        for cell in policy["allocationPercent"]:
            assert cell["mean"] <= by_percent[cell["arrivedPercent"]]
    assert by_percent[100] < 100

    shown = podium(capsys, *command)
    assert "no policy allocates more" in shown.out
