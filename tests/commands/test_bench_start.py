"""`podium bench start`, through the command."""

import pytest
from support.commands.command_line import podium


@pytest.mark.slow
def test_every_start_has_its_processor_time_and_its_wall(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "bench", "start", "--repeat", "1")

    table = done.out.partition("─\n")[2].splitlines()[:8]
    assert all(float(cell) >= 0 for row in table for cell in row.split()[-6:])
    assert "one-minute load" in done.out


def test_no_runs_at_all_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--repeat must be at least 1" in podium(capsys, "bench", "start", "--repeat", "0").err
