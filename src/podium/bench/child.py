"""One measurement in a process of its own: an order on standard input, reports on standard output.

A process that has measured something before has memory and caches that the next measurement would
be charged with; hence one process for each run. Reports are JSON, one a line: how far it has come,
and at the end what was found.
"""

import sys
from typing import BinaryIO, Literal

import msgspec

from podium.bench.engine_run import Progress, measure_case
from podium.bench.figures import Figures
from podium.bench.function_times import FunctionTime, FunctionTimes
from podium.bench.scene import Plan
from podium.bench.stack_samples import StackSamples, folded

Look = Literal["", "functions", "stacks"]
"""Who looks on: nobody, a counter of calls, a sampler of stacks."""


class Order(msgspec.Struct, kw_only=True):
    """What to measure."""

    case: str
    plan: Plan
    percentage: int = 100
    seed: int = 0
    configuration: str | None = None
    look: Look = ""


class Report(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How many pods are bound so far; with `figures` it is the last report."""

    done: int = 0
    figures: Figures | None = None
    functions: tuple[FunctionTime, ...] = ()
    stacks: dict[str, int] = {}


def carry_out(order: Order, progress: Progress | None = None) -> Report:
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
    return Report(
        done=figures.bound,
        figures=figures,
        functions=counter.top() if counter else (),
        stacks=folded(sampler.stacks) if sampler else {},
    )


def serve(source: BinaryIO, target: BinaryIO) -> None:
    def tell(report: Report) -> None:
        target.write(msgspec.json.encode(report) + b"\n")
        target.flush()

    order = msgspec.json.decode(source.readline(), type=Order)
    tell(carry_out(order, lambda done: tell(Report(done=done))))


if __name__ == "__main__":
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except KeyboardInterrupt:
        sys.exit(130)
