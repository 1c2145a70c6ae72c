"""The wheel: the same bytes each time, complete, and at work in an environment of its own.

Nothing is fetched: the wheel is built by the environment's own hatchling and installed without its
dependencies, which the new environment finds where the tests find them.
"""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from support.commands.command_line import EXAMPLES

from podium import __version__

pytestmark = pytest.mark.slow

ROOT = EXAMPLES.parent
SOURCE = ROOT / "src" / "podium"


def built(directory: Path, umask: int = 0o022) -> Path:
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1577836800"}
    subprocess.run(command, cwd=ROOT, env=environment, umask=umask, check=True, timeout=300)
    (wheel,) = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def commands(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of a bare environment are, with the wheel in it and nothing else."""
    room = tmp_path_factory.mktemp("room")
    venv.create(room, with_pip=True)
    python = room / "bin" / "python"
    pip = (str(python), "-m", "pip", "install", "--no-deps", "--no-index", "--quiet")
    subprocess.run([*pip, str(wheel)], check=True, timeout=300, env=_plain())
    (packages,) = room.glob("lib/python*/site-packages")
    # A path in a .pth file is searched last and its own .pth files are not read: the editable
    # installation that the tests run from stays out of sight.
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return room / "bin"


def _plain() -> dict[str, str]:
    """Without what could lead to the sources."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(commands: Path, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(commands / arguments[0]), *arguments[1:]],
        cwd=directory,
        env=_plain(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_two_builds_have_equal_bytes(wheel: Path, tmp_path: Path) -> None:
    assert built(tmp_path, umask=0o077).read_bytes() == wheel.read_bytes()


def test_everything_in_the_package_is_in_the_wheel(wheel: Path) -> None:
    own = {
        f"podium/{path.relative_to(SOURCE)}"
        for path in SOURCE.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if name.startswith("podium/")}
    assert found == own
    assert any(not name.endswith(".py") for name in found)


def test_the_command_is_there_and_runs_from_the_wheel(commands: Path, tmp_path: Path) -> None:
    done = run(commands, tmp_path, "podium", "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert __version__ in done.stdout
    where = run(commands, tmp_path, "python", "-c", "import podium; print(podium.__file__)")
    assert where.stdout.startswith(str(commands.parent))


def test_a_simulation_runs_from_the_wheel(commands: Path, tmp_path: Path) -> None:
    files = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "pods.yaml"))
    done = run(commands, tmp_path, "podium", "simulate", *files)
    assert done.stderr == ""
    assert done.returncode == 1, "some pods of the example are meant not to fit"
    assert "default/web-0" in done.stdout
