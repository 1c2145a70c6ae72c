"""Measuring in a process of its own, seen from the process that asks for it."""

import subprocess
import sys
import tempfile
from typing import IO

import msgspec

from podium.bench.child import Order, Report
from podium.bench.engine_run import Progress


class MeasuringError(RuntimeError):
    """A measurement ended without figures; the text is what its process left behind."""


def measure_apart(order: Order, progress: Progress | None = None) -> Report:
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
) -> Report:
    if child.stdin is None or child.stdout is None:
        raise MeasuringError("the measuring process has no pipes")
    try:
        child.stdin.write(msgspec.json.encode(order) + b"\n")
        child.stdin.close()
    except BrokenPipeError:
        pass  # it died at once; what it left behind says why
    for line in child.stdout:
        report = msgspec.json.decode(line, type=Report)
        if report.figures is not None:
            child.wait()
            return report
        if progress is not None:
            progress(report.done)
    code = child.wait()
    errors.seek(0)
    left = errors.read().decode(errors="replace").strip()
    raise MeasuringError(f"measuring {order.case} ended with code {code}: {left}")
