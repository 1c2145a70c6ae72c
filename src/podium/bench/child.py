"""One measurement in a process of its own, seen from that process and from the one that asks.

A process that has measured something before has memory and caches that the next measurement would
be charged with; hence one process for each run. Reports are JSON, one a line: how far it has come,
and at the end what was found.
"""

import subprocess
import sys
import tempfile
from typing import IO, BinaryIO, Literal

import msgspec

from podium.bench.engine_run import Progress, measure_case
from podium.bench.function_times import FunctionTime, FunctionTimes, StackSamples, fold_stacks
from podium.bench.results import Figures
from podium.bench.templates import BenchmarkPlan

Look = Literal["", "functions", "stacks"]
"""Who looks on: nobody, a counter of calls, a sampler of stacks."""


class Order(msgspec.Struct, kw_only=True):
    """What to measure."""

    case: str
    plan: BenchmarkPlan
    percentage: int = 100
    seed: int = 0
    configuration: str | None = None
    look: Look = ""


class ChildReport(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How many pods are bound so far; with `figures` it is the last report."""

    done: int = 0
    figures: Figures | None = None
    functions: tuple[FunctionTime, ...] = ()
    stacks: dict[str, int] = {}


def carry_out(order: Order, progress: Progress | None = None) -> ChildReport:
    """Measure as ordered, in this process."""
    counter = FunctionTimes() if order.look == "functions" else None
    sampler = StackSamples() if order.look == "stacks" else None
    figures = measure_case(
        order.case,
        order.plan,
        percentage=order.percentage,
        seed=order.seed,
        configuration=order.configuration,
        progress=progress,
        profiler=counter or sampler,
    )
    return ChildReport(
        done=figures.bound,
        figures=figures,
        functions=counter.top() if counter else (),
        stacks=fold_stacks(sampler.stacks) if sampler else {},
    )


def serve(source: BinaryIO, target: BinaryIO) -> None:
    def tell(report: ChildReport) -> None:
        target.write(msgspec.json.encode(report) + b"\n")
        target.flush()

    order = msgspec.json.decode(source.readline(), type=Order)
    tell(carry_out(order, lambda done: tell(ChildReport(done=done))))


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except KeyboardInterrupt:
        sys.exit(130)


class MeasuringError(RuntimeError):
    """A measurement ended without figures; the text is what its process left behind."""


def measure_apart(order: Order, progress: Progress | None = None) -> ChildReport:
    """Carry out an order in a new process and wait for its end."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "podium.bench.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        try:
            return _converse(child, order, errors, progress)
        finally:
            if child.poll() is None:
                child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None and not pipe.closed:
                    pipe.close()


def _converse(
    child: "subprocess.Popen[bytes]",
    order: Order,
    errors: IO[bytes],
    progress: Progress | None,
) -> ChildReport:
    if child.stdin is None or child.stdout is None:
        raise MeasuringError("the measuring process has no pipes")
    try:
        child.stdin.write(msgspec.json.encode(order) + b"\n")
        child.stdin.close()
    except BrokenPipeError:
        pass  # it died at once; what it left behind says why
    for line in child.stdout:
        report = msgspec.json.decode(line, type=ChildReport)
        if report.figures is not None:
            child.wait()
            return report
        if progress is not None:
            progress(report.done)
    code = child.wait()
    errors.seek(0)
    left = errors.read().decode(errors="replace").strip()
    raise MeasuringError(f"measuring {order.case} ended with code {code}: {left}")
