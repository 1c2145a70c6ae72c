"""`podium config show --diff`: each difference on a line of its own, with its whole path."""

from pathlib import Path

import pytest
from support.commands.command_line import podium

from podium.scheduler.config.effective import effective_diff

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
V1BETA3 = HEADER.replace("/v1\n", "/v1beta3\n")


def diff(capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)
    found = podium(capsys, "config", "show", str(file), "--diff")
    assert found.code == 0
    return found.out.splitlines()


def test_entries_are_matched_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(
        capsys,
        tmp_path,
        HEADER
        + """\
profiles:
- plugins:
    multiPoint:
      enabled: [{name: NodeAffinity, weight: 7}]
      disabled: [{name: ImageLocality}]
""",
    ) == [
        '+profiles[0].plugins.multiPoint.disabled[ImageLocality]: {"weight": 0}',
        "-profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 2",
        "+profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 7",
        '-profiles[0].plugins.multiPoint.enabled[ImageLocality]: {"weight": 1}',
    ]


def test_every_profile_is_held_against_the_default_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = HEADER + "profiles:\n- schedulerName: a\n- schedulerName: b\n"
    assert diff(capsys, tmp_path, text) == [
        '-profiles[0].schedulerName: "default-scheduler"',
        '+profiles[0].schedulerName: "a"',
        '-profiles[1].schedulerName: "default-scheduler"',
        '+profiles[1].schedulerName: "b"',
    ]


def test_a_file_is_held_against_its_own_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert diff(capsys, tmp_path, V1BETA3) == []
    assert diff(capsys, tmp_path, V1BETA3 + "parallelism: 4\n") == [
        "-parallelism: 16",
        "+parallelism: 4",
    ]


def test_another_order_is_told() -> None:
    def listed(*names: str) -> dict[str, object]:
        return {"profiles": [{"enabled": [{"name": name, "weight": 0} for name in names]}]}

    assert list(effective_diff(listed("a", "b", "c"), listed("b", "a", "d"))) == [
        '-profiles[0].enabled[c]: {"weight": 0}',
        '+profiles[0].enabled[d]: {"weight": 0}',
        "-profiles[0].enabled in order: a, b",
        "+profiles[0].enabled in order: b, a",
    ]
