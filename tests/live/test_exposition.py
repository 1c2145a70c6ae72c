"""How metrics read: help, bounds, numbers, and what is left out."""

import pytest
from support.live.watched_metrics import Watched
from support.scheduler.config.fake_host_environment import FakeHostEnvironment

from podium.live import metric_definitions as known
from podium.live.exposition import Exposition, MetricRules, go_number, rules_of
from podium.scheduler.config.flags.options import options_of
from podium.scheduler.config.flags.parser import parse_flags
from podium.testing import make_node
from podium.testing import make_pod as pending
from podium.testing.fake_cluster import DEFAULT_SCHEDULER as OURS


def test_what_was_never_counted_is_not_shown_unless_it_has_no_labels() -> None:
    text = Watched().text()
    assert "scheduler_preemption_attempts_total 0.0\n" in text
    assert 'scheduler_preemption_victims_bucket{le="1"} 0.0\n' in text
    assert "scheduler_schedule_attempts_total" not in text
    assert "scheduler_podgroup" not in text


def test_help_begins_with_the_stability() -> None:
    text = Watched().text()
    assert "# HELP scheduler_pending_pods [STABLE] Number of pending pods" in text
    assert "# TYPE scheduler_pending_pods gauge\n" in text
    assert "# TYPE scheduler_preemption_attempts_total counter\n" in text


def test_a_reset_starts_all_counts_anew() -> None:
    driver = Watched(make_node("a"), pending("p"))
    driver.run()
    driver.bound("p")
    driver.metrics.reset()
    assert driver.samples("scheduler_schedule_attempts_total") == {}
    assert driver.samples("scheduler_plugin_evaluation_total") == {}
    assert driver.samples("scheduler_cache_size")["pods",] == 1
    driver.put(pending("q"))
    driver.run()
    driver.bound("q")
    assert driver.samples("scheduler_schedule_attempts_total") == {(OURS, "scheduled"): 1}


def test_metrics_can_be_disabled() -> None:
    rules = MetricRules(frozenset({"scheduler_cache_size", "scheduler_preemption_victims"}))
    text = Watched(rules=rules).text()
    assert "scheduler_cache_size" not in text
    assert "scheduler_preemption_victims" not in text
    assert "scheduler_pending_pods" in text


def test_label_values_can_be_limited() -> None:
    flag = "--allow-metric-labels=scheduler_pending_pods,queue=active,backoff"
    options = options_of(parse_flags([flag])).metrics
    assert options.allow_metric_labels == {"scheduler_pending_pods,queue": "active,backoff"}
    driver = Watched(pending("p"), rules=rules_of(options, FakeHostEnvironment()))
    assert driver.samples("scheduler_pending_pods") == {
        ("active",): 1,
        ("backoff",): 0,
        ("unexpected",): 0,
    }


def test_a_manifest_limits_labels_too() -> None:
    options = options_of(parse_flags(["--allow-metric-labels-manifest=labels.yaml"])).metrics
    written = "leader_election_master_status,name: ours"
    host = FakeHostEnvironment(files={"labels.yaml": written})
    shown = Exposition(rules_of(options, host), process=False)
    gauge = shown.gauge(known.LEADER)
    gauge.of("ours").set(1)
    gauge.of("theirs").set(1)
    assert 'name="unexpected"' in shown.text().decode()
    assert "theirs" not in shown.text().decode()


def test_buckets_are_counted_up_to_their_bound() -> None:
    shown = Exposition(process=False)
    series = shown.histogram(known.POD_ATTEMPTS).of()
    for value in (1, 2, 2, 3, 100):
        series.observe(value)
    lines = [line for line in shown.text().decode().splitlines() if "bucket" in line]
    assert [line.partition("{")[2] for line in lines] == [
        'le="1"} 1.0',
        'le="2"} 3.0',
        'le="4"} 4.0',
        'le="8"} 4.0',
        'le="16"} 4.0',
        'le="+Inf"} 5.0',
    ]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.001, "0.001"),
        (1, "1"),
        (1e-05, "1e-05"),
        (123456.5, "123456.5"),
        (1_000_000, "1e+06"),
        (16_777_216, "1.6777216e+07"),
        (-2_097_152, "-2.097152e+06"),
        (0, "0"),
    ],
)
def test_numbers_read_as_go_writes_them(number: float, shown: str) -> None:
    assert go_number(number) == shown


def test_bounds_grow_by_their_factor() -> None:
    assert known.ATTEMPT_DURATION.bounds[:3] == (0.001, 0.002, 0.004)
    assert len(known.ATTEMPT_DURATION.bounds) == 15
    assert known.POD_SLI_DURATION.bounds[-1] == pytest.approx(5242.88)
    assert known.PREEMPTION_VICTIMS.bounds == (1, 2, 4, 8, 16, 32, 64)


def test_every_name_is_there_once() -> None:
    definitions = [each for each in vars(known).values() if isinstance(each, known.Definition)]
    names = [definition.name for definition in definitions]
    assert len(names) == len(set(names)) > 30
