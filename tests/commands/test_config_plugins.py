"""`podium config` with plugins of the user's own, and with the files that a configuration names."""

import json
from pathlib import Path
from typing import Any

import pytest
import trustme
from support.commands.command_line import EXAMPLES, podium

PLUGINS = EXAMPLES / "plugins"
DENSITY = ("--plugin", str(PLUGINS / "pod_density.py"))
PRICE = ("--plugin", str(PLUGINS / "zone_price.py"))
NAMING_THEM = str(PLUGINS / "scheduler.yaml")
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


@pytest.fixture(autouse=True)
def _wide_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")


def written(tmp_path: Path, **fields: Any) -> str:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({**HEADER, **fields}))
    return str(file)


def test_a_file_that_names_them_loads_with_them_only(capsys: pytest.CaptureFixture[str]) -> None:
    missing = podium(capsys, "config", "check", NAMING_THEM)
    assert missing.code == 1
    assert 'ScorePlugin "ZonePrice" does not exist' in missing.out
    assert "--plugin" in missing.out
    found = podium(capsys, "config", "check", NAMING_THEM, *DENSITY, *PRICE)
    assert found.code == 0
    assert "loads, 1 profile" in found.out


def test_they_are_known_whatever_else_is_wrong_with_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    score = {"enabled": [{"name": "ZonePrice"}, {"name": "ZonePrise"}]}
    file = written(tmp_path, parallelism=-1, profiles=[{"plugins": {"score": score}}])
    found = podium(capsys, "config", "check", file, *PRICE)
    assert found.code == 1
    assert "2 problems" in found.out
    assert "parallelism: Invalid value: -1" in found.out
    assert '"ZonePrise" does not exist' in found.out
    assert "did you mean ZonePrice?" in found.out


def test_points_shows_them_where_they_run(capsys: pytest.CaptureFixture[str]) -> None:
    found = podium(capsys, "config", "points", NAMING_THEM, *DENSITY, *PRICE, "-o", "json")
    (points,) = (profile["points"] for profile in found.decoded()["items"])
    assert points["score"][-2:] == [["PodDensity", 1], ["ZonePrice", 5]]
    assert points["filter"][-1] == "PodDensity"


def test_one_that_no_file_names_runs_at_all_its_points_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = podium(capsys, "config", "check", written(tmp_path), *DENSITY)
    assert "plugin PodDensity" in found.out
    assert "enabled at multiPoint" in found.out
    shown = podium(capsys, "config", "show", written(tmp_path), "--diff", *DENSITY)
    assert shown.out == '+profiles[0].plugins.multiPoint.enabled[PodDensity]: {"weight": 1}\n'


def test_their_arguments_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": "PodDensity"}]}},
        "pluginConfig": [{"name": "PodDensity", "args": {"mots": 3}}],
    }
    found = podium(capsys, "config", "check", written(tmp_path, profiles=[profile]), *DENSITY)
    assert found.code == 1
    assert "profiles[0].pluginConfig[0].args.mots: unknown field (plugin PodDensity)" in found.out
    assert "did you mean most?" in found.out


def test_a_plugin_that_does_not_load_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = podium(capsys, "config", "points", "--plugin", str(tmp_path / "gone.py"))
    assert found.code == 2
    assert "gone.py: cannot be read" in found.err


def extender(**tls: str) -> dict[str, Any]:
    return {"urlPrefix": "https://127.0.0.1:1", "filterVerb": "f", "tlsConfig": tls}


def test_certificates_of_extenders_are_opened_unless_told_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, extenders=[extender(caFile="missing-ca.crt")])
    found = podium(capsys, "config", "check", file, "-o", "json")
    assert found.decoded()["message"] == (
        "couldn't build extenders: open missing-ca.crt: no such file or directory"
    )
    assert podium(capsys, "config", "check", file, "--files", "none").code == 0
    assert podium(capsys, "config", "show", file).code == 0
    ca = tmp_path / "ca.crt"
    trustme.CA().cert_pem.write_to_path(str(ca))
    file = written(tmp_path, extenders=[extender(caFile=str(ca))])
    assert podium(capsys, "config", "check", file).code == 0


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ({"kubeconfig": "gone"}, "stat gone: no such file or directory"),
        (
            {},
            "invalid configuration: no configuration has been provided, try setting "
            "KUBERNETES_MASTER environment variable",
        ),
    ],
)
def test_the_kubeconfig_is_opened_if_asked_for(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    client: dict[str, str],
    message: str,
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    file = written(tmp_path, clientConnection=client)
    assert podium(capsys, "config", "check", file).code == 0
    found = podium(capsys, "config", "check", file, "--files", "all", "-o", "json")
    assert found.decoded()["message"] == message
