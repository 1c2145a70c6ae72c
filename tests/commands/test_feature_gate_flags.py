"""`--feature-gates`, as kube-scheduler's flag has them."""

import pytest
from support.commands.command_line import EXAMPLE, podium

from podium.commands.feature_gate_flags import read_gates
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates


@pytest.mark.parametrize(
    "given",
    [
        ["GenericWorkload=true,GangScheduling=true"],
        ["GenericWorkload=true", "GangScheduling=true"],
        [" GenericWorkload = True , GangScheduling=1 ,"],
        ["kube:GenericWorkload=t,kube:GangScheduling=T"],
        ["GangScheduling=false,GenericWorkload=true", "GangScheduling=TRUE"],
    ],
)
def test_all_ways_to_write_gates(given: list[str]) -> None:
    assert read_gates(given) == FeatureGates({"GenericWorkload": True, "GangScheduling": True})


def test_without_the_flag_the_defaults_count() -> None:
    assert read_gates(None) == FeatureGates()
    assert read_gates([]) == read_gates([""]) == FeatureGates()


def test_a_group_of_gates_may_be_switched() -> None:
    gates = read_gates(["AllAlpha=true"])
    assert gates["GangScheduling"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Nope=true", "--feature-gates: unrecognized feature gate: Nope"),
        (
            "GangSchedulin=true",
            "--feature-gates: unrecognized feature gate: GangSchedulin; did you mean"
            " GangScheduling?",
        ),
        (
            "SchedulerQueueingHints=false",
            "--feature-gates: cannot set feature gate SchedulerQueueingHints to false, feature is"
            " locked to true",
        ),
        (
            "GangScheduling=true",
            "--feature-gates: GangScheduling is enabled, but depends on features that are"
            " disabled: [GenericWorkload]",
        ),
        (
            "GangScheduling",
            "--feature-gates: missing bool value for GangScheduling; write GangScheduling=true or"
            " GangScheduling=false",
        ),
        (
            "GangScheduling=yes",
            "--feature-gates: invalid value of GangScheduling: 'yes' is not a bool; write true or"
            " false",
        ),
    ],
)
def test_wrong_gates_are_refused(given: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        read_gates([given])
    assert str(caught.value) == told


def test_a_gate_of_an_earlier_release_is_told_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert read_gates(["PodPriority=true,GenericWorkload=true"])["GenericWorkload"]
    assert capsys.readouterr().err == (
        "podium: warning: --feature-gates: feature gate PodPriority is gone since Kubernetes 1.18"
        " and has no effect (pods have priorities and preempt by them without a switch); leave it"
        " out\n"
    )
    with pytest.raises(InputError, match="unrecognized feature gate: PodPriority; it is gone"):
        read_gates(["PodPriority=true"], strict=True)


@pytest.mark.parametrize(
    "command", [("simulate",), ("explain", "web-0"), ("why", "web-0"), ("story", "web-0")]
)
def test_every_command_has_the_flag(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    for form in (["--feature-gates=Nope=true"], ["--feature-gates", "Nope=true"]):
        done = podium(capsys, *command, *EXAMPLE, *form)
        assert (done.code, done.out) == (2, "")
        assert done.err == "podium: --feature-gates: unrecognized feature gate: Nope\n"


def test_a_gate_decides_what_a_configuration_may_say(capsys: pytest.CaptureFixture[str]) -> None:
    gates = ("--feature-gates", "GenericWorkload=true,GangScheduling=true")
    done = podium(capsys, "simulate", *EXAMPLE, *gates)
    assert done.code == 1
    assert "11 placed, 1 without a node, 1 gated" in done.out
