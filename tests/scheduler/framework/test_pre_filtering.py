"""PreFilter: what each code does, and how node sets meet."""

import pytest
from support.scheduler.framework.fake_plugins import made, pre_filter

from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import PreFilterOutcome, run_pre_filters
from podium.scheduler.framework.points import PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from podium.testing import make_cluster, make_node, make_pod


def cycle() -> Cycle:
    cluster = make_cluster([make_node("a"), make_node("b")])
    return Cycle(cluster.infos.of(make_pod("p")), cluster)


def run(*plugins: type[PreFilterPlugin], on: Cycle | None = None) -> PreFilterOutcome:
    return run_pre_filters(made(*plugins), on or cycle())


def names(*found: str) -> frozenset[str]:
    return frozenset(found)


def test_without_objections_all_nodes_are_searched() -> None:
    outcome = run(pre_filter("A", None), pre_filter("B", Status(Code.SUCCESS)))
    assert outcome == PreFilterOutcome()


def test_a_plugin_that_skips_leaves_its_filter_out() -> None:
    attempt = cycle()
    outcome = run(pre_filter("A", SKIP), pre_filter("B", None), pre_filter("C", SKIP), on=attempt)
    assert outcome.skipped == ["A", "C"]
    assert attempt.skip_filter == {"A", "C"}
    assert outcome.status is None


def test_an_unschedulable_answer_lets_the_others_speak_and_the_last_one_wins() -> None:
    log: list[str] = []
    outcome = run(
        pre_filter("A", unschedulable("first"), log),
        pre_filter("B", unschedulable("second"), log),
        pre_filter("C", SKIP, log),
    )
    assert log == ["A", "B", "C"]
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("second",), "B")
    assert outcome.skipped == ["C"]


def test_an_unschedulable_answer_keeps_the_plugins_that_narrowed() -> None:
    outcome = run(
        pre_filter("A", names("a")),
        pre_filter("B", unschedulable("no")),
        pre_filter("C", names("a")),
    )
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("no",), "B")
    assert outcome.narrowed_by == {"A", "C"}


def test_an_unresolvable_answer_ends_the_phase_at_once() -> None:
    log: list[str] = []
    outcome = run(
        pre_filter("A", names("a"), log),
        pre_filter("B", unschedulable("soft"), log),
        pre_filter("C", unresolvable("hard"), log),
        pre_filter("D", None, log),
    )
    assert log == ["A", "B", "C"]
    assert outcome.status == Status(Code.UNRESOLVABLE, ("hard",), "C")
    assert outcome.narrowed_by == set()


@pytest.mark.parametrize(
    "answer",
    [
        error("boom"),
        RuntimeError("boom"),
        Status(Code.PENDING, ("boom",)),
        Status(Code.WAIT, ("boom",)),
    ],
)
def test_anything_else_breaks_the_attempt(answer: Status | Exception) -> None:
    outcome = run(pre_filter("A", names("a")), pre_filter("B", answer), pre_filter("C", None))
    assert outcome.status == Status(Code.ERROR, ('running PreFilter plugin "B": boom',), "B")
    assert outcome.narrowed_by == set()


def test_an_exception_without_text_is_told_by_its_type() -> None:
    outcome = run(pre_filter("A", TimeoutError()))
    assert outcome.status is not None
    assert outcome.status.message == 'running PreFilter plugin "A": TimeoutError'


def test_node_sets_intersect() -> None:
    outcome = run(
        pre_filter("A", names("a", "b")), pre_filter("B", None), pre_filter("C", names("b", "c"))
    )
    assert outcome.nodes == names("b")
    assert outcome.narrowed_by == {"A", "C"}
    assert outcome.status is None


def test_one_plugin_that_wants_no_node_is_named() -> None:
    log: list[str] = []
    outcome = run(pre_filter("A", names(), log), pre_filter("B", None, log))
    assert log == ["A"]
    assert outcome.status == unresolvable("node(s) didn't satisfy plugin A")
    assert outcome.narrowed_by == {"A"}


def test_plugins_that_cannot_agree_are_named_in_order() -> None:
    outcome = run(
        pre_filter("Z", names("a")),
        pre_filter("M", unschedulable("dropped")),
        pre_filter("B", names("b")),
        pre_filter("C", None),
    )
    assert outcome.status == unresolvable("node(s) didn't satisfy plugin(s) [B Z] simultaneously")
    assert outcome.narrowed_by == {"B", "Z"}
