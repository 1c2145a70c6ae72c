"""Commands in the documentation are commands that run, and so is its code."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podium.commands import main
from podium.commands.app import build_app
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_node, make_pod

ROOT = Path(__file__).parents[2]
PAGES = (
    *("simulating.md", "why.md", "plugins.md", "configuration.md", "gpu.md"),
    *("capacity.md", "what-if.md", "compare.md", "record-and-replay.md", "sweeps.md"),
    *("optimum.md", "rebalance.md"),
    *("study.md", "gpu-packing-policy.md", "scenarios.md"),
    *sorted(f"plugins/{page.name}" for page in (ROOT / "docs" / "plugins").glob("*.md")),
)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """(language, text) of every fenced block of a page."""
    language: str | None = None
    lines: list[str] = []
    for line in (ROOT / "docs" / page).read_text().splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines = line.removeprefix("```"), []
        else:
            yield language, "\n".join(lines) + "\n"
            language = None


def documented() -> list[str]:
    return [
        line
        for page in PAGES
        for language, text in blocks(page)
        for line in text.splitlines()
        if not language and line.startswith("podium ")
    ]


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_runs(
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What commands write stays out of the repository.
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)[1:]) in (0, 1)
    captured = capsys.readouterr()
    assert captured.out
    assert captured.err == ""


# --- commands that go on until they are stopped -------------------------------------------------

SERVING = ("up", "nodes", "apiserver")


def documented_servers() -> list[str]:
    """What is shown after a prompt on the pages about clusters."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = re.findall(r"^\$ podium (.+?)(?: &)?$", "\n".join(map(Path.read_text, pages)), re.M)
    return [each for each in shown if each.split()[0] in SERVING]


@pytest.mark.parametrize("command", sorted({*documented_servers()}))
def test_a_documented_server_is_started_with_options_that_exist(command: str) -> None:
    build_app().parse_args(shlex.split(command), exit_on_error=False, print_error=False)


def test_every_kind_of_server_is_documented() -> None:
    assert {each.split()[0] for each in documented_servers()} == {*SERVING}


def test_files_that_pages_name_are_there() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for name in re.findall(r"(?<![\w/])examples/[\w./-]*\w", page.read_text()):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_make_run_starts_what_the_pages_show() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "$(BIN)/podium up $(NODES) --apply examples/first-steps.yaml $(UP)\n" in makefile
    assert re.search(r"^NODES \?= 3$", makefile, re.MULTILINE)


def test_the_makefile_names_pods_of_the_examples() -> None:
    makefile = (ROOT / "Makefile").read_text()
    pods = (ROOT / "examples" / "pods.yaml").read_text()
    placed = re.search(r"^PLACED_POD \?= (\S+)-\d+$", makefile, re.MULTILINE)
    pending = re.search(r"^PENDING_POD \?= (\S+)$", makefile, re.MULTILINE)
    assert placed is not None
    assert pending is not None
    for name in (placed[1], pending[1]):
        assert re.search(rf"^  name: {name}$", pods, re.MULTILINE)


def test_there_are_commands_on_every_page() -> None:
    assert len(documented()) > 10


# the code of docs/plugins.md


def code() -> list[str]:
    return [text for language, text in blocks("plugins.md") if language == "python"]


def test_the_documented_plugins_are_the_examples() -> None:
    shown = {}
    for text in code():
        title, _, rest = text.partition("\n")
        if title.startswith("# examples/plugins/"):
            shown[title.removeprefix("# ")] = rest
    found = {f"examples/plugins/{path.name}" for path in (ROOT / "examples/plugins").glob("*.py")}
    assert set(shown) == found
    for path, text in shown.items():
        assert (ROOT / path).read_text() == text


def test_the_documented_code_runs_and_its_tests_pass() -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    for text in code():
        exec(compile(text, "docs/plugins.md", "exec"), names)
    tests = [name for name in names if name.startswith("test_")]
    assert len(tests) == 4
    for name in tests:
        names[name]()


def test_a_documented_hint_wakes_a_pod_when_it_helps() -> None:
    names: dict[str, Any] = {"__name__": "documented"}
    for text in code()[:3]:
        exec(compile(text, "docs/plugins.md", "exec"), names)
    plugin = names["Patient"](None, None)
    (registration,) = plugin.events()
    annotations = {"example.com/architectures": "amd64"}
    waiting = Cluster(ALL_REQUESTS).infos.of(make_pod("p", metadata={"annotations": annotations}))
    arm, amd = (make_node("n", labels={"kubernetes.io/arch": arch}) for arch in ("arm64", "amd64"))
    assert [registration.hint(waiting, None, node) for node in (arm, amd)] == [False, True]
