"""Filter: the first plugin that rejects a node decides, and broken plugins break one attempt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.framework.fake_plugins import crowd_filter, filter_by, made

from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult, Verdict, rejecting
from podium.scheduler.framework.filtering import (
    filter_with_nominated,
    run_filters,
    run_pre_filters,
    tell_extensions,
)
from podium.scheduler.framework.points import FilterPlugin, Plugin, PreFilterExtensions
from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from podium.testing import make_cluster, make_node, make_pod

NAMES = ("a", "b", "c")
FULL = unschedulable("Too many pods")


def three_nodes() -> Cluster:
    return make_cluster(make_node(name) for name in NAMES)


def cycle_on(cluster: Cluster, priority: int = 0) -> Cycle:
    return Cycle(cluster.infos.of(make_pod("p", priority=priority)), cluster)


def statuses(result: FilterResult) -> list[Status | None]:
    return [result.status(position) for position in range(result.count)]


def run(*plugins: type[FilterPlugin], rows: Rows = slice(0, 3)) -> FilterResult:
    return run_filters(made(*plugins), cycle_on(three_nodes()), rows)


def test_the_first_plugin_that_rejects_a_node_decides_its_status() -> None:
    result = run(
        filter_by("A", {"a": unschedulable("one")}),
        filter_by("B", {"a": unresolvable("two"), "b": unresolvable("two")}),
    )
    assert statuses(result) == [
        Status(Code.UNSCHEDULABLE, ("one",), "A"),
        Status(Code.UNRESOLVABLE, ("two",), "B"),
        None,
    ]
    assert result.mask_passed().tolist() == [False, False, True]
    assert not result.broken


def test_without_objections_every_node_passes() -> None:
    result = run(filter_by("A", {}))
    assert not result.rejected_any
    assert result.mask_passed().all()
    assert run().mask_passed().all()


def test_plugins_that_skipped_are_left_out() -> None:
    cycle = cycle_on(three_nodes())
    cycle.skip_filter.add("A")
    result = run_filters(made(filter_by("A", {"a": FULL})), cycle, slice(0, 3))
    assert statuses(result) == [None, None, None]


@pytest.mark.parametrize("answer", [error("boom"), SKIP, Status(Code.WAIT, ("boom",))])
def test_a_status_that_is_no_rejection_becomes_an_error(answer: Status) -> None:
    result = run(filter_by("A", {"b": answer}), filter_by("B", {"b": FULL, "c": FULL}))
    text = f'running "A" filter plugin: {answer.message}'
    assert statuses(result) == [
        None,
        Status(Code.ERROR, (text,), answer.plugin or "A"),
        Status(Code.UNSCHEDULABLE, FULL.reasons, "B"),
    ]
    assert result.broken


def test_a_pending_answer_rejects_the_node() -> None:
    result = run(filter_by("A", {"b": Status(Code.PENDING, ("soon",))}))
    assert statuses(result)[1] == Status(Code.PENDING, ("soon",), "A")
    assert not result.broken


def test_an_exception_is_an_error_on_the_nodes_that_were_still_in_the_race() -> None:
    log: list[str] = []
    result = run(
        filter_by("A", {"a": FULL}),
        filter_by("B", ValueError("boom")),
        filter_by("C", {"b": FULL}, log),
    )
    broken = Status(Code.ERROR, ('running "B" filter plugin: boom',), "B")
    assert statuses(result) == [Status(Code.UNSCHEDULABLE, FULL.reasons, "A"), broken, broken]
    assert result.broken
    assert log == []


def test_an_answer_of_the_wrong_length_is_an_error_of_the_plugin() -> None:
    class Short(FilterPlugin):
        name = "Short"

        def filter(self, cycle: Cycle, rows: Rows) -> Verdict:
            return Verdict(np.ones(2, dtype=np.int32), lambda _: FULL)

    result = run(Short)
    text = 'running "Short" filter plugin: gave 2 answers for 3 nodes'
    assert statuses(result) == [Status(Code.ERROR, (text,), "Short")] * 3


node_answers = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from((FULL, unresolvable("x"), error("boom")))
)


@given(chain=st.lists(node_answers, max_size=4), order=st.permutations(range(3)))
def test_a_search_answers_as_nodes_one_by_one_would(
    chain: list[dict[str, Status]], order: list[int]
) -> None:
    plugins = made(*(filter_by(f"P{i}", answers) for i, answers in enumerate(chain)))
    result = run_filters(plugins, cycle_on(three_nodes()), np.array(order, dtype=np.intp))
    expected: list[Status | None] = []
    for row in order:
        first = next((i for i, answers in enumerate(chain) if NAMES[row] in answers), None)
        status = None if first is None else chain[first][NAMES[row]]
        if status is not None and not status.code.rejected:
            status = error(f'running "P{first}" filter plugin: {status.message}')
        expected.append(None if status is None else status.by(f"P{first}"))
    assert statuses(result) == expected
    assert result.mask_passed().tolist() == [status is None for status in expected]


# nominated pods


class Nominated:
    """Three nodes where at most one pod fits, and a pod of priority 5 that wants in."""

    def __init__(self, plugin: type[Plugin] | None = None, *more: type[Plugin]) -> None:
        self.cluster = three_nodes()
        self.log: list[str] = []
        chosen = plugin or crowd_filter("Crowd", 1, FULL, self.log)
        self.plugins = made(chosen, *more, cluster=self.cluster)
        self.extensions = [p for p in self.plugins if isinstance(p, PreFilterExtensions)]
        self.cycle = cycle_on(self.cluster, priority=5)

    def nominate(self, name: str, node: str, priority: int) -> PodInfo:
        info = self.cluster.infos.of(make_pod(name, priority=priority))
        self.cluster.nominator.nominate(info, node)
        return info

    def run(self, rows: Rows = slice(0, 3)) -> FilterResult:
        run_pre_filters([p for p in self.plugins if hasattr(p, "pre_filter")], self.cycle)
        result = run_filters(self.plugins, self.cycle, rows)
        filter_with_nominated(self.plugins, self.extensions, self.cycle, rows, result)
        return result


def test_a_node_with_a_stronger_nominated_pod_must_have_room_for_both() -> None:
    setup = Nominated()
    setup.nominate("equal", "a", 5)
    setup.nominate("strong", "b", 9)
    setup.nominate("weak", "c", 4)
    result = setup.run()
    full = FULL.by("Crowd")
    assert statuses(result) == [full, full, None]
    assert setup.log == ["add default/equal", "add default/strong"]


def test_a_pod_does_not_count_against_itself() -> None:
    setup = Nominated()
    setup.cluster.nominator.nominate(setup.cycle.pod, "a")
    assert statuses(setup.run()) == [None, None, None]


def test_trials_leave_the_cluster_and_the_state_alone() -> None:
    setup = Nominated()
    setup.nominate("strong", "a", 9)
    setup.nominate("other", "a", 9)
    setup.run()
    assert setup.cluster.usage.pod_count[:3].tolist() == [0, 0, 0]
    again = run_filters(setup.plugins, setup.cycle, slice(0, 3))
    assert statuses(again) == [None, None, None]


def test_a_node_must_also_pass_without_the_nominated_pods() -> None:
    needs_company = filter_by("Alone", {"a": unschedulable("fails without")})
    setup = Nominated(crowd_filter("Crowd", 5, FULL), needs_company)
    setup.nominate("strong", "a", 9)
    assert statuses(setup.run())[0] == Status(Code.UNSCHEDULABLE, ("fails without",), "Alone")


def test_the_pass_with_nominated_pods_speaks_first() -> None:
    setup = Nominated(
        crowd_filter("Crowd", 1, FULL), filter_by("Later", {"a": unresolvable("later")})
    )
    assert statuses(setup.run())[0] == Status(Code.UNRESOLVABLE, ("later",), "Later")
    setup.nominate("strong", "a", 9)
    assert statuses(setup.run())[0] == FULL.by("Crowd")


def test_nominations_on_nodes_outside_the_search_do_not_matter() -> None:
    setup = Nominated()
    setup.nominate("strong", "a", 9)
    setup.nominate("lost", "no such node", 9)
    result = setup.run(np.array([2, 1], dtype=np.intp))
    assert statuses(result) == [None, None]
    assert setup.log == []


class Total(PreFilterExtensions, FilterPlugin):
    """Minds the pods of the whole cluster, as a plugin that counts across nodes does."""

    name = "Total"

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        return None

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        crowded = int(cycle.usage.pod_count.sum()) > 1
        mask = np.full(len(indices(rows)), crowded)
        return rejecting(mask, FULL)


def test_each_node_is_tried_with_its_own_nominated_pods_only() -> None:
    setup = Nominated(Total)
    for name, node in zip("qrs", NAMES, strict=True):
        setup.nominate(name, node, 9)
    assert statuses(setup.run()) == [None, None, None]
    setup.nominate("t", "b", 9)
    assert statuses(setup.run()) == [None, FULL.by("Total"), None]


class Stubborn(PreFilterExtensions, FilterPlugin):
    """Cannot follow pods that come and go."""

    name = "Stubborn"

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        return unschedulable("lost count")

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> Status | None:
        raise ValueError("gone")

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return None


def test_a_state_that_cannot_follow_a_nominated_pod_is_an_error() -> None:
    setup = Nominated(Stubborn)
    setup.nominate("strong", "b", 9)
    result = setup.run()
    text = 'running AddPod on PreFilter plugin "Stubborn": lost count'
    assert statuses(result) == [None, Status(Code.ERROR, (text,), "Stubborn"), None]
    assert result.broken


def test_a_state_that_cannot_follow_a_removed_pod_is_an_error() -> None:
    setup = Nominated(Stubborn)
    failure = tell_extensions(setup.extensions, setup.cycle, setup.cycle.pod, 0, added=False)
    text = 'running RemovePod on PreFilter plugin "Stubborn": gone'
    assert failure == Status(Code.ERROR, (text,), "Stubborn")


def test_a_plugin_that_skipped_does_not_follow_pods() -> None:
    setup = Nominated(Stubborn)
    setup.cycle.skip_filter.add("Stubborn")
    setup.nominate("strong", "b", 9)
    assert statuses(setup.run()) == [None, None, None]
