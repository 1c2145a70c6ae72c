"""What an extender costs a pod, beyond the time it takes for itself.

The extender runs in a process of its own, served by `podium extender serve`, and agrees with
everything; so what is measured is the way there and back: writing the call, HTTP on the loopback,
reading it in the extender, and its answer. A pod makes a filter and a prioritize call.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import ClassVar

from podium.bench.results import percentile_ms
from podium.bench.templates import make_nodes, make_pod
from podium.client.extenders.client import ExtenderClient
from podium.client.extenders.extender import Extender, Nodes
from podium.client.extenders.objects import TypedObjects
from podium.golang.document_structs import Amount, Count, Document
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.types import Extender as ConfiguredExtender
from podium.scheduler.framework.asking import CallFailed, FilterCall, PrioritizeCall

_WARM_UP = 10


class Agreeing(Extender):
    """Takes every node, and likes all alike."""

    def filter(self, pod: Pod, nodes: Nodes) -> dict[str, str]:
        del pod, nodes
        return {}

    def prioritize(self, pod: Pod, nodes: Nodes) -> dict[str, int]:
        del pod, nodes
        return {}


class ExtenderFigures(Document, frozen=True, kw_only=True, rename=None):
    """One run of `podium bench extender`."""

    KIND: ClassVar[str] = "ExtenderBenchmark"
    LISTED: ClassVar[str] = "What `podium bench extender --json` prints."

    nodes: Count
    """Nodes of each call."""
    pods: Count
    """Pods, one after the other."""
    whole_nodes: bool
    """Whether node objects were sent instead of names."""
    p50_ms: Amount
    """Time of a pod's two calls, in milliseconds: the median."""
    p99_ms: Amount
    """The 99th percentile."""
    mean_ms: Amount
    """The mean."""
    cpu_ms: Amount
    """The scheduler's processor time per pod, in milliseconds."""
    load: Amount
    """The machine's one-minute load at the end."""


class NoAnswer(RuntimeError):
    """The extender of the measurement did not do what it is for."""


def measure_extender(*, nodes: int, pods: int, whole_nodes: bool) -> ExtenderFigures:
    """Start an extender, ask it about `pods` pods one after the other, and stop it."""
    with _extender_process() as url:
        extender = ConfiguredExtender(
            url_prefix=url,
            filter_verb="filter",
            prioritize_verb="prioritize",
            weight=1,
            node_cache_capable=not whole_nodes,
        )
        times, cpu = asyncio.run(_ask(extender, nodes, pods))
    return ExtenderFigures(
        nodes=nodes,
        pods=pods,
        whole_nodes=whole_nodes,
        p50_ms=percentile_ms(times, 50),
        p99_ms=percentile_ms(times, 99),
        mean_ms=round(1000 * sum(times) / pods, 4),
        cpu_ms=round(1000 * cpu / pods, 4),
        load=round(os.getloadavg()[0], 2),
    )


async def _ask(extender: ConfiguredExtender, nodes: int, pods: int) -> tuple[list[float], float]:
    known = {node.metadata.name: node for node in make_nodes(nodes)}
    client = ExtenderClient((extender,), TypedObjects(known.__getitem__))
    names = tuple(known)
    times: list[float] = []
    cpu = 0.0
    for number in range(-_WARM_UP, pods):
        pod = make_pod(f"pod-{number}")
        started, cpu_started = perf_counter(), process_time()
        answers = [
            *await client.ask((FilterCall(extender, pod, names),)),
            *await client.ask((PrioritizeCall(extender, pod, names),)),
        ]
        for answer in answers:
            if isinstance(answer, CallFailed):
                raise NoAnswer(answer.problem)
        if number >= 0:
            times.append(perf_counter() - started)
            cpu += process_time() - cpu_started
    await client.close()
    return sorted(times), cpu


@contextmanager
def _extender_process() -> Iterator[str]:
    command = (sys.executable, "-m", "podium", "extender", "serve", f"{__name__}:Agreeing")
    with subprocess.Popen((*command, "--port", "0"), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            if found is None:
                raise NoAnswer("the extender did not start")
            yield found[0]
        finally:
            process.terminate()
