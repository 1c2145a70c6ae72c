"""What is shipped under `deploy/`, rendered as `kubectl apply -k` does it."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from support.apiserver.kubectl_process import installed, required
from support.waiting import PATIENCE_S

DEPLOY = Path(__file__).parents[3] / "deploy"
NAMESPACE = "kube-system"

Manifest = dict[str, Any]


def newest_kubectl() -> Path:
    """The newest kubectl there is; without any the test is skipped, or fails where it is needed."""
    return required(max(installed(), default=None))


@cache
def _rendered(directory: Path) -> str:
    command = [str(newest_kubectl()), "kustomize", str(directory)]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    ).stdout


def rendered(directory: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(_rendered(directory)))


def written_with_components(directory: Path, path: str, *components: str) -> Path:
    """A kustomization of the test's own in `directory`: a shipped one, and components."""
    place = directory / path
    place.mkdir()
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [_relative(DEPLOY / path, place)],
        "components": [_relative(DEPLOY / "components" / each, place) for each in components],
    }
    (place / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return place


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(path.resolve(), start.resolve())


def one(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    """The only object of a kind, and name if one is given."""
    (found,) = (
        each
        for each in manifests
        if each["kind"] == kind and (not name or each["metadata"]["name"] == name)
    )
    return found
