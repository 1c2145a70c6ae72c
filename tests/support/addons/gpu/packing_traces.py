"""Traces for tests of the study: a small one of our own, and the published ones where they are."""

from functools import cache
from pathlib import Path

import numpy as np
from support.suite.requirements import PUBLISHED_TRACES

from podium.addons.gpu.study.traces import Pods, Trace, TraceNodes, read_trace

PUBLISHED = Path(__file__).resolve().parents[4].parent / "shared" / "traces" / "openb"
NODES = PUBLISHED / "openb_node_list_gpu_node.csv"

needs_published_traces = PUBLISHED_TRACES.skip_unless(NODES.exists())


@cache
def published_trace(name: str) -> Trace:
    return read_trace(name, NODES, PUBLISHED / f"openb_pod_list_{name}.csv.gz")


def small_trace(seed: int = 0, nodes: int = 40, pods: int = 160) -> Trace:
    """Nodes of three models and of none, pods of all kinds; tight in CPU and in memory."""
    random = np.random.default_rng(seed)
    gpus = random.choice([0, 1, 2, 4, 8], nodes, p=[0.1, 0.1, 0.3, 0.2, 0.3])
    gpus[0] = 8
    model = np.where(gpus > 0, 1 << random.integers(0, 3, nodes), 1 << 62)
    kind = random.choice(4, pods, p=[0.15, 0.4, 0.3, 0.15])
    wanted = np.choose(kind, [0, 1, 1, random.choice([2, 4, 8], pods)])
    milli = np.choose(kind, [0, random.choice([100, 250, 470, 810], pods), 1000, 1000])
    specs = random.choice(["", "A", "A|C", "B"], pods, p=[0.7, 0.1, 0.1, 0.1])
    return Trace(
        f"small-{seed}",
        TraceNodes(
            tuple(f"node-{i:03}" for i in range(nodes)),
            8000 + 12_000 * gpus,
            16_384 + 65_536 * gpus,
            gpus,
            model,
            ("A", "B", "C"),
        ),
        Pods(
            tuple(f"pod-{i:04}" for i in range(pods)),
            random.choice([1000, 4000, 8000, 11_300, 24_000], pods),
            random.choice([1024, 16_384, 65_536], pods),
            wanted,
            milli,
            tuple(str(spec) if count else "" for spec, count in zip(specs, wanted, strict=True)),
        ),
    )


def cut_trace(trace: Trace, nodes: int, pods: int) -> Trace:
    """Some nodes and pods of a trace, evenly spread: a run that takes little."""
    keep = np.linspace(0, len(trace.nodes.names) - 1, nodes).astype(np.int64)
    few = np.linspace(0, len(trace.pods.names) - 1, pods).astype(np.int64)
    from_nodes, from_pods = trace.nodes, trace.pods
    return Trace(
        f"{trace.name}-cut",
        TraceNodes(
            tuple(from_nodes.names[i] for i in keep),
            from_nodes.cpu_milli[keep],
            from_nodes.memory_mib[keep],
            from_nodes.gpus[keep],
            from_nodes.model_bit[keep],
            from_nodes.models,
        ),
        Pods(
            tuple(from_pods.names[i] for i in few),
            from_pods.cpu_milli[few],
            from_pods.memory_mib[few],
            from_pods.gpus[few],
            from_pods.gpu_milli[few],
            tuple(from_pods.specs[i] for i in few),
        ),
    )
