"""Stories of pods and their last decisions."""

import numpy as np
from queues import info

from podium.engine.decision import Decision
from podium.engine.journal import Journal, Line


def decision(name: str, rows: int = 0) -> Decision:
    made = Decision(info(name), "default-scheduler", ())
    made.feasible = np.zeros(rows, dtype=np.intp)
    return made


def test_a_story_is_told_in_order() -> None:
    journal = Journal()
    journal.note("ns/p", 1.0, "queued")
    journal.note("ns/q", 2.0, "queued")
    journal.note("ns/p", 3.0, "tried", "chose a")
    assert journal.story("ns/p") == [Line(1.0, "queued"), Line(3.0, "tried", "chose a")]
    assert journal.pods() == ["ns/p", "ns/q"]
    assert journal.story("ns/x") == []


def test_a_long_story_keeps_its_beginning_and_its_end() -> None:
    journal = Journal(most_lines=3)
    for number in range(6):
        journal.note("ns/p", float(number), str(number))
    assert [line.what for line in journal.story("ns/p")] == ["0", "4", "5"]


def test_the_oldest_stories_are_forgotten_first() -> None:
    journal = Journal(most_pods=2)
    for key in ("a", "b", "c"):
        journal.note(key, 0.0, "queued")
    assert journal.pods() == ["b", "c"]


def test_the_latest_decision_of_a_pod_is_kept() -> None:
    journal = Journal()
    first, second = decision("p"), decision("p")
    journal.keep(first)
    journal.keep(second)
    assert journal.decision("default/p") is second
    assert journal.decision_bytes == second.nbytes
    assert journal.decision("default/q") is None


def test_decisions_are_bounded_in_bytes_and_the_newest_always_stays() -> None:
    journal = Journal(most_bytes=30_000)
    for name in ("a", "b", "c"):
        journal.keep(decision(name, rows=1500))
    assert journal.decision("default/a") is None
    assert journal.decision("default/b") is not None
    assert journal.decision("default/c") is not None
    huge = decision("d", rows=100_000)
    journal.keep(huge)
    assert journal.decision("default/d") is huge
    assert journal.decision("default/c") is None
    assert journal.decision_bytes == huge.nbytes
