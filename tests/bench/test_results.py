"""Results written, read again and compared."""

import msgspec
import pytest

from podium.bench.results import (
    FASTER,
    OTHER_SIZE,
    SAME,
    SLOWER,
    EngineBenchmark,
    Figures,
    Recorded,
    Result,
    compare,
    read_results,
    record_result,
)
from podium.golang.errors import InputError
from podium.net.files.versioned_documents import DocumentList, add_version_to


def result(name: str, *rates: float, nodes: int = 500, cpu: float = 0.0) -> Recorded:
    return Recorded(
        workload=name,
        nodes=nodes,
        pods=10,
        pods_per_s=max(rates),
        pods_per_cpu_s=cpu,
        runs=rates,
    )


def measured(name: str, *rates: float) -> Result:
    runs = (
        Figures(
            nodes=500,
            pods=10,
            bound=10,
            failed=0,
            seconds=1.0,
            cpu_seconds=1.0,
            pods_per_s=rate,
            p50_ms=1.0,
            p99_ms=1.0,
            peak_rss_mb=1.0,
            load=0.0,
        )
        for rate in rates
    )
    return Result(workload=name, case=name, runs=tuple(runs))


def test_results_are_read_as_they_were_written() -> None:
    written = [result("SchedulingBasic", 1.0, 2.0)]
    assert read_results(msgspec.json.encode(written), "file") == written


def test_a_list_of_results_is_read_as_the_plain_array_of_older_releases_is() -> None:
    written = [measured("SchedulingBasic", 1.0, 2.0), measured("spread", 3.0)]
    items = [EngineBenchmark.of(each) for each in written]
    document = add_version_to(DocumentList(EngineBenchmark, items))
    recorded = [record_result(each) for each in written]
    assert read_results(msgspec.json.encode(document), "file") == recorded
    assert [each.runs for each in recorded] == [(1.0, 2.0), (3.0,)]


def test_the_single_result_of_a_workload_file_is_read_too() -> None:
    written = result("workload.json", 1.0)
    assert read_results(msgspec.json.encode(written), "file") == [written]


@pytest.mark.parametrize("written", [b"[1, 2]", b'{"items": 3}', b'{"items": [{}]}', b"7", b"{"])
def test_something_else_is_refused(written: bytes) -> None:
    with pytest.raises(InputError, match=r"earlier\.json: not the results of a run"):
        read_results(written, "earlier.json")


def test_a_short_name_and_the_full_one_are_the_same_workload() -> None:
    (compared,) = compare([result("basic", 100.0)], [result("SchedulingBasic", 150.0)])
    assert compared.name == "SchedulingBasic"
    assert compared.ratio == 1.5


def test_runs_that_overlap_are_within_noise() -> None:
    (compared,) = compare([result("basic", 90.0, 110.0)], [result("basic", 100.0, 130.0)])
    assert compared.verdict == SAME


def test_a_change_is_one_that_no_run_contradicts() -> None:
    before = [result("basic", 90.0, 110.0)]
    (faster,) = compare(before, [result("basic", 111.0, 130.0)])
    (slower,) = compare(before, [result("basic", 50.0, 89.0)])
    assert (faster.verdict, slower.verdict) == (FASTER, SLOWER)


def test_other_sizes_are_not_judged() -> None:
    (compared,) = compare([result("basic", 1.0)], [result("basic", 9.0, nodes=5000)])
    assert compared.verdict == OTHER_SIZE


def test_workloads_that_only_one_run_has_are_left_out() -> None:
    assert compare([result("basic", 1.0)], [result("spread", 1.0)]) == []


def test_ratios_by_cpu_time_need_both_sides() -> None:
    with_cpu, without = result("basic", 10.0, cpu=20.0), result("basic", 10.0)
    assert compare([with_cpu], [with_cpu])[0].cpu_ratio == 1.0
    assert compare([without], [with_cpu])[0].cpu_ratio == 0.0
