"""Data from outside as a column: known, unknown, too old; and never remembered for too long."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Ints,
    Plugin,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    Source,
    ValueSource,
    Verdict,
    rejecting,
    unschedulable,
)
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.framework.faults import WrongAnswer
from podium.scheduler.framework.sources import MAX_VALUES, SourceColumn, SourceError, Sources
from podium.testing import FakeClock, FakeCluster, make_cluster, make_node, make_pod

HOT = unschedulable("node(s) were hot")


class Temperatures(Source):
    name, refresh_every_s, max_age_s = "temperatures", 10.0, 60.0

    def __init__(self, place: str = "here") -> None:
        self.place = place


class Named(ValueSource):
    name = "registry"


class ByTemperature(FilterPlugin, ScorePlugin):
    name = "ByTemperature"
    in_range = True

    def sources(self) -> Sequence[ValueSource]:
        return [Temperatures()]

    @property
    def column(self) -> SourceColumn:
        return self.handle.sources.column("temperatures")

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(self.column.values(rows) > 80, HOT)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores = np.nan_to_num(self.column.values(rows), nan=50.0)
        return scores.clip(0, 100).astype(np.int64)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(None, usage=False, version=self.column.version)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(None, usage=False, version=self.column.version)

    def events(self) -> Sequence[Registration]:
        return [Registration(Resource.SOURCE, Action.UPDATE)]


def column_of(clock: FakeClock, *names: str, source: ValueSource | None = None) -> SourceColumn:
    sources = Sources(make_cluster([make_node(name) for name in names]).nodes, clock)
    sources.declare(source or Temperatures(), "P")
    return next(iter(sources))


# columns


def test_nodes_that_the_source_does_not_know_are_nan() -> None:
    column = column_of(FakeClock(), "a", "b", "c")
    column.keep({"a": 1, "c": 2.5, "elsewhere": 9}, 0.0)

    found = column.values(slice(0, 3))

    assert found.dtype == np.float64
    assert found[[0, 2]].tolist() == [1.0, 2.5]
    assert math.isnan(found[1])
    assert column.values(np.array([2, 0])).tolist() == [2.5, 1.0]


def test_before_the_first_answer_everything_is_unknown() -> None:
    column = column_of(FakeClock(), "a")

    assert column.is_stale
    assert column.age_s == math.inf
    assert np.isnan(column.values(slice(0, 1))).all()


def test_an_answer_that_is_too_old_counts_for_nothing() -> None:
    clock = FakeClock()
    column = column_of(clock, "a")
    column.keep({"a": 1}, clock())
    fresh = column.version

    clock.advance(60)
    assert (column.age_s, column.is_stale, column.version) == (60.0, False, fresh)
    clock.advance(0.1)
    assert column.is_stale
    assert np.isnan(column.values(slice(0, 1))).all()
    assert column.version != fresh


def test_the_version_moves_with_answers_that_differ() -> None:
    column = column_of(FakeClock(), "a")
    column.keep({"a": 1}, 0.0)
    first = column.version

    assert column.keep({"a": 1}, 0.0) is False
    assert column.version == first
    assert column.keep({"a": 2}, 0.0) is True
    assert column.version != first


def test_a_column_that_was_handed_out_stays_as_it_was() -> None:
    column = column_of(FakeClock(), "a")
    column.keep({"a": 1}, 0.0)
    handed_out = column.values(slice(0, 1))
    handed_out[0] = 7

    assert column.values(slice(0, 1)).tolist() == [1.0]


def test_a_general_source_has_a_value_and_no_numbers() -> None:
    clock = FakeClock()
    column = column_of(clock, "a", source=Named())
    column.keep(["any", "thing"], 0.0)

    assert column.value == ["any", "thing"]
    with pytest.raises(SourceError, match="Named is no Source"):
        column.values(slice(0, 1))
    clock.advance(1000)
    assert column.value is None


@pytest.mark.parametrize(
    "answer",
    [[1, 2], {"a": "hot"}, {"a": True}, {"a": None}, dict.fromkeys(range(MAX_VALUES + 1), 1)],
)
def test_an_answer_that_means_nothing_is_refused(answer: Any) -> None:
    with pytest.raises(WrongAnswer, match="fetch must answer with"):
        column_of(FakeClock(), "a").keep(answer, 0.0)


# declaring


def test_equal_sources_are_one() -> None:
    sources = Sources(make_cluster().nodes)
    sources.declare(Temperatures(), "P")
    sources.declare(Temperatures(), "Q")

    assert len(sources) == 1


def test_one_name_for_two_sources_is_refused() -> None:
    sources = Sources(make_cluster().nodes)
    sources.declare(Temperatures("here"), "P")

    with pytest.raises(SourceError, match="not the one that plugin P declared: give it a name"):
        sources.declare(Temperatures("there"), "Q")


def test_a_source_that_nobody_declared_is_told_with_those_that_are() -> None:
    sources = Sources(make_cluster().nodes)
    sources.declare(Temperatures(), "P")

    with pytest.raises(
        SourceError, match=r"no plugin declares a source x \(declared: temperatures"
    ):
        sources.column("x")


class Nameless(Source):
    pass


class Hasty(Source):
    name, timeout_s = "hasty", 0.0


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (Nameless(), "has no name"),
        (Hasty(), "timeout_s must be seconds, not 0.0"),
        (lambda: None, "is no source: inherit Source"),
    ],
)
def test_a_source_that_cannot_be_is_told_before_anything_runs(source: Any, problem: str) -> None:
    class Declares(ByTemperature):
        def sources(self) -> Any:
            return [source]

    with pytest.raises(ConfigurationError, match=problem):
        FakeCluster(plugins=[Declares])


# in an engine

answers = st.dictionaries(st.sampled_from("abc"), st.sampled_from([1.0, 50.0, 90.0]))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), answers),
        st.tuples(st.just("wait"), st.sampled_from([1.0, 61.0])),
        st.tuples(st.just("node"), st.sampled_from("abcd")),
        st.tuples(st.just("gone"), st.sampled_from("abcd")),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_remembered_answers_equal_fresh_ones_whatever_the_source_says(
    sequence: list[tuple[str, Any]],
) -> None:
    cluster = FakeCluster(*(make_node(n) for n in "abc"), plugins=[ByTemperature], validate=False)
    profile = cluster.engine.first_profile
    for what, how in sequence:
        match what:
            case "answer":
                cluster.answer("temperatures", how)
            case "wait":
                cluster.clock.advance(how)
            case "node":
                cluster.put(make_node(how))
            case _:
                cluster.engine.intake.node_deleted(how)
        memory, profile.vectors = profile.vectors, None
        fresh = said(cluster)
        profile.vectors = memory
        assert [said(cluster) for _ in range(3)] == [fresh] * 3


def said(cluster: FakeCluster) -> list[Any]:
    """What the profile says of a pod, as plain values."""
    table, profile = cluster.engine.cluster, cluster.engine.first_profile
    if not table.nodes.present_count:
        return []
    cycle = Cycle(table.infos.of(make_pod("p")), table)
    profile.run_pre_filters(cycle)
    rows = table.nodes.all_rows() if table.nodes.dense() else table.node_order()
    result = profile.filter_rows(cycle, rows)
    profile.run_pre_scores(cycle, rows)
    scores, total = profile.score_rows(cycle, rows)
    found = [(s.plugin, s.normalized.tolist()) for s in scores if s.plugin == ByTemperature.name]
    statuses = [result.status(position) for position in range(result.count)]
    return [statuses, found, total.read().tolist()]


def test_a_pod_is_woken_when_the_source_says_something_else() -> None:
    cluster = FakeCluster(make_node("a"), plugins=[ByTemperature])
    cluster.answer("temperatures", {"a": 90})
    cluster.schedule(make_pod("p"))
    assert cluster.where() == {"p": "unschedulable"}

    cluster.answer("temperatures", {"a": 90})
    assert cluster.where() == {"p": "unschedulable"}
    cluster.answer("temperatures", {"a": 20})

    assert cluster.where() == {"p": "backoff"}
    assert "woken" in cluster.story("p")


def test_a_plugin_with_sources_that_names_no_events_hears_of_them() -> None:
    class Open(ByTemperature):
        def events(self) -> None:  # type: ignore[override]
            return None

    cluster = FakeCluster(make_node("a"), plugins=[Open])
    cluster.answer("temperatures", {"a": 90})
    cluster.schedule(make_pod("p"))
    cluster.answer("temperatures", {"a": 20})

    assert cluster.where() == {"p": "backoff"}


def test_a_failure_is_noted_and_the_last_answer_stays() -> None:
    cluster = FakeCluster(make_node("a"), plugins=[ByTemperature])
    cluster.answer("temperatures", {"a": 90})
    cluster.fail("temperatures", "connection refused")
    column = cluster.engine.sources.column("temperatures")

    assert (column.problem, column.values(slice(0, 1)).tolist()) == ("connection refused", [90.0])
    cluster.answer("temperatures", {"a": 90})
    assert column.problem == ""


def test_an_answer_in_the_middle_of_a_cycle_takes_effect_after_it() -> None:
    extender = {"urlPrefix": "http://e", "filterVerb": "filter", "nodeCacheCapable": True}
    cluster = FakeCluster(
        make_node("a"), make_node("b"), make_pod("p"), plugins=[ByTemperature], extenders=[extender]
    )
    cluster.answer("temperatures", {"a": 1})
    cycle = cluster.engine.schedule_in_steps()
    next(cycle)  # the extender is being asked
    cluster.answer("temperatures", {"a": 2})
    column = cluster.engine.sources.column("temperatures")

    assert column.values(slice(0, 1)).tolist() == [1.0]
    cycle.close()
    assert column.values(slice(0, 1)).tolist() == [2.0]


def test_plugins_declare_nothing_unless_they_say_so() -> None:
    assert list(FakeCluster().engine.sources) == []
    assert Plugin.sources(object()) == ()  # type: ignore[arg-type]


def test_profiles_share_what_is_fetched() -> None:
    cluster = FakeCluster(plugins=[ByTemperature], profiles=["default-scheduler", "other"])

    assert len(cluster.engine.sources) == 1
