"""`podium compare` as a user calls it."""

from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES, node, pod, podium, writer

from podium.offline.what_if import load_cluster

SHOP = str(EXAMPLES / "what-if" / "shop.yaml")
RENDER = str(EXAMPLES / "what-if" / "render.yaml")
PACKING = str(EXAMPLES / "what-if" / "packing.yaml")
TWO = ("compare", "--config", "default", "--config", PACKING)
NIGHT = (*TWO, "-f", SHOP, "-f", RENDER)


def test_configurations_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    done = podium(capsys, *NIGHT, "--seeds", "6", "-o", "json")
    document = done.decoded()

    assert done.code == 0
    first, second = document["configurations"]
    assert (first["name"], second["name"]) == ("default", PACKING)
    metrics = {each["name"]: each for each in second["metrics"]}
    assert metrics["pending"]["mean"] == 0
    assert metrics["pending"]["difference"]["mean"] < 0
    assert all(each["difference"] is None for each in first["metrics"])
    assert len(document["runs"]) == 12
    assert document["seeds"] == [0, 1, 2, 3, 4, 5]


def test_the_first_run_is_that_of_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, *NIGHT, "--seeds", "2", "--seed", "3", "-o", "json").decoded()

    assert document["seeds"] == [3, 4]
    for config in ((), ("--config", PACKING)):
        command = ("simulate", "-f", SHOP, "-f", RENDER, "--seed", "3", *config, "-o", "json")
        simulated = podium(capsys, *command).decoded()
        nodes = {f"{each['namespace']}/{each['name']}": each["node"] for each in simulated["pods"]}
        name = config[1] if config else "default"
        for each in document["differentPods"]:
            (place,) = [p for p in each["places"] if p["configuration"] == name]
            assert place["node"] == nodes[each["pod"]]
        (run,) = [
            each for each in document["runs"] if each["configuration"] == name and each["seed"] == 3
        ]
        assert run["metrics"]["placed"] == simulated["summary"]["placed"]


def test_processes_and_repetition_change_no_byte(capsys: pytest.CaptureFixture[str]) -> None:
    plugin = str(EXAMPLES / "plugins" / "pod_density.py")
    command = (*NIGHT, "--plugin", plugin, "--seeds", "3", "-o", "json")
    once = podium(capsys, *command)
    assert any(plugin in note for note in once.decoded()["notes"])
    assert podium(capsys, *command, "--jobs", "2") == once
    assert podium(capsys, *command) == once


@pytest.mark.parametrize(
    ("condition", "code", "told"),
    [
        ("pending > 0", 1, ["default"]),
        ("pending > 2", 0, []),
        ("pending.difference > 0", 0, []),
        ("placed.difference >= 2", 1, [PACKING]),
        ("cpu_share > 1%", 1, ["default", PACKING]),
    ],
)
def test_a_condition_that_holds_fails_the_command(
    condition: str, code: int, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *NIGHT, "--fail-if", condition, "-o", "json")
    document = done.decoded()
    assert done.code == code
    assert document["failed"] is bool(code)
    assert document["conditions"] == [
        {"condition": condition, "holds": bool(code), "configurations": told}
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("compare", "-f", SHOP), "no configuration to compare"),
        ((*TWO, "--config", "default", "-f", SHOP), "the same configuration is there twice"),
        ((*TWO, "-f", SHOP, "--seeds", "0"), "at least 1"),
        ((*TWO, "-f", SHOP, "--fail-if", "pendings > 0"), "did you mean pending?"),
        ((*TWO, "-f", SHOP, "--fail-if", "pending"), "no condition"),
        ((*TWO, "-f", SHOP, "--typical-pod", "cpu"), "is no pod"),
        ((*TWO, "-f", SHOP, "--prices", "worker-9:1"), "did you mean worker-"),
        (("compare", "--config", "none.yaml", "-f", SHOP), "none.yaml"),
    ],
)
def test_a_wrong_command_line_is_told(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = podium(capsys, *arguments)
    assert done.code == 2
    assert told in done.err


def test_a_plugin_that_a_configuration_names_and_nobody_knows_is_told_with_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeNames}]}}}]\n"
    )
    command = ("compare", "--config", "default", "--config", str(path), "-f", SHOP)
    done = podium(capsys, *command, "--seeds", "2", "--jobs", "2")
    assert done.code == 2
    assert str(path) in done.err
    assert "NodeNames" in done.err


def test_objects_that_plugins_of_one_configuration_watch_are_read_for_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = EXAMPLES / "coscheduling"
    files = [part for name in ("nodes.yaml", "gangs.yaml") for part in ("-f", str(folder / name))]
    config = str(folder / "scheduler.yaml")
    gangs = ("--config", config, *files, "--fail-if", "placed < 1", "-o", "json")
    together = podium(capsys, "compare", "--config", "default", *gangs)
    alone = podium(capsys, "compare", *gangs)
    assert together.code == 0, together.err
    assert together.decoded()["runs"][1]["metrics"] == alone.decoded()["runs"][0]["metrics"]


def test_nodes_without_a_price_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = writer(tmp_path)(node("n1"), node("n2"), pod("a"))
    done = podium(capsys, "compare", "--config=default", "-f", cluster, "--prices", "n1:2")
    assert "1 node without a price" in done.out


def test_python_gives_what_the_command_does(capsys: pytest.CaptureFixture[str]) -> None:
    document = podium(capsys, *NIGHT, "--seeds", "2", "-o", "json").decoded()
    found = load_cluster(SHOP, RENDER).compare("default", PACKING, seeds=2)

    assert [
        {"configuration": run["configuration"], "seed": run["seed"], **run["metrics"]}
        for run in document["runs"]
    ] == list(found.runs)
    assert [
        each["mean"] for config in document["configurations"] for each in config["metrics"]
    ] == [each["mean"] for each in found.metrics]
    assert {f"{each['namespace']}/{each['name']}" for each in found.pods} == {
        each["pod"] for each in document["differentPods"]
    }
    for records in (found.runs, found.metrics, found.pods):
        assert all(list(each) == list(records[0]) for each in records)
