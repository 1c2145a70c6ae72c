"""Stories of pods and their last decisions."""

import numpy as np
from support.scheduler.engine.queues import info

from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Line, PodLog


def decision(name: str, rows: int = 0) -> Decision:
    made = Decision(info(name), "default-scheduler", ())
    made.feasible = np.zeros(rows, dtype=np.intp)
    return made


def test_a_story_is_told_in_order() -> None:
    pod_log = PodLog()
    pod_log.note("ns/p", 1.0, "queued")
    pod_log.note("ns/q", 2.0, "queued")
    pod_log.note("ns/p", 3.0, "tried", "chose a")
    assert pod_log.lines("ns/p") == [Line(1.0, "queued"), Line(3.0, "tried", "chose a")]
    assert pod_log.pods() == ["ns/p", "ns/q"]
    assert pod_log.lines("ns/x") == []


def test_a_long_story_keeps_its_beginning_and_its_end() -> None:
    pod_log = PodLog(most_lines=3)
    for number in range(6):
        pod_log.note("ns/p", float(number), str(number))
    assert [line.what for line in pod_log.lines("ns/p")] == ["0", "4", "5"]


def test_the_oldest_stories_are_forgotten_first() -> None:
    pod_log = PodLog(most_pods=2)
    for key in ("a", "b", "c"):
        pod_log.note(key, 0.0, "queued")
    assert pod_log.pods() == ["b", "c"]


def test_the_latest_decision_of_a_pod_is_kept() -> None:
    pod_log = PodLog()
    first, second = decision("p"), decision("p")
    pod_log.keep(first)
    pod_log.keep(second)
    assert pod_log.decision("default/p") is second
    assert pod_log.decision_bytes == second.nbytes
    assert pod_log.decision("default/q") is None


def test_decisions_are_bounded_in_bytes_and_the_newest_always_stays() -> None:
    pod_log = PodLog(most_bytes=30_000)
    for name in ("a", "b", "c"):
        pod_log.keep(decision(name, rows=1500))
    assert pod_log.decision("default/a") is None
    assert pod_log.decision("default/b") is not None
    assert pod_log.decision("default/c") is not None
    huge = decision("d", rows=100_000)
    pod_log.keep(huge)
    assert pod_log.decision("default/d") is huge
    assert pod_log.decision("default/c") is None
    assert pod_log.decision_bytes == huge.nbytes
