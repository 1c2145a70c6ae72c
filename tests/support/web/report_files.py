"""Reports as the commands write them, of a cluster whose names mean harm."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

from support.commands.command_line import EXAMPLES, Raw, node, pod
from support.web.page_at_work import HOSTILE_NAME

from podium.commands import main

ZONE = "topology.kubernetes.io/zone"
PACKING = str(EXAMPLES / "what-if" / "packing.yaml")
SHAPES = str(EXAMPLES / "what-if" / "shapes.yaml")


def write_report(target: Path, *arguments: str) -> Path:
    """Run a command with `--html`; what it prints is of no interest here."""
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([*arguments, "--html", str(target)]) in (0, 1)
    return target


def write_list(path: Path, *objects: Raw) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(path)


def hostile_cluster() -> list[Raw]:
    """Three nodes, a workload that fills them, and a pod that nobody would make again."""
    zones = ("a", "b", "c")
    names = ("node-1", "node-2", HOSTILE_NAME)
    nodes = [node(name, labels={ZONE: zone}) for name, zone in zip(names, zones, strict=True)]
    template = pod("web", cpu="1500m")
    labels = {"app": "web"}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        },
    }
    kept = pod("kept", cpu="500m", nodeName=HOSTILE_NAME)
    kept["metadata"]["labels"] = {"app": "kept"}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "kept", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
    }
    bare = pod(HOSTILE_NAME, cpu="500m", nodeName=HOSTILE_NAME)
    for obj in (*nodes, kept, bare):  # as a cluster has stored them; new ones would be refused
        obj["metadata"]["resourceVersion"] = "1"
    return [*nodes, web, kept, budget, bare]


def documents(report: Path) -> dict[str, Any]:
    """What a report holds, by path."""
    found = re.search(r'id="report-data">(.*?)</script>', report.read_text(), re.DOTALL)
    assert found is not None
    decoded: dict[str, Any] = json.loads(found[1])
    return decoded
