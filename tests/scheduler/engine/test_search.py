"""Which nodes a search looks at: how many are enough, rotation, where it stops.

The property test holds the engine against a search that goes from node to node, as upstream's does;
a sequence of attempts shows where each search started.
"""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import strategies as st
from support.scheduler.framework.fake_plugins import make_engine
from support.suite.slow_cases import given_examples

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import Ints, Rows, count_of, indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine import search
from podium.scheduler.engine.search import nodes_to_find, rotate_rows, stop_early, whole_table
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult, Verdict, per_row
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin, ScorePlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from podium.testing import make_node, make_pod


@pytest.mark.parametrize(
    ("count", "percentage", "enough"),
    [
        (0, 50, 0),
        (99, 1, 99),
        (100, 1, 100),
        (100, 100, 100),
        (500, 30, 150),
        (1000, 5, 100),
        (1000, 42, 420),
        (5000, 10, 500),
        (5625, 5, 281),
        (1001, 33, 330),
        (1000, 100, 1000),
        # nothing configured: every node, on purpose unlike upstream's adaptive share
        (5000, 0, 5000),
    ],
)
def test_a_percentage_of_many_nodes_is_enough(count: int, percentage: int, enough: int) -> None:
    assert nodes_to_find(count, percentage) == enough


def test_rotation_starts_where_the_last_search_ended() -> None:
    rows = np.array([4, 2, 9], dtype=np.intp)
    assert rotate_rows(rows, 0).tolist() == [4, 2, 9]
    assert rotate_rows(rows, 1).tolist() == [2, 9, 4]
    assert rotate_rows(rows, 5).tolist() == [9, 4, 2]


def test_a_search_ends_before_the_first_feasible_node_too_many() -> None:
    result = FilterResult(np.arange(6))
    verdict = per_row({0: unschedulable("x"), 3: unschedulable("x")}, 6)
    assert verdict is not None
    result.absorb("F", verdict)
    stop_early(result, 2)
    assert result.count == 4
    assert result.mask_passed().tolist() == [False, True, True, False]


def test_a_search_that_finds_no_more_than_enough_goes_to_the_end() -> None:
    result = FilterResult(np.arange(3))
    stop_early(result, 3)
    assert result.count == 3


def test_the_whole_table_is_a_slice_unless_some_row_shows_no_node() -> None:
    cluster = Cluster(ALL_REQUESTS)
    for name in "abc":
        cluster.put_node(make_node(name))
    assert whole_table(cluster) == slice(0, 3)
    cluster.remove_node("b")
    rows = whole_table(cluster)
    assert isinstance(rows, np.ndarray)
    assert rows.tolist() == [0, 2]


# against a search that goes from node to node


@dataclass
class Script:
    """What the plugins of one attempt say."""

    verdicts: dict[str, tuple[str, Status]] = field(default_factory=dict)
    narrowed: frozenset[str] | None = None


SCRIPT = Script()


class Narrowing(PreFilterPlugin):
    name = "Narrowing"

    def pre_filter(self, cycle: Cycle) -> frozenset[str] | None:
        return SCRIPT.narrowed


class First(FilterPlugin):
    name = "First"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        names = [cycle.nodes.names[row] for row in indices(rows)]
        answers = [SCRIPT.verdicts.get(name) for name in names]
        mine = {i: a[1] for i, a in enumerate(answers) if a is not None and a[0] == self.name}
        return per_row(mine, len(names))


class Second(First):
    name = "Second"


class Even(ScorePlugin):
    name = "Even"

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.zeros(count_of(rows), dtype=np.int64)


class Reference:
    """Upstream's search, node by node, with its start index (`findNodesThatPassFilters`)."""

    def __init__(self, *, fewest: int, percentage: int, scoring: bool) -> None:
        self.fewest = fewest
        self.percentage = percentage
        self.scoring = scoring
        self.start = 0
        self.feasible: list[str] = []
        self.statuses: dict[str, Status] = {}
        self.failure: str | None = None

    def want(self, count: int) -> int:
        if not self.scoring:
            return 1
        if count < self.fewest or self.percentage == 0:
            return count
        return max(self.fewest, count * self.percentage // 100)

    def verdict(self, name: str) -> Status | None:
        answer = SCRIPT.verdicts.get(name)
        if answer is None or answer[1].code.rejected:
            return None if answer is None else answer[1].by(answer[0])
        return error(f'running "{answer[0]}" filter plugin: {answer[1].message}')

    def run(self, names: list[str], nominated: str) -> None:
        self.feasible, self.statuses, self.failure = [], {}, None
        if nominated in names:
            status = self.verdict(nominated)
            if status is None:
                self.feasible = [nominated]
                return
            if status.code.rejected:
                self.statuses[nominated] = status
        listed = [n for n in names if SCRIPT.narrowed is None or n in SCRIPT.narrowed]
        want = self.want(len(listed))
        for i in range(len(listed)):
            name = listed[(self.start + i) % len(listed)]
            status = self.verdict(name)
            if status is None:
                if len(self.feasible) == want:
                    break
                self.feasible.append(name)
            elif status.code.rejected:
                self.statuses[name] = status
            else:
                self.failure = status.message
                break
        self.start = (self.start + len(self.feasible) + len(self.statuses)) % len(names)

    def message(self, count: int) -> str:
        reasons: dict[str, int] = {}
        for status in self.statuses.values():
            for reason in status.reasons:
                reasons[reason] = reasons.get(reason, 0) + 1
        if SCRIPT.narrowed is not None and len(self.statuses) < count:
            absent = "node(s) didn't satisfy plugin(s) [Narrowing]"
            reasons[absent] = count - len(self.statuses)
        lines = sorted(f"{n} {reason}" for reason, n in reasons.items())
        return f"0/{count} nodes are available:" + (f" {', '.join(lines)}." if lines else "")


NAMES = tuple(f"n{i}" for i in range(8))
verdicts = st.sampled_from(
    (
        *(unschedulable("x"), unschedulable("x", "y"), unresolvable("z")) * 3,
        Status(Code.PENDING, ("soon",)),
        error("boom"),
    )
)


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    rejected = draw(
        st.dictionaries(
            st.sampled_from(NAMES), st.tuples(st.sampled_from(("First", "Second")), verdicts)
        )
    )
    told = {
        name: (plugin, status if status.code.rejected else error(f"boom on {name}"))
        for name, (plugin, status) in rejected.items()
    }
    narrowed = draw(st.none() | st.frozensets(st.sampled_from((*NAMES, "ghost")), min_size=1))
    return Script(told, narrowed)


changes = st.lists(
    st.tuples(st.sampled_from(("put", "remove")), st.sampled_from(NAMES), st.sampled_from("xy")),
    max_size=3,
)
attempts = st.lists(
    st.tuples(scripts(), st.sampled_from(("", "", *NAMES, "ghost")), changes), max_size=8
)


@given_examples(
    40,
    200,
    attempts=attempts,
    scoring=st.booleans(),
    fewest=st.sampled_from((2, 3, 100)),
    percentage=st.sampled_from((0, 30, 60)),
)
def test_any_sequence_of_attempts_searches_as_from_node_to_node(
    attempts: list[tuple[Script, str, list[tuple[str, str, str]]]],
    scoring: bool,
    fewest: int,
    percentage: int,
) -> None:
    plugins = (Narrowing, First, Second, *((Even,) if scoring else ()))
    engine = make_engine(*plugins, nodes=map(make_node, NAMES), percentage=percentage)
    reference = Reference(fewest=fewest, percentage=percentage, scoring=scoring)
    cluster = engine.cluster
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEWEST_TO_FIND", fewest)
        for number, (script, nominated, events) in enumerate(attempts):
            for event, name, zone in events:
                if event == "put":
                    labels = {"topology.kubernetes.io/zone": zone}
                    cluster.put_node(make_node(name, labels=labels))
                elif cluster.nodes.present_count > 1:
                    cluster.remove_node(name)
            SCRIPT.verdicts, SCRIPT.narrowed = script.verdicts, script.narrowed
            pod = make_pod(f"p{number}", status={"nominatedNodeName": nominated})
            attempt = engine.schedule(cluster.infos.of(pod))
            names = [cluster.nodes.names[row] for row in cluster.node_order()]
            reference.run(names, nominated)
            decision = attempt.decision
            assert engine._cycle._search._start == reference.start
            if reference.failure is not None:
                assert (decision.is_error, decision.message) == (True, reference.failure)
                continue
            feasible = [decision.node_names[row] for row in decision.feasible]
            assert sorted(feasible) == sorted(reference.feasible)
            found = decision.diagnosis.statuses() if decision.diagnosis is not None else {}
            assert {decision.node_names[row]: s for row, s in found.items()} == reference.statuses
            if attempt.binding is not None:
                engine.undo(attempt.binding)
                continue
            assert decision.message == reference.message(len(names))
            narrowing = {"Narrowing"} if script.narrowed is not None else set()
            assert decision.rejectors == {s.plugin for s in reference.statuses.values()} | narrowing
            assert decision.pending_plugins == {
                s.plugin for s in reference.statuses.values() if s.code is Code.PENDING
            }


def listed(cluster: Cluster) -> list[str]:
    return [cluster.nodes.names[row] for row in cluster.node_order()]


def test_every_attempt_takes_a_snapshot_even_when_the_order_does_not_matter_to_it() -> None:
    SCRIPT.verdicts, SCRIPT.narrowed = {}, None
    zone = "topology.kubernetes.io/zone"
    places = (("a1", "a"), ("a2", "a"), ("b1", "b"))
    engine = make_engine(
        First, Even, nodes=[make_node(name, labels={zone: z}) for name, z in places]
    )
    cluster = engine.cluster
    engine.schedule(cluster.infos.of(make_pod("p")))
    cluster.put_node(make_node("a1", labels={zone: "b"}))
    assert listed(cluster) == ["a1", "b1", "a2"]


def test_an_attempt_without_any_node_takes_a_snapshot_too() -> None:
    engine = make_engine(First, Even, nodes=[make_node("a"), make_node("b")])
    cluster = engine.cluster
    assert listed(cluster) == ["a", "b"]
    cluster.remove_node("a")
    cluster.remove_node("b")
    engine.schedule(cluster.infos.of(make_pod("p")))
    cluster.put_node(make_node("b"))
    cluster.put_node(make_node("a"))
    assert listed(cluster) == ["b", "a"]
