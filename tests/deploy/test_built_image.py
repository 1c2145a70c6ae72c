"""The image, built for real: every step of the Dockerfile runs, and so does what comes out of it.

The base comes from no registry: a Debian of the base's release, made by debootstrap and given the
base's name. So Python is Debian's there, and everything else is as in a build of anybody.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.deploy.shipped_manifests import DEPLOY
from support.suite.requirements import DEBIAN_MIRROR, IMAGE_ENGINE

from podium import __version__

BASE, SUITE = re.findall(r"^FROM (\S+-(\w+)) AS", (DEPLOY / "Dockerfile").read_text(), re.M)[0]
IMAGE = f"podium:{__version__}"
PACKAGES = "python3,python3-venv,python3-pip,python-is-python3,ca-certificates"
# How this machine reaches others: certificates, and where pip finds packages.
REACH = ("etc/ssl/certs/ca-certificates.crt", "etc/pip.conf")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.time_limit(1200),
    IMAGE_ENGINE.skip_unless(
        shutil.which("buildah") and shutil.which("debootstrap") and os.geteuid() == 0
    ),
]


class Buildah:
    """buildah with a store of its own, and without namespaces, which a container may not make."""

    def __init__(self, folder: Path, driver: str) -> None:
        self.command = f"buildah --root {folder}/store --runroot {folder}/run"
        self.environment: Mapping[str, str] = {
            **os.environ,
            "BUILDAH_ISOLATION": "chroot",
            "STORAGE_DRIVER": driver,
            "TMPDIR": str(folder),
        }

    def run(self, *arguments: str, given: str = "") -> str:
        return self.start([*self.command.split(), *arguments], given).stdout.strip()

    def start(self, command: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=DEPLOY.parent,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done


@pytest.fixture(scope="module")
def buildah() -> Iterator[Buildah]:
    """With the image in its store; nothing is left of it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="podium-image-", dir="/var/tmp"))
    try:
        engine = Buildah(folder, storage_driver(folder))
        make_base(engine)
        engine.start(["make", "image", f"ENGINE={engine.command}", "PLATFORM=--pull-never"])
        yield engine
    finally:
        shutil.rmtree(folder)


def storage_driver(folder: Path) -> str:
    """The one that copies nothing, where it works."""
    trial = Buildah(folder / "trial", "overlay")
    (folder / "trial").mkdir()
    done = subprocess.run(
        [*trial.command.split(), "from", "scratch"], env=trial.environment, check=False
    )
    return "overlay" if done.returncode == 0 else "vfs"


def make_base(buildah: Buildah) -> None:
    container = buildah.run("from", "scratch")
    root = Path(buildah.run("mount", container))
    command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not (root / "etc" / "debian_version").exists():
        DEBIAN_MIRROR.skip()
    assert done.returncode == 0, done.stdout[-4000:]
    for name in REACH:
        if Path("/", name).exists():
            shutil.copyfile(Path("/", name), root / name)
    buildah.run("umount", container)
    buildah.run("commit", "--quiet", "--rm", "--disable-compression", container, BASE)


def test_the_image_is_built_and_podium_runs_in_it_as_a_user_without_rights(
    buildah: Buildah,
) -> None:
    configured = json.loads(buildah.run("inspect", "--type", "image", IMAGE))["OCIv1"]["config"]
    assert (configured["Entrypoint"], configured["User"]) == (["podium"], "65532:65532")
    container = buildah.run("from", "--pull-never", IMAGE)
    assert buildah.run("run", container, "--", "podium", "version") == __version__
    asked = "import os, pathlib; print(os.getuid(), pathlib.Path('/bin/sh').exists())"
    assert buildah.run("run", container, "--", "python", "-c", asked) == "65532 False"
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {pods: 1}}\n"
    simulate = ("podium", "simulate", "-f", "-")
    assert "1 node" in buildah.run("run", container, "--", *simulate, given=node)
