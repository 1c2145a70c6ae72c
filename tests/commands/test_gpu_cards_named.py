"""`simulate` and `explain` name the cards that a pod gets, and why others are not taken."""

import pytest
from support.commands.command_line import EXAMPLES, podium

GPU = EXAMPLES / "gpu"
CLUSTER = ("-f", str(GPU / "nodes.yaml"), "-f", str(GPU / "pods.yaml"))
RULES = ("--config", str(GPU / "scheduler.yaml"))


def test_simulate_names_the_cards_of_each_pod(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, "simulate", *CLUSTER, *RULES, "-o", "json").decoded()
    cards = {pod["name"]: pod.get("reserved") for pod in document["pods"]}
    assert cards["notebook-0"] == cards["notebook-1"] == "card 0"
    assert cards["training"] == "cards 0, 1"
    assert not cards["late"]
    shown = podium(capsys, "simulate", *CLUSTER, *RULES).out
    assert "GETS" in shown
    assert "cards 0, 1" in shown


def test_explain_names_the_cards_that_a_pod_gets(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Gets      card 0" in podium(capsys, "explain", "notebook-0", *CLUSTER, *RULES).out
    words = ("explain", "notebook-0", *CLUSTER, *RULES, "-o", "json")
    assert podium(capsys, *words).decoded()["reserved"] == "card 0"


def test_explain_says_of_each_card_why_it_is_not_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = "card 0: InsufficientVGPUMemory (needs 16000, 8960 free); card 1: DeviceUnhealthy"
    words = ("explain", "late", *CLUSTER, *RULES)
    shown = podium(capsys, *words, "--node", "gpu-b")
    assert "InsufficientVGPUMemory (needs 16000, 8960 free)" in " ".join(shown.out.split())
    assert told in podium(capsys, *words, "-o", "json").out
