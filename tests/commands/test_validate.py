"""`--validate`: a state that cannot be is a bug, and says so."""

from typing import Any

import pytest
from support.commands.command_line import EXAMPLE, podium

from podium.scheduler.engine.failure import Failures
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle


@pytest.mark.parametrize(
    "command", [("simulate",), ("explain", "render"), ("why", "render"), ("story", "render")]
)
def test_a_sound_state_is_not_mentioned(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    plain = podium(capsys, *command, *EXAMPLE)
    checked = podium(capsys, *command, *EXAMPLE, "--validate")
    assert checked == plain


def lose_the_pod(self: Failures, *_: Any, **__: Any) -> None:
    """A failure after which nobody puts the pod back."""


@pytest.mark.parametrize(
    "command", [("simulate",), ("explain", "render"), ("why", "render"), ("story", "render")]
)
def test_a_broken_invariant_is_a_bug_with_the_name_of_the_pod(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    monkeypatch.setattr(Failures, "handle", lose_the_pod)
    done = podium(capsys, *command, *EXAMPLE, "--validate")
    assert (done.code, done.out) == (70, "")
    assert (
        "podium: the state is broken after Engine.schedule_next,"
        " in the cycle of pod default/render:\n"
    ) in done.err
    assert "  - pod default/render is lost\n" in done.err
    assert done.err.endswith("podium: this is a bug; please report it with the lines above\n")


def test_without_the_flag_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Failures, "handle", lose_the_pod)
    assert podium(capsys, "simulate", *EXAMPLE).code == 1


def test_a_crash_names_the_pod_that_was_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: Any) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(SchedulingCycle, "find_node", crash)
    done = podium(capsys, "simulate", *EXAMPLE, "--validate")
    assert done.code == 70
    assert "RuntimeError: out of luck" in done.err
    assert "while pod kube-system/node-agent-general-a1 was tried" in done.err
