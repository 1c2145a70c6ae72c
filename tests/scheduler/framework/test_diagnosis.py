"""What filtering found out: groups, counts, and who speaks for nodes without an entry."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.diagnosis import Diagnosis, FilterResult, Verdict, choosing, per_row
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable

CPU = unschedulable("Insufficient cpu")
BOTH = unschedulable("Insufficient cpu", "Too many pods")
TAINT = unresolvable("tainted")


def result_of(rows: list[int], *answers: dict[int, Status]) -> FilterResult:
    """A result over rows, from one dictionary of statuses by position per plugin."""
    result = FilterResult(np.array(rows, dtype=np.intp))
    for number, statuses in enumerate(answers):
        verdict = per_row(statuses, len(rows))
        if verdict is not None:
            result.absorb(f"P{number}", verdict)
    return result


def grouped(result: FilterResult) -> dict[tuple[Status, ...], list[int]]:
    found: dict[tuple[Status, ...], list[int]] = {}
    for status, positions in result.groups():
        found.setdefault((status,), []).extend(int(p) for p in positions)
    return found


def test_equal_verdicts_form_a_group() -> None:
    result = result_of([5, 6, 7, 8], {0: CPU, 2: CPU}, {1: TAINT})
    assert grouped(result) == {(CPU.by("P0"),): [0, 2], (TAINT.by("P1"),): [1]}


def test_a_verdict_of_the_pass_with_nominated_pods_replaces_the_plain_one() -> None:
    result = result_of([5, 6, 7], {0: CPU, 1: CPU})
    result.override(np.array([1]), TAINT.by("N"))
    result.override(np.array([2]), TAINT.by("N"))
    assert result.status(1) == TAINT.by("N")
    assert result.mask_passed().tolist() == [False, False, False]
    assert grouped(result) == {(CPU.by("P0"),): [0], (TAINT.by("N"),): [1, 2]}


def test_an_override_alone_is_a_rejection() -> None:
    result = FilterResult(slice(0, 2))
    result.override(np.array([1]), CPU.by("N"))
    assert result.rejected_any
    assert result.status(0) is None
    assert result.mask_passed().tolist() == [True, False]
    assert grouped(result) == {(CPU.by("N"),): [1]}


def test_a_broken_override_breaks_the_result() -> None:
    result = FilterResult(slice(0, 2))
    assert not result.broken
    result.override(np.array([1]), error("boom"))
    assert result.broken


def test_a_plugin_that_rejects_only_what_others_rejected_is_not_listed() -> None:
    result = result_of([1, 2], {0: CPU}, {0: TAINT})
    assert result.plugins == ["P0"]


def test_large_numbers_in_a_verdict_are_kept_apart() -> None:
    result = FilterResult(slice(0, 3))
    values = np.array([2**31 - 1, 0, 2**30], dtype=np.int32)
    result.absorb("Mask", Verdict(values, lambda value: unschedulable(str(value))))
    assert grouped(result) == {
        (unschedulable(str(2**31 - 1)).by("Mask"),): [0],
        (unschedulable(str(2**30)).by("Mask"),): [2],
    }


def test_a_cut_forgets_what_lies_behind() -> None:
    result = result_of([9, 8, 7, 6], {1: CPU, 3: TAINT})
    result.override(np.array([2]), TAINT)
    result.cut(2)
    assert result.count == 2
    assert isinstance(result.rows, np.ndarray)
    assert result.rows.tolist() == [9, 8]
    assert grouped(result) == {(CPU.by("P0"),): [1]}
    assert result.mask_passed().tolist() == [True, False]


def test_a_whole_table_can_be_cut_too() -> None:
    result = FilterResult(slice(0, 4))
    result.cut(3)
    assert (result.rows, result.count, len(result.failed)) == (slice(0, 3), 3, 3)


def test_reasons_are_counted_over_nodes() -> None:
    diagnosis = Diagnosis(5, results=[result_of([0, 1, 2], {0: CPU, 1: BOTH, 2: TAINT})])
    assert diagnosis.histogram() == (
        {"Insufficient cpu": 2, "Too many pods": 1, "tainted": 1},
        3,
    )


def test_a_node_that_was_looked_at_twice_counts_once() -> None:
    nominated = result_of([7], {0: TAINT})
    search = result_of([5, 6, 7], {0: CPU, 2: TAINT})
    diagnosis = Diagnosis(3, results=[nominated, search])
    assert diagnosis.histogram() == ({"tainted": 1, "Insufficient cpu": 1}, 2)
    assert diagnosis.statuses() == {7: TAINT.by("P0"), 5: CPU.by("P0")}


def test_single_statuses_count_like_those_from_filtering() -> None:
    diagnosis = Diagnosis(4, own={3: BOTH, 1: CPU})
    assert diagnosis.histogram() == ({"Insufficient cpu": 2, "Too many pods": 1}, 2)
    assert diagnosis.statuses() == {3: BOTH, 1: CPU}


def test_a_single_status_wins_over_the_one_from_filtering() -> None:
    diagnosis = Diagnosis(3, results=[result_of([0, 1], {0: CPU, 1: TAINT})], own={1: BOTH})
    assert diagnosis.histogram() == ({"Insufficient cpu": 2, "Too many pods": 1}, 2)
    assert diagnosis.status_of(1) == BOTH


def test_statuses_of_names_that_no_node_has_are_counted() -> None:
    diagnosis = Diagnosis(1, own={0: CPU}, strangers={"ghost": TAINT})
    assert diagnosis.histogram() == ({"Insufficient cpu": 1, "tainted": 1}, 2)
    assert diagnosis.statuses() == {0: CPU}


def test_nodes_without_an_entry_have_the_absent_status() -> None:
    order = np.array([2, 0, 1, 3], dtype=np.intp)
    diagnosis = Diagnosis(4, results=[result_of([0, 1], {0: CPU, 1: TAINT})])
    assert diagnosis.rows_with(Code.UNSCHEDULABLE, order) == [0]
    assert diagnosis.rows_with(Code.UNRESOLVABLE, order) == [2, 1, 3]
    diagnosis.absent = CPU
    assert diagnosis.rows_with(Code.UNSCHEDULABLE, order) == [2, 0, 3]


def test_rows_that_are_no_longer_listed_are_left_out() -> None:
    diagnosis = Diagnosis(1, results=[result_of([0, 1], {0: CPU, 1: CPU})])
    assert diagnosis.rows_with(Code.UNSCHEDULABLE, np.array([1], dtype=np.intp)) == [1]


STATUSES = (CPU, BOTH, TAINT, unschedulable())
answers = st.dictionaries(st.integers(0, 5), st.sampled_from(STATUSES))


@given(chain=st.lists(answers, max_size=4), overrides=answers)
def test_groups_and_counts_agree_with_the_statuses_one_by_one(
    chain: list[dict[int, Status]], overrides: dict[int, Status]
) -> None:
    result = result_of([3, 1, 4, 0, 5, 9], *chain)
    for position, status in overrides.items():
        result.override(np.array([position]), status)
    single = {p: s for p in range(6) if (s := result.status(p)) is not None}
    from_groups = {int(p): s for s, positions in result.groups() for p in positions}
    assert from_groups == single
    assert result.mask_passed().tolist() == [p not in single for p in range(6)]
    reasons, explained = Diagnosis(10, results=[result]).histogram()
    assert explained == len(single)
    assert reasons == Counter(r for s in single.values() for r in s.reasons)


def test_choosing_by_number_describes_each_row() -> None:
    result = FilterResult(slice(0, 3))
    verdict = choosing(np.array([1, 2, 0]), (CPU, TAINT))
    assert verdict is not None
    result.absorb("C", verdict)
    assert [result.status(i) for i in range(3)] == [CPU.by("C"), TAINT.by("C"), None]
