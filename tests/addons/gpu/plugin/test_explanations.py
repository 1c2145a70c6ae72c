"""`podium explain` says why each card was not taken, reports name the cards that pods got."""

import json
from pathlib import Path

import pytest

from podium.commands import main

ROOT = Path(__file__).parents[4]
FILES = [
    *("-f", "examples/gpu/nodes.yaml", "-f", "examples/gpu/pods.yaml"),
    *("--config", "examples/gpu/scheduler.yaml"),
]


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "200")


def test_explain_says_of_each_card_why_it_was_not_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["explain", "late", *FILES, "--node", "gpu-b"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "card 0: InsufficientVGPUMemory (needs 16000, 8960 free)" in shown
    assert "card 1: DeviceUnhealthy" in shown


def test_explain_says_why_a_node_has_no_cards(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "late", *FILES, "--node", "plain"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "NodeNoVGPURegister: annotation hami.io/node-nvidia-register is missing" in shown


def test_explanations_as_data_have_the_cards_too(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "training", *FILES, "--node", "gpu-b", "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    assert document["reserved"] == "cards 0, 1"
    assert "card 1: DeviceUnhealthy" in json.dumps(document)


def test_simulations_name_the_cards_that_pods_got(capsys: pytest.CaptureFixture[str]) -> None:
    main(["simulate", *FILES])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith("default/training gpu-a · cards 0, 1") for line in lines)
    main(["simulate", *FILES, "-o", "json"])
    pods = {pod["name"]: pod for pod in json.loads(capsys.readouterr().out)["pods"]}
    assert pods["training"]["reserved"] == "cards 0, 1"
    assert pods["late"]["reserved"] is None


def test_a_wrong_request_is_told_as_the_cause(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: wrong}\nspec: {containers: [{name: main,"
        " image: a, resources: {limits: {nvidia.com/gpumem: '100'}}}]}"
    )
    main(["explain", "wrong", *FILES, "-f", str(wrong)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "The pod's GPU request is not valid: container main asks for a share without" in shown
