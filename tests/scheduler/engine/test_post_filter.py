"""PostFilter: how the answers of several plugins become one."""

from dataclasses import replace

from support.scheduler.framework.fake_plugins import filter_by, made, make_engine, post_filter

from podium.scheduler.engine.post_filter import run_post_filters
from podium.scheduler.framework.asking import drive
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.points import PostFilterPlugin, PostFilterResult
from podium.scheduler.framework.status import Code, unschedulable
from podium.testing import make_cluster, make_node, make_pod


def run(*plugins: type[PostFilterPlugin]) -> PostFilterResult:
    cluster = make_cluster([make_node("a")])
    cycle = Cycle(cluster.infos.of(make_pod("p")), cluster)
    return drive(run_post_filters(made(*plugins), cycle, Diagnosis(1)))


def says(code: Code, *reasons: str, node: str | None = None) -> PostFilterResult:
    return PostFilterResult(code, reasons, node)


def test_unschedulable_answers_are_collected() -> None:
    result = run(
        post_filter("A", says(Code.UNSCHEDULABLE, "one", "two")),
        post_filter("B", says(Code.PENDING, "three")),
    )
    assert result == says(Code.UNSCHEDULABLE, "one", "two", "three")
    assert result.message == "one, two, three"


def test_the_first_success_ends_the_phase_and_drops_earlier_texts() -> None:
    log: list[str] = []
    result = run(
        post_filter("A", says(Code.UNSCHEDULABLE, "one", node=""), log),
        post_filter("B", says(Code.SUCCESS, node="a"), log),
        post_filter("C", says(Code.SUCCESS, node="b"), log),
    )
    assert result == replace(says(Code.SUCCESS, node="a"), plugin="B")
    assert log == ["A", "B"]


def test_the_last_nomination_of_unschedulable_answers_counts() -> None:
    assert run(
        post_filter("A", says(Code.UNSCHEDULABLE, node="a")),
        post_filter("B", says(Code.UNSCHEDULABLE, node="")),
        post_filter("C", says(Code.UNSCHEDULABLE)),
    ) == says(Code.UNSCHEDULABLE, node="")


def test_an_unresolvable_answer_ends_the_phase_with_its_own_text() -> None:
    log: list[str] = []
    result = run(
        post_filter("A", says(Code.UNSCHEDULABLE, "dropped")),
        post_filter("B", says(Code.UNRESOLVABLE, "kept", node="")),
        post_filter("C", says(Code.SUCCESS, node="b"), log),
    )
    assert result == says(Code.UNRESOLVABLE, "kept", node="")
    assert log == []


def test_an_error_ends_the_phase_and_leaves_the_nomination() -> None:
    log: list[str] = []
    result = run(
        post_filter("A", says(Code.UNSCHEDULABLE, "dropped", node="")),
        post_filter("B", says(Code.ERROR, "boom", node="x")),
        post_filter("C", says(Code.SUCCESS, node="b"), log),
    )
    assert result == says(Code.ERROR, "boom")
    assert run(post_filter("A", LookupError("not found"))) == says(Code.ERROR, "not found")
    assert log == []


def test_an_answer_that_makes_no_sense_here_is_an_error() -> None:
    assert run(post_filter("A", says(Code.SKIP, "odd"))) == says(Code.ERROR, "odd")


def test_the_text_is_added_to_the_fit_error_and_the_pod_stays_rejected() -> None:
    engine = make_engine(
        filter_by("F", {"a": unschedulable("full")}),
        post_filter("A", says(Code.UNSCHEDULABLE, "nothing to free", node="")),
        post_filter("B", says(Code.ERROR, "boom")),
        nodes=[make_node("a")],
    )
    decision = engine.schedule(engine.cluster.infos.of(make_pod("p"))).decision
    assert decision.message == "0/1 nodes are available: 1 full. boom"
    assert (decision.is_error, decision.nominated_node) == (False, None)
    assert decision.rejectors == {"F"}


def test_a_successful_post_filter_leaves_the_fit_error_bare_and_nominates() -> None:
    engine = make_engine(
        filter_by("F", {"a": unschedulable("full")}),
        post_filter("A", says(Code.UNSCHEDULABLE, "nothing to free")),
        post_filter("B", says(Code.SUCCESS, node="a")),
        nodes=[make_node("a")],
    )
    decision = engine.schedule(engine.cluster.infos.of(make_pod("p"))).decision
    assert decision.message == "0/1 nodes are available: 1 full."
    assert (decision.bound, decision.nominated_node) == (None, "a")
