"""The image's recipe keeps what the manifests promise, and everything names one version."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest
from support.deploy.shipped_manifests import DEPLOY
from support.waiting import PATIENCE_S

from podium import __version__

RECIPE = (DEPLOY / "Dockerfile").read_text()
IGNORED = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()


def instructions(name: str) -> list[str]:
    joined = RECIPE.replace("\\\n", " ")
    return re.findall(rf"^{name} +(.+)$", joined, re.MULTILINE)


def test_it_runs_podium_as_a_user_with_a_number() -> None:
    last = RECIPE[RECIPE.rindex("\nFROM ") :]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.MULTILINE)
    assert instructions("ENTRYPOINT") == ['["podium"]']
    assert "RUN" not in last


def test_the_base_has_a_version_and_no_registry() -> None:
    base, last = (each.split()[0] for each in instructions("FROM"))
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-bookworm", base)
    assert last == "scratch"


def test_versions_are_those_of_the_constraints_and_nothing_is_compiled() -> None:
    assert "PIP_CONSTRAINT=/source/constraints.txt" in RECIPE
    assert "--only-binary=:all:" in RECIPE


def test_what_is_copied_is_there_and_is_not_ignored() -> None:
    copied = [each.split()[:-1] for each in instructions("COPY") if not each.startswith("--from")]
    for name in (name for names in copied for name in names):
        assert (DEPLOY.parent / name).exists()
        assert f"!{name}" in IGNORED
    assert IGNORED[0] == "*"


@pytest.mark.parametrize(
    "path",
    [each for each in sorted(DEPLOY.rglob("*")) if each.is_file() and each.suffix != ".pyc"],
    ids=lambda path: str(path.relative_to(DEPLOY)),
)
def test_images_have_the_version_of_podium_and_no_registry(path: Path) -> None:
    text = path.read_text()
    named = re.findall(r"image: (\S+)$", text, re.MULTILINE)
    if "chart" not in path.parts:
        assert {*named} <= {f"podium:{__version__}"}
    assert {*re.findall(r"newTag: (\S+)", text)} <= {__version__}


def made(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What make does with an engine that only tells what it was asked for."""
    return subprocess.run(
        ["make", "-s", *arguments, "ENGINE=echo"],
        cwd=DEPLOY.parent,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


BUILT = f"build -f deploy/Dockerfile -t podium:{__version__} ."


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        (("image",), [BUILT]),
        (("build-scheduler.amd64",), [BUILT.replace("-f", "--platform=linux/amd64 -f", 1)]),
        (
            ("push", "REGISTRY=example.com/team"),
            [
                BUILT,
                f"tag podium:{__version__} example.com/team/podium:{__version__}",
                f"push example.com/team/podium:{__version__}",
            ],
        ),
    ],
)
def test_one_command_builds_the_image_and_one_pushes_it(
    target: tuple[str, ...], lines: list[str]
) -> None:
    done = made(*target)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if not line.startswith("echo ")]
    assert [" ".join(line.split()) for line in told] == lines


def test_pushing_nowhere_is_refused_with_what_to_say() -> None:
    done = made("push")
    assert done.returncode != 0
    (told,) = done.stdout.splitlines()  # nothing was built before
    assert "make push REGISTRY=" in told


def test_what_is_collected_are_libraries_and_not_what_is_named_alike(tmp_path: Path) -> None:
    # An import would leave bytecode in the folder, whose files other tests list.
    image_root = runpy.run_path(str(DEPLOY / "image_root.py"))
    for name in ("libc.so.6", "_ssl.cpython-313.so", "ld.so.conf", "ld.so.cache", "a.sort"):
        (tmp_path / name).write_text("")
    (tmp_path / "libc.so").symlink_to("libc.so.6")
    found = image_root["shared_objects"](tmp_path)
    assert {path.name for path in found} == {"libc.so.6", "_ssl.cpython-313.so"}
