"""Results as JSON: what `--json` prints, and what `--compare` and plots read again.

The figures of the fastest run stand beside the rates of all runs. A workload file has one result,
which is printed without a list around it. Releases before `podium/v1` printed a plain JSON array
for several, which is still read.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from podium.bench.cases import full_name
from podium.bench.figures import Result
from podium.golang.errors import InputError


class Recorded(msgspec.Struct, kw_only=True):
    """An earlier result, as far as it is compared."""

    workload: str
    case: str = ""
    nodes: int = 0
    pods: int = 0
    pods_per_s: float
    pods_per_cpu_s: float = 0.0
    runs: tuple[float, ...] = ()
    cpu_runs: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return self.case or full_name(self.workload)

    @property
    def slowest(self) -> float:
        return min(self.runs, default=self.pods_per_s)

    @property
    def best_by_cpu(self) -> float:
        return max(self.cpu_runs, default=self.pods_per_cpu_s)


def to_document(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    return {
        "workload": result.workload,
        "case": result.case,
        **msgspec.to_builtins(result.best),
        "runs": [run.pods_per_s for run in result.runs],
        "cpu_runs": [run.pods_per_cpu_s for run in result.runs],
        "spread": round(result.spread, 4),
    }


def recorded(result: Result) -> Recorded:
    return msgspec.convert(to_document(result), Recorded)


def read_results(data: bytes, source: str) -> list[Recorded]:
    """Results that `--json` printed before."""
    try:
        found = msgspec.json.decode(_items(data), type=list[Recorded] | Recorded)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(
            f"not the results of a run: {problem}",
            source=source,
            remedy="give a file that `podium bench --json` has printed",
        ) from problem
    return found if isinstance(found, list) else [found]


def _items(data: bytes) -> bytes | msgspec.Raw:
    """The results of a list; a single result and a plain array are what they are."""
    found = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    return found.get("items", data) if isinstance(found, dict) else data


def by_name(results: Sequence[Recorded]) -> dict[str, Recorded]:
    return {result.name: result for result in results}
