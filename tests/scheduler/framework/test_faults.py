"""Exceptions and wrong answers of plugins, told so that their author finds them."""

from typing import Any

import numpy as np
import pytest

from podium.scheduler.cluster.growth import Ints, Rows, count_of
from podium.scheduler.framework.caches.vectors import VectorCache
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.faults import describe, locate_problem
from podium.scheduler.framework.filtering import run_filters, run_pre_filters
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeScorePlugin
from podium.scheduler.framework.points import (
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import ScoringError, run_pre_scores, run_scores
from podium.testing import make_cluster, make_handle, make_node, make_pod


def raised(problem: Exception) -> Exception:
    try:
        raise problem
    except Exception as caught:
        return caught


def test_what_is_raised_on_purpose_speaks_for_itself() -> None:
    assert describe(raised(ValueError("no such pool"))) == "no such pool"
    assert describe(raised(TimeoutError())) == "TimeoutError"


@pytest.mark.parametrize("kind", [KeyError, AttributeError, TypeError, ZeroDivisionError])
def test_an_accident_says_what_it_is_and_where(kind: type[Exception]) -> None:
    text = describe(raised(kind("zone")))
    assert text.startswith(f"{kind.__name__}: ")
    assert "zone" in text
    assert "(test_faults.py, line " in text


def test_an_exception_that_nobody_raised_has_no_place() -> None:
    assert locate_problem(KeyError("zone")) == "KeyError: 'zone'"
    assert locate_problem(ValueError()) == "ValueError"


# wrong answers


def cycle_of(*nodes: str) -> Cycle:
    cluster = make_cluster([make_node(name) for name in nodes or ("a", "b")])
    return Cycle(cluster.infos.of(make_pod("p")), cluster)


def built(kind: type[Plugin]) -> Any:
    return kind(None, make_handle())


def filtered(kind: type[FilterPlugin], vectors: VectorCache | None = None) -> str:
    cycle = cycle_of()
    result = run_filters([built(kind)], cycle, cycle.nodes.all_rows(), vectors)
    status = result.status(0)
    assert status is not None
    return status.message


def scored(kind: type[ScorePlugin], vectors: VectorCache | None = None) -> str:
    cycle = cycle_of()
    with pytest.raises(ScoringError) as caught:
        run_scores([(built(kind), 1)], cycle, cycle.nodes.all_rows(), vectors)
    return str(caught.value)


@pytest.mark.parametrize(("answer", "shown"), [(True, "True"), (7, "7"), ([], "list")])
def test_a_node_filter_must_give_a_reason(answer: Any, shown: str) -> None:
    class Odd(NodeFilterPlugin):
        name = "Odd"

        def filter_node(self, pod: Any, node: Any) -> Any:
            return answer

    assert filtered(Odd) == (
        'running "Odd" filter plugin: filter_node must answer with None, a reason or a Status,'
        f" not {shown}"
    )


@pytest.mark.parametrize(("answer", "shown"), [(None, "NoneType"), (0.5, "0.5"), ("x", "'x'")])
def test_a_node_score_must_be_a_whole_number(answer: Any, shown: str) -> None:
    class Odd(NodeScorePlugin):
        name = "Odd"

        def score_node(self, pod: Any, node: Any) -> Any:
            return answer

    assert scored(Odd) == (
        'running Score plugins: plugin "Odd" failed with: score_node must answer with a whole'
        f" number, not {shown}"
    )


class Mask(FilterPlugin):
    name = "Mask"

    def filter(self, cycle: Cycle, rows: Rows) -> Any:
        return np.ones(count_of(rows), dtype=bool)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(None, usage=False)


@pytest.mark.parametrize("vectors", [None, VectorCache()])
def test_a_filter_must_answer_with_a_verdict(vectors: VectorCache | None) -> None:
    assert filtered(Mask, vectors) == (
        'running "Mask" filter plugin: filter must answer with None or a Verdict (from rejecting,'
        " choosing or per_row), not ndarray of bool"
    )


class Floats(ScorePlugin):
    name = "Floats"

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.full(count_of(rows), 0.5)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(None, usage=False)


class Listed(Floats):
    def score(self, cycle: Cycle, rows: Rows) -> Any:
        return [1] * count_of(rows)


class FloatsLater(Floats):
    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.ones(count_of(rows), dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Any:
        return scores / 2


@pytest.mark.parametrize("vectors", [None, VectorCache()])
@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (Floats, "ndarray of float64"),
        (Listed, "list"),
        (FloatsLater, "ndarray of float64"),
    ],
)
def test_scores_must_be_an_array_of_whole_numbers(
    kind: type[ScorePlugin], shown: str, vectors: VectorCache | None
) -> None:
    told = scored(kind, VectorCache() if vectors is not None else None)
    assert told.endswith(f"score must answer with an array of whole numbers, not {shown}")


def test_a_dependence_that_breaks_is_the_plugins_failure() -> None:
    class Confused(Floats):
        name = "Confused"

        def score_depends(self, cycle: Cycle) -> Dependence:
            raise ValueError("on what?")

    assert scored(Confused, VectorCache()) == (
        'running Score plugins: plugin "Confused" failed with: on what?'
    )


def pre_filter(answer: Any) -> Any:
    class Early(PreFilterPlugin):
        name = "Early"

        def pre_filter(self, cycle: Cycle) -> Any:
            return answer

    return run_pre_filters([built(Early)], cycle_of())


def test_a_plain_set_narrows_as_a_frozen_one_does() -> None:
    assert pre_filter({"a"}).nodes == frozenset({"a"})


def test_anything_else_of_a_prefilter_is_an_error() -> None:
    assert pre_filter(["a"]).status.message == (
        'running PreFilter plugin "Early": pre_filter must answer with None, a Status or a set of'
        " node names, not list"
    )


def test_so_it_is_with_a_prescore() -> None:
    class Early(PreScorePlugin):
        name = "Early"

        def pre_score(self, cycle: Cycle, rows: Rows) -> Any:
            return False

    cycle = cycle_of()
    with pytest.raises(ScoringError, match="must answer with None or a Status, not False"):
        run_pre_scores([built(Early)], cycle, cycle.nodes.all_rows())
