"""Running `podium` in a test: inputs as files, and what it says and answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.commands.document_schemas import require_valid

from podium.commands import main

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
EXAMPLE = ("-f", str(EXAMPLES / "cluster.yaml"), "-f", str(EXAMPLES / "pods.yaml"))

Raw = dict[str, Any]
Write = Callable[..., str]


class Done(NamedTuple):
    code: int
    out: str
    err: str

    def decoded(self) -> Any:
        """The document, which is as its schema says."""
        document = json.loads(self.out)
        require_valid(document)
        return document


def podium(capsys: pytest.CaptureFixture[str], *arguments: str) -> Done:
    code = main(arguments)
    captured = capsys.readouterr()
    return Done(code, captured.out, captured.err)


def node(name: str = "n1", cpu: str = "4", **metadata: Any) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, **metadata},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": 110}},
    }


def pod(name: str, cpu: str = "1", **spec: Any) -> Raw:
    resources = {"requests": {"cpu": cpu}}
    containers = [{"name": "main", "image": "app", "resources": resources}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


def priority_class(name: str, value: int) -> Raw:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def writer(directory: Path) -> Write:
    """A function that writes objects into a file and gives back its name."""

    def write(*objects: Raw, name: str = "input.json") -> str:
        path = directory / name
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return str(path)

    return write
