"""Measuring a workload file: what comes in, what is reported."""

from typing import Any

import msgspec
import pytest

from podium.bench.cases import CASES
from podium.bench.engine_run import measure_case, measure_file, read_workload
from podium.bench.results import Figures, Result, percentile_ms
from podium.golang.errors import InputError

NODE: dict[str, Any] = {
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def workload(*pods: dict[str, Any], init: tuple[dict[str, Any], ...] = ()) -> bytes:
    return msgspec.json.encode({"nodes": [NODE], "init": init, "pods": pods})


def test_pods_of_a_file_are_bound_one_by_one() -> None:
    seen: list[int] = []
    data = workload(pod("a"), pod("b"), pod("c"), init=(pod("z", nodeName="n1"),))
    figures = measure_file(read_workload(data, "file"), progress=seen.append)
    assert (figures.nodes, figures.init, figures.pods) == (1, 1, 3)
    assert (figures.bound, figures.failed) == (1, 2)
    assert figures.p50_ms <= figures.p99_ms
    assert seen == [0]


def test_what_is_not_a_workload_is_refused_with_its_source() -> None:
    with pytest.raises(InputError, match="file: not a workload"):
        read_workload(b'{"nodes": 3}', "file")


def test_figures_have_the_keys_that_scripts_read() -> None:
    figures = measure_file(read_workload(workload(pod("a")), "file"))
    found = msgspec.to_builtins(figures)
    keys = {"pods_per_s", "p50_ms", "p99_ms", "peak_rss_mb", "bound", "failed"}
    assert keys <= set(found)


def test_a_result_knows_its_fastest_and_slowest_runs() -> None:
    runs = [_figures(rate) for rate in (100.0, 200.0, 150.0)]
    result = Result(workload="w", case="w", runs=tuple(runs))
    assert (result.best.pods_per_s, result.slowest, result.spread) == (200.0, 100.0, 0.5)
    assert result.best_by_cpu == 400.0


def test_percentiles_are_of_sorted_times() -> None:
    times = [n / 1000 for n in range(1, 101)]
    assert percentile_ms(times, 50) == 51.0
    assert percentile_ms(times, 99) == 100.0
    assert percentile_ms([], 50) == 0.0


def test_a_profiler_sees_the_measured_part_only() -> None:
    entered: list[str] = []

    class Watcher:
        def __enter__(self) -> None:
            entered.append("in")

        def __exit__(self, *_: object) -> None:
            entered.append("out")

    measure_case("SchedulingBasic", CASES["SchedulingBasic"].plan(5), profiler=Watcher())
    assert entered == ["in", "out"]


def _figures(rate: float) -> Figures:
    return Figures(
        nodes=1,
        pods=1,
        bound=1,
        failed=0,
        seconds=1.0,
        cpu_seconds=1.0,
        pods_per_s=rate,
        pods_per_cpu_s=2 * rate,
        p50_ms=0.0,
        p99_ms=0.0,
        peak_rss_mb=1.0,
        load=0.0,
    )
