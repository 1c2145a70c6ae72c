"""Remembered vectors: as fresh ones, at the price of the rows that changed."""

from collections.abc import Hashable
from contextlib import nullcontext

import numpy as np
import pytest
from builders import make_node, make_pod
from fake_plugins import made
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.api.pod import Pod
from podium.cluster.growth import Ints, Rows, indices
from podium.cluster.state import Cluster
from podium.framework.cycle import Cycle
from podium.framework.dependence import Dependence
from podium.framework.filtering import run_filters
from podium.framework.memory import Memory
from podium.framework.points import FilterPlugin, ScorePlugin
from podium.framework.scoring import ScoringError, default_normalize, run_scores
from podium.framework.status import Status, error, unresolvable, unschedulable
from podium.framework.verdict import Verdict, per_row

NAMES = tuple(f"n{i}" for i in range(8))


class Crowded(FilterPlugin, ScorePlugin):
    """Looks at the pods on a node, at its labels, and at the pod's own limit."""

    name = "Crowded"
    version: Hashable = 0
    asked: list[int]
    problem: Exception | None = None
    bad_node = ""

    def most(self, cycle: Cycle) -> int:
        return int(cycle.pod.shape.labels.get("most", "1"))

    def filter_depends(self, cycle: Cycle) -> Dependence | None:
        return Dependence(self.most(cycle), usage=True, version=self.version)

    score_depends = filter_depends

    def verdict_of(self, cycle: Cycle, row: int) -> Status | None:
        if cycle.nodes.names[row] == self.bad_node:
            return error("boom")
        if cycle.nodes.labels.labels_of(row).get("closed"):
            return unresolvable(f"closed {self.version}")
        count = len(cycle.usage.pods(row))
        return unschedulable(f"{count} pods") if count >= self.most(cycle) else None

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        self.asked = indices(rows).tolist()
        if self.problem is not None:
            raise self.problem
        answers = [self.verdict_of(cycle, row) for row in self.asked]
        return per_row({i: s for i, s in enumerate(answers) if s is not None}, len(answers))

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        self.asked = indices(rows).tolist()
        if self.problem is not None:
            raise self.problem
        counts = [len(cycle.usage.pods(row)) + self.most(cycle) for row in self.asked]
        return np.array(counts, dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        assert len(scores) == len(indices(rows))
        return default_normalize(scores)


class Setup:
    def __init__(self, count: int = 8, most_bytes: int = 10**6) -> None:
        self.cluster = Cluster()
        for name in NAMES[:count]:
            self.cluster.put_node(make_node(name))
        self.memory = Memory(most_bytes)
        (self.plugin,) = made(Crowded, cluster=self.cluster)
        self.plugin.asked = []

    def cycle(self, most: int = 1) -> Cycle:
        return Cycle(self.cluster.infos.of(make_pod("p", labels={"most": str(most)})), self.cluster)

    def rows(self) -> Rows:
        nodes = self.cluster.nodes
        return nodes.all_rows() if nodes.dense() else np.flatnonzero(nodes.present[: nodes.size])

    def filtered(self, cycle: Cycle, rows: Rows, memory: Memory | None) -> list[Status | None]:
        result = run_filters([self.plugin], cycle, rows, memory)
        return [result.status(position) for position in range(result.count)]

    def scored(self, cycle: Cycle, rows: Rows, memory: Memory | None) -> list[list[int]]:
        scores, total = run_scores([(self.plugin, 3)], cycle, rows, memory)
        return [scores[0].raw.tolist(), scores[0].normalized.tolist(), total.tolist()]

    def check(self, most: int = 1, rows: Rows | None = None) -> None:
        """Remembered and fresh answers are the same."""
        cycle, chosen = self.cycle(most), self.rows() if rows is None else rows
        assert self.filtered(cycle, chosen, self.memory) == self.filtered(cycle, chosen, None)
        assert self.scored(cycle, chosen, self.memory) == self.scored(cycle, chosen, None)


def test_an_answer_is_not_asked_for_again_while_nothing_changes() -> None:
    setup = Setup()
    setup.check()
    setup.plugin.asked = []
    setup.filtered(setup.cycle(), setup.rows(), setup.memory)
    setup.scored(setup.cycle(), setup.rows(), setup.memory)
    assert setup.plugin.asked == []


def test_only_the_rows_that_changed_are_asked_for() -> None:
    setup = Setup()
    setup.check()
    setup.cluster.add_pod(make_pod("q", node="n3"))
    setup.filtered(setup.cycle(), setup.rows(), setup.memory)
    assert setup.plugin.asked == [3]
    setup.cluster.put_node(make_node("n5", labels={"closed": "yes"}))
    setup.scored(setup.cycle(), setup.rows(), setup.memory)
    assert setup.plugin.asked == [3, 5]
    setup.check()


def test_pods_that_differ_in_what_matters_have_answers_of_their_own() -> None:
    setup = Setup()
    setup.cluster.add_pod(make_pod("q", node="n0"))
    for most in (1, 2, 1, 2):
        setup.check(most)


def test_a_new_version_makes_the_answer_anew() -> None:
    setup = Setup()
    setup.cluster.put_node(make_node("n1", labels={"closed": "yes"}))
    setup.check()
    setup.plugin.version = 1
    setup.check()
    assert len(setup.filtered(setup.cycle(), setup.rows(), setup.memory)) == 8


@pytest.mark.parametrize("change", ["none", "pod", "node"])
def test_a_plugin_that_broke_leaves_nothing_behind(change: str) -> None:
    setup = Setup()
    setup.check()
    if change == "pod":
        setup.cluster.add_pod(make_pod("q", node="n3"))
    elif change == "node":
        setup.cluster.put_node(make_node("new"))
    setup.plugin.problem = ValueError("boom")
    run_filters([setup.plugin], setup.cycle(), setup.rows(), setup.memory)
    with nullcontext() if change == "none" else pytest.raises(ScoringError, match="boom"):
        setup.scored(setup.cycle(), setup.rows(), setup.memory)
    setup.plugin.problem = None
    setup.check()


def test_an_error_on_a_node_is_not_remembered() -> None:
    setup = Setup()
    setup.plugin.bad_node = "n2"
    cycle = setup.cycle()
    statuses = setup.filtered(cycle, setup.rows(), setup.memory)
    assert statuses[2] == error('running "Crowded" filter plugin: boom').by("Crowded")
    setup.plugin.bad_node = ""
    setup.check()
    setup.cluster.add_pod(make_pod("q", node="n2"))
    setup.plugin.bad_node = "n2"
    statuses = setup.filtered(cycle, setup.rows(), setup.memory)
    assert statuses[2] == error('running "Crowded" filter plugin: boom').by("Crowded")
    setup.plugin.bad_node = ""
    setup.check()


def test_a_trial_is_answered_afresh() -> None:
    setup = Setup()
    setup.check()
    trial = setup.cycle().fork()
    trial.usage.add(4, setup.cluster.infos.of(make_pod("imagined")))
    assert setup.filtered(trial, setup.rows(), setup.memory)[4] is not None
    setup.check()


def test_a_few_rows_are_answered_afresh() -> None:
    setup = Setup()
    setup.check()
    setup.plugin.asked = []
    setup.filtered(setup.cycle(), np.array([6, 1], dtype=np.intp), setup.memory)
    assert setup.plugin.asked == [6, 1]


def test_what_was_given_out_does_not_change_afterwards() -> None:
    setup = Setup()
    setup.cluster.add_pod(make_pod("q", node="n0"))
    setup.cluster.put_node(make_node("n1", labels={"closed": "yes"}))
    cycle, rows = setup.cycle(), setup.rows()
    result = run_filters([setup.plugin], cycle, rows, setup.memory)
    scores, total = run_scores([(setup.plugin, 3)], cycle, rows, setup.memory)
    told = [result.status(i) for i in range(8)]
    kept = (scores[0].raw.copy(), scores[0].normalized.copy(), total.copy())
    setup.cluster.add_pod(make_pod("r", node="n0"))
    setup.cluster.add_pod(make_pod("s", node="n5"))
    setup.check()
    setup.check()
    assert [result.status(i) for i in range(8)] == told
    for now, then in zip((scores[0].raw, scores[0].normalized, total), kept, strict=True):
        np.testing.assert_array_equal(now, then)


def test_the_oldest_answers_go_when_there_is_no_more_room() -> None:
    setup = Setup(most_bytes=300)
    for most in range(1, 9):
        setup.check(most)
        assert setup.memory.nbytes <= 300
    setup.check(1)


def test_a_score_of_the_wrong_length_is_an_error_of_the_plugin() -> None:
    setup = Setup()

    class Short(Crowded):
        name = "Short"

        def score(self, cycle: Cycle, rows: Rows) -> Ints:
            return np.zeros(2, dtype=np.int64)

    (setup.plugin,) = made(Short, cluster=setup.cluster)
    with pytest.raises(ScoringError, match='"Short" failed with: gave 2 answers for 8 nodes'):
        setup.scored(setup.cycle(), setup.rows(), setup.memory)


pods = st.builds(make_pod, st.sampled_from("qrstuv"), node=st.sampled_from((*NAMES, "later")))
nodes = st.builds(
    make_node, st.sampled_from((*NAMES, "later")), labels=st.sampled_from(({}, {"closed": "yes"}))
)
events = st.one_of(pods, nodes, st.sampled_from(NAMES), st.sampled_from((1, 2, 3)), st.just(None))


@settings(deadline=None)
@given(events=st.lists(events, max_size=40), room=st.sampled_from((200, 10**6)))
def test_after_any_events_remembered_answers_are_as_fresh_ones(
    events: list[object], room: int
) -> None:
    setup = Setup(most_bytes=room)
    cluster = setup.cluster
    for event in events:
        if isinstance(event, Pod):
            if event.metadata.uid in cluster.placements:
                cluster.remove_pod(event.metadata.uid)
            else:
                cluster.add_pod(event)
        elif isinstance(event, str):
            cluster.remove_node(event)
        elif isinstance(event, int):
            if cluster.nodes.present_count:
                setup.check(event)
        elif event is None:
            setup.plugin.version = int(str(setup.plugin.version)) + 1
        else:
            cluster.put_node(event)  # type: ignore[arg-type]
    if cluster.nodes.present_count:
        for most in (1, 2, 3):
            setup.check(most)
