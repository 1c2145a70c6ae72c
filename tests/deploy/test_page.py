"""docs/deploying.md says what is there: files, commands and what they print, rights, alerts."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.deploy.deployed_server import DeployedServer, deployed_server
from support.deploy.recorded_rights import rights_of
from support.deploy.shipped_manifests import DEPLOY

from podium.commands import main

ROOT = DEPLOY.parent
PAGE = (ROOT / "docs" / "deploying.md").read_text()
BLOCKS = re.findall(r"^ *```console\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL)


def shown() -> Iterator[tuple[str, str]]:
    """Each command of the page and what is printed below it, "" if nothing is."""
    for block in BLOCKS:
        for part in re.split(r"^ *\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.strip()


COMMANDS: dict[str, str] = {}
for _command, _output in shown():
    COMMANDS[_command] = COMMANDS.get(_command) or _output


def test_files_that_the_page_names_are_there() -> None:
    named = set(re.findall(r"deploy/[\w./-]*\w", PAGE))
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists(), name


def test_everything_at_the_top_of_the_folder_is_on_the_page() -> None:
    for path in DEPLOY.iterdir():
        if path.name not in ("base", "Dockerfile.dockerignore", "__pycache__"):
            assert f"deploy/{path.name}" in PAGE, path.name
    for path in (DEPLOY / "components").iterdir():
        assert f"| `{path.name}` |" in PAGE


@pytest.mark.parametrize("command", [each for each in COMMANDS if each.startswith("podium ")])
def test_commands_of_podium_run(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path if "certificates" in command else ROOT)
    assert main(shlex.split(command)[1:]) == 0


def test_the_rights_of_the_page_are_those_of_the_roles() -> None:
    rows = re.findall(r"^\| (\S+) \| (`.+?`[^|]*) \| ([a-z, ]+) \| .+ \|$", PAGE, re.MULTILINE)
    told = set()
    for group, resources, verbs in rows:
        name = re.search(r" named `(.+)`", resources)
        plain = resources.split(" named ")[0]
        for resource in re.findall(r"`(.+?)`", plain):
            for verb in verbs.split(", "):
                short = "" if group == "core" else group.strip("`")
                told.add((verb, short, resource, name[1] if name else ""))
    roles = [
        each
        for file in ("cluster-role.yaml", "leader-lock.yaml")
        for each in yaml.safe_load_all((DEPLOY / "base" / file).read_text())
        if each["kind"] in ("ClusterRole", "Role")
    ]
    assert told == rights_of([rule for role in roles for rule in role["rules"]])


def test_the_alerts_of_the_page_are_those_that_are_shipped() -> None:
    file = DEPLOY / "components" / "prometheus-rule" / "prometheus-rule.yaml"
    (group,) = yaml.safe_load(file.read_text())["spec"]["groups"]
    table = PAGE[PAGE.index("| Alert |") : PAGE.index("## Dashboard")]
    assert re.findall(r"`(Podium\w+)`", table) == [rule["alert"] for rule in group["rules"]]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeployedServer]:
    with deployed_server(tmp_path) as deployed:
        yield deployed


@pytest.mark.slow
def test_commands_of_kubectl_print_what_is_shown(
    server: DeployedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that need nothing but an API server; the others are about pods and nodes."""
    monkeypatch.chdir(ROOT)
    run = {
        command: server.kubectl(*shlex.split(command)[1:])
        for command in COMMANDS
        if re.match(r"kubectl (apply|run|delete) ", command)
    }
    assert len(run) == 6
    for command, printed in run.items():
        if COMMANDS[command]:
            assert printed.strip() == COMMANDS[command]
