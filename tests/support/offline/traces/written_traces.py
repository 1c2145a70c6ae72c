"""Traces that tests write themselves, line by line, with the recorder's own writer."""

from pathlib import Path
from typing import Any

from podium.offline.traces.trace_files import (
    Delete,
    End,
    Patch,
    Put,
    SnapshotEnd,
    TraceLine,
    TraceWriter,
    make_header,
)

STARTED = "2026-03-01T22:00:00.000Z"
Raw = dict[str, Any]


def node(name: str, cpu: str = "4") -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def pod(name: str, cpu: str = "1", uid: str = "", **spec: Any) -> Raw:
    requests = {"requests": {"cpu": cpu}}
    containers = [{"name": "main", "image": "app", "resources": requests}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": uid or f"uid-{name}"},
        "spec": {"containers": containers, **spec},
    }


def put(at: float, obj: Raw) -> Put:
    return Put(at, {"Node": "nodes", "Pod": "pods"}[obj["kind"]], obj)


def bound(at: float, name: str, node_name: str) -> Patch:
    scheduled = {"type": "PodScheduled", "status": "True"}
    patch = {"spec": {"nodeName": node_name}, "status": {"conditions": [scheduled]}}
    return Patch(at, "pods", name, patch, "default")


def gone(at: float, name: str) -> Delete:
    return Delete(at, "pods", name, "default")


def write_trace(path: Path, *lines: TraceLine, ends_at: float | None = 100.0) -> str:
    """`ends_at` is None for a recording that was killed."""
    writer = TraceWriter(path, 1 << 20)
    writer.write(make_header(STARTED, "test", ("nodes", "pods"), {"services": "forbidden"}))
    for line in lines:
        writer.write(line)
    writer.close(None if ends_at is None else End(ends_at, "duration"))
    return str(path)


def snapshot(*objects: Raw) -> list[TraceLine]:
    """What was there, and that it is complete."""
    return [*(put(0.0, obj) for obj in objects), SnapshotEnd(0.0)]
