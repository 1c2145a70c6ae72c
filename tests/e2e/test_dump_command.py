"""`podium dump-command` as people use it: kubectl, the real program, writes a cluster to a file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.apiserver.kubectl_process import releases, required
from support.e2e.manifests import NODE, POD
from support.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

PODIUM = (sys.executable, "-m", "podium")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


def dump(
    server: RunningServer, kubectl: Path, directory: Path, change: tuple[str, str] = ("", "")
) -> subprocess.CompletedProcess[str]:
    """Run the printed line in a shell; `change` replaces something in it."""
    told = subprocess.run([*PODIUM, "dump-command"], capture_output=True, text=True, check=True)
    (directory / "kubectl").symlink_to(kubectl)
    return subprocess.run(
        ["sh", "-c", told.stdout.replace(*change)],
        cwd=directory,
        env={
            "PATH": f"{directory}:/usr/bin:/bin",
            "HOME": str(directory),
            "KUBECONFIG": str(server.kubeconfig),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("release", releases())
def test_a_dump_of_a_server_is_complete_and_can_be_simulated(
    server: RunningServer, tmp_path: Path, release: tuple[int, int] | None
) -> None:
    kubectl = required(release)
    for manifest in (NODE.replace("NAME", "n1"), POD.replace("NAME", "p").replace("NODE", '""')):
        subprocess.run(
            [str(kubectl), "--kubeconfig", str(server.kubeconfig), "apply", "-f", "-"],
            input=manifest,
            text=True,
            check=True,
            timeout=PATIENCE_S,
            env={"HOME": str(tmp_path)},
            capture_output=True,
        )
    done = dump(
        server, kubectl, tmp_path, ("/api/v1/nodes", "/apis/nobody.example/v1/x /api/v1/nodes")
    )
    assert "left out: /apis/nobody.example/v1/x\n" in done.stderr
    answered = subprocess.run(
        [*PODIUM, "simulate", "-f", str(tmp_path / "cluster.json"), "-o", "json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert answered.returncode in (0, 1), answered.stderr
    report = json.loads(answered.stdout)
    assert report["incomplete"] == []
    assert [(each["namespace"], each["name"]) for each in report["pods"]] == [("default", "p")]
