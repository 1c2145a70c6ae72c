"""When workloads arrive: rates, waves, bursts, traces, and that chance keeps its streams."""

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from support.offline.scenarios.files import WEB, read

from podium.golang.errors import InputError
from podium.offline.scenarios.arrivals import Arrival
from podium.offline.scenarios.run_times import RandomStream
from podium.offline.scenarios.tenants import merge_events
from podium.offline.simulate.timed_events import PodArrival

HOUR, DAY = 3600.0, 86_400.0


def arrivals(until_s: float, folder: str = "", scale: float = 1.0, **kind: Any) -> list[Arrival]:
    tenant = {**WEB, "arrivals": kind}
    found = read(folder, tenants=[tenant]).tenants[0].arrivals
    drawn = found.draw(RandomStream(3, "web", "arrivals"), scale)
    return list(itertools.takewhile(lambda each: each.at < until_s, drawn))


def test_a_poisson_process_has_its_rate_and_its_spread() -> None:
    times = [each.at for each in arrivals(200 * HOUR, poisson={"rate": "60/h"})]
    expected = 200 * 60
    assert abs(len(times) - expected) < 4 * math.sqrt(expected)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    mean = sum(gaps) / len(gaps)
    deviation = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps))
    assert deviation == pytest.approx(mean, rel=0.05)


def test_a_diurnal_rate_peaks_by_day_and_rests_at_weekends() -> None:
    wave = {"rate": "60/h", "amplitude": 1.0, "peak": "12h", "weekend": 0.5}
    times = [each.at for each in arrivals(7 * DAY, diurnal=wave)]
    weekdays = [at for at in times if at < 5 * DAY]
    assert len(weekdays) == pytest.approx(5 * 24 * 60, rel=0.05)
    assert len(times) - len(weekdays) == pytest.approx(2 * 24 * 30, rel=0.1)
    noon = sum(10 <= at % DAY / HOUR < 14 for at in weekdays)
    midnight = sum(at % DAY / HOUR < 2 or at % DAY / HOUR >= 22 for at in weekdays)
    assert noon > 10 * midnight


def test_intervals_and_bursts_come_by_the_clock() -> None:
    every = arrivals(HOUR, interval={"every": "20m", "first": "5m"})
    assert [each.at for each in every] == [300.0, 1500.0, 2700.0]
    bursts = arrivals(2 * DAY, burst={"count": 5, "first": "1h", "every": "24h", "over": "10m"})
    assert len(bursts) == 10
    assert all(HOUR <= each.at % DAY <= HOUR + 600 for each in bursts)
    assert [each.at for each in bursts] == sorted(each.at for each in bursts)


def test_a_trace_is_replayed_with_run_times_and_workloads(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("at,run_time,workload\n90,5m,pod\n1m,,\n")
    found = arrivals(HOUR, str(tmp_path), trace={"file": "trace.csv"})
    assert found == [Arrival(60.0), Arrival(90.0, 300.0, "pod")]
    assert [each.at for each in arrivals(HOUR, trace={"times": ["2m", "30s"]})] == [30.0, 120.0]


def test_a_scaled_trace_has_so_many_times_the_arrivals() -> None:
    times = [f"{second}s" for second in range(1000)]
    assert len(arrivals(HOUR, scale=2.0, trace={"times": times})) == 2000
    assert len(arrivals(HOUR, scale=0.25, trace={"times": times})) == pytest.approx(250, abs=50)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("when\n1\n", "trace.csv: line 1: its columns are when; the first line names them"),
        ("at\nsoon\n", 'trace.csv: line 2: at: "soon" is no length of time; write it as'),
        ("at,workload\n1,wbe\n", "there is no workload wbe"),
        ('at\n"1\n', "is no CSV"),
    ],
)
def test_a_trace_that_is_wrong_is_refused_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "trace.csv").write_text(text)
    tenant = {**WEB, "arrivals": {"trace": {"file": "trace.csv"}}}
    with pytest.raises(InputError) as refused:
        read(str(tmp_path), tenants=[tenant])
    assert problem in str(refused.value)


def test_one_tenant_does_not_shift_another() -> None:
    other = {**WEB, "name": "other", "arrivals": {"poisson": {"rate": "100/h"}}}

    def of_web(*tenants: dict[str, Any]) -> list[tuple[float, float | None]]:
        events = merge_events(read(tenants=list(tenants)).tenants, 5, DAY)
        return [
            (event.at, event.duration_s)
            for event in events
            if isinstance(event, PodArrival) and event.workload == "web/pod"
        ]

    assert of_web(WEB) == of_web(other, WEB)


def test_the_numbers_of_a_stream_are_those_of_every_release() -> None:
    stream = RandomStream(7, "web", "arrivals")
    drawn = [round(stream.draw(), 9) for _ in range(3)]
    assert drawn == [0.856499117, 0.717547669, 0.443395204]


def test_weights_decide_what_arrives() -> None:
    workloads = [
        {"name": "often", "weight": 3, "requests": {"cpu": 1}},
        {"name": "seldom", "weight": 1, "requests": {"cpu": 1}},
    ]
    events = merge_events(read(tenants=[{**WEB, "workloads": workloads}]).tenants, 1, 100 * HOUR)
    found = [event.workload for event in events if isinstance(event, PodArrival)]
    assert found.count("web/often") / len(found) == pytest.approx(0.75, abs=0.03)


def test_run_times_have_the_shape_that_is_asked_for() -> None:
    def lengths(**run_time: Any) -> list[float]:
        events = merge_events(read(tenants=[{**WEB, "runTime": run_time}]).tenants, 1, 100 * HOUR)
        return sorted(e.duration_s or 0.0 for e in events if isinstance(e, PodArrival))

    exponential = lengths(exponential={"mean": "10m"})
    assert sum(exponential) / len(exponential) == pytest.approx(600, rel=0.08)
    lognormal = lengths(lognormal={"median": "10m", "sigma": 1})
    assert lognormal[len(lognormal) // 2] == pytest.approx(600, rel=0.1)
    uniform = lengths(uniform={"min": "5m", "max": "10m"})
    assert 300 <= uniform[0] < 310
    assert 590 < uniform[-1] <= 600
    assert set(lengths(constant="7m")) == {420.0}
