"""Gangs from files: a printed configuration runs as it is, and answers say what a gang lacks."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from podium.commands import main
from podium.commands.app import build_app

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "coscheduling"
SEEDS = sorted((ROOT.parent / "shared" / "seeds").glob("001_*.txt"))
PRINTED = """apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort:
      enabled:
      - name: Coscheduling
      disabled:
      - name: "*"
    preFilter:
      enabled:
      - name: Coscheduling
    postFilter:
      enabled:
      - name: Coscheduling
    permit:
      enabled:
      - name: Coscheduling
    reserve:
      enabled:
      - name: Coscheduling
  pluginConfig:
  - name: Coscheduling
    args:
      permitWaitingTimeSeconds: 10
      deniedPGExpirationTimeSeconds: 3
"""


def configurations() -> list[str]:
    found = [PRINTED]
    for seed in SEEDS:
        blocks = re.findall(r"^```yaml\n(.*?)^```", seed.read_text(), re.MULTILINE | re.DOTALL)
        found.extend(block for block in blocks if "name: Coscheduling" in block)
    return found


def node(name: str, cpu: int) -> dict[str, Any]:
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": 110}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": allocatable},
    }


def group(name: str, least: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": least, **spec},
    }


def member(name: str, of: str, cpu: int = 1, **spec: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"scheduling.x-k8s.io/pod-group": of}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}], **spec},
    }


@pytest.fixture
def files(tmp_path: Path) -> Any:
    def write(configuration: str, *objects: dict[str, Any]) -> list[str]:
        config, items = tmp_path / "config.yaml", tmp_path / "objects.json"
        config.write_text(configuration)
        items.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return ["-f", str(items), "--config", str(config)]

    return write


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main([*arguments, "-o", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "configuration", configurations(), ids=["printed", "seed"][: 1 + len(SEEDS)]
)
def test_a_printed_configuration_places_all_of_a_gang_or_none(
    configuration: str, files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    gangs = [
        *(member(f"small-{n}", "small") for n in range(3)),
        *(member(f"large-{n}", "large") for n in range(5)),
    ]
    given = files(configuration, node("n", 4), group("small", 3), group("large", 5), *gangs)
    report = answer(capsys, "simulate", *given)
    outcomes = {each["name"]: each["outcome"] for each in report["pods"]}
    assert {name for name, outcome in outcomes.items() if outcome == "placed"} == {
        "small-0",
        "small-1",
        "small-2",
    }


@pytest.mark.parametrize(
    "configuration", configurations(), ids=["printed", "seed"][: 1 + len(SEEDS)]
)
def test_a_printed_configuration_is_sound(
    configuration: str, files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    *_, path = files(configuration)
    assert main(["config", "check", path]) == 0
    assert "Coscheduling" not in capsys.readouterr().err


CASES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "missing": (
        [member("m", "lost")],
        "pod-group-missing",
        "PodGroup default/lost does not exist, and a label of the pod makes it a member of it.",
    ),
    "too few": (
        [group("g", 3), member("m", "g"), member("o", "g")],
        "gang-too-small",
        "PodGroup default/g is a gang of at least 3 pods; there are 2.",
    ),
    "gated": (
        [
            group("g", 2),
            member("m", "g"),
            member("o", "g", schedulingGates=[{"name": "later"}]),
        ],
        "gang-gated",
        "PodGroup default/g is a gang of at least 2 pods; of its 2, 1 pod still waits for"
        " scheduling gates.",
    ),
    "least resources": (
        [group("g", 1, minResources={"cpu": 10}), member("m", "g")],
        "gang-resource-gap",
        "PodGroup default/g asks for minResources, and all nodes together lack map[cpu:6] of that.",
    ),
    "another member": (
        [group("g", 2), member("m", "g"), member("o", "g", 9)],
        "gang-incomplete",
        "PodGroup default/g needs 2 pods on nodes at once, and this pod gave its node back because"
        " not all of them got one; o has none.",
    ),
}


@pytest.mark.parametrize(("objects", "code", "sentence"), CASES.values(), ids=list(CASES))
def test_what_a_gang_lacks_is_said_in_words(
    objects: list[dict[str, Any]],
    code: str,
    sentence: str,
    files: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    configuration = (EXAMPLES / "scheduler.yaml").read_text()
    given = files(configuration, node("n", 4), *objects)
    told = answer(capsys, "explain", "m", *given)
    (cause,) = told["causes"]
    assert (cause["code"], cause["sentence"]) == (code, sentence)
    main(["why", "m", *given])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert sentence.split()[1] in " ".join(captured.out.split())


def test_groups_are_passed_over_when_no_plugin_reads_them(
    files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path, *_ = files("", node("n", 4), group("g", 2), member("m", "g"))[1:]
    assert main(["simulate", "-f", path]) == 0
    assert "not read, since scheduling does not depend on them: PodGroup" in capsys.readouterr().out


def test_a_group_with_a_field_that_does_not_exist_is_refused(
    files: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = (EXAMPLES / "scheduler.yaml").read_text()
    given = files(configuration, node("n", 4), group("g", 2, minMembers=3), member("m", "g"))
    assert main(["simulate", *given]) == 2
    assert "minMembers" in capsys.readouterr().err


PAGE = ROOT / "docs" / "plugins" / "coscheduling.md"


def documented() -> list[str]:
    """Commands of blocks that have no language."""
    found: list[str] = []
    language: str | None = None
    for line in PAGE.read_text().splitlines():
        if line.startswith("```"):
            language = line.removeprefix("```") if language is None else None
        elif language == "" and line.startswith("podium "):
            found.append(line)
    return found


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_runs_and_says_what_the_page_shows(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "120")
    assert main(shlex.split(command)[1:]) in (0, 1)
    captured = capsys.readouterr()
    assert captured.err == ""
    if " simulate " in command:
        shown = PAGE.read_text().partition("```text\n")[2].partition("```")[0]
        assert shown.strip() in captured.out


def test_files_that_the_page_names_are_there() -> None:
    for name in re.findall(r"(?:examples|tests)/[\w./-]*\w", PAGE.read_text()):
        assert (ROOT / name).exists(), name


def test_servers_that_the_page_shows_have_options_that_exist() -> None:
    shown = re.findall(r"^\$? ?podium ((?:up|controller) .+)$", PAGE.read_text(), re.MULTILINE)
    assert len(shown) == 3
    for command in shown:
        build_app().parse_args(shlex.split(command), exit_on_error=False, print_error=False)


@pytest.mark.parametrize(
    ("objects", "proposed"),
    [
        ([member("m", "trainig")], {"create-object"}),
        ([group("g", 3), member("m", "g")], {"leave-pod-group", "change-object"}),
    ],
)
def test_changes_that_let_a_gang_in_are_those_of_the_plugin(
    objects: list[dict[str, Any]],
    proposed: set[str],
    files: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = files(configurations()[0], node("n", 4), *objects)
    found = answer(capsys, "why", "m", *given)["proposals"]
    assert {each["code"] for each in found} == proposed
