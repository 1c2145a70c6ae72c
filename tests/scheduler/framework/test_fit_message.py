"""The failure message, to the dot."""

import numpy as np

from podium.scheduler.framework.diagnosis import (
    Diagnosis,
    FilterResult,
    fit_error,
    one_node_error,
    per_row,
)
from podium.scheduler.framework.status import Status, unresolvable, unschedulable


def diagnosis_of(count: int, statuses: dict[int, Status], **more: str) -> Diagnosis:
    result = FilterResult(np.arange(count))
    verdict = per_row(statuses, count)
    if verdict is not None:
        result.absorb("P", verdict)
    diagnosis = Diagnosis(count, results=[result])
    diagnosis.prefilter_message = more.get("pre", "")
    diagnosis.postfilter_message = more.get("post", "")
    return diagnosis


CPU, TAINTED = unschedulable("Insufficient cpu"), unresolvable("node(s) had untolerated taint(s)")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


def test_one_reason_for_all_nodes_with_nothing_to_preempt() -> None:
    nested = Diagnosis(3, own=dict.fromkeys(range(3), NO_VICTIMS), absent=NOT_HELPFUL)
    post = f"no new claims to deallocate, preemption: {fit_error(nested)}"
    assert fit_error(diagnosis_of(3, dict.fromkeys(range(3), CPU), post=post)) == (
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/3 nodes are available: 3 No preemption victims found for incoming pod."
    )


def test_nodes_that_preemption_cannot_help_are_counted_apart() -> None:
    memory = unschedulable("Insufficient memory")
    nested = Diagnosis(3, own={0: NO_VICTIMS}, absent=NOT_HELPFUL)
    post = f"no new claims to deallocate, preemption: {fit_error(nested)}"
    assert fit_error(diagnosis_of(3, {0: memory, 1: TAINTED, 2: TAINTED}, post=post)) == (
        "0/3 nodes are available: 1 Insufficient memory, 2 node(s) had untolerated taint(s). "
        "no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption "
        "victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    )


def test_a_successful_preemption_adds_no_text() -> None:
    assert fit_error(diagnosis_of(3, dict.fromkeys(range(3), CPU))) == (
        "0/3 nodes are available: 3 Insufficient cpu."
    )


def test_a_pre_filter_message_stands_for_all_nodes() -> None:
    diagnosis = diagnosis_of(
        3,
        {0: CPU},
        pre="pod has unbound immediate PersistentVolumeClaims",
        post="not found",
    )
    assert fit_error(diagnosis) == (
        "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    )


def test_nodes_that_were_never_looked_at_have_the_absent_reason() -> None:
    diagnosis = Diagnosis(3, absent=unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]"))
    nested = Diagnosis(3, absent=NOT_HELPFUL)
    diagnosis.postfilter_message = f"no new claims to deallocate, preemption: {fit_error(nested)}"
    assert fit_error(diagnosis) == (
        "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims "
        "to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for "
        "scheduling."
    )


def test_lines_are_sorted_as_plain_text_with_their_numbers() -> None:
    statuses = {n: unschedulable("x") for n in range(10)} | {
        10: unschedulable("y"),
        11: unschedulable("y"),
    }
    assert fit_error(diagnosis_of(12, statuses)) == "0/12 nodes are available: 10 x, 2 y."


def test_several_reasons_of_one_node_all_count_and_equal_texts_merge() -> None:
    statuses = {0: unschedulable("a", "b"), 1: unschedulable("b", "b"), 2: unresolvable("a")}
    assert fit_error(diagnosis_of(3, statuses)) == "0/3 nodes are available: 2 a, 3 b."


def test_nodes_without_any_reason_add_nothing() -> None:
    assert fit_error(Diagnosis(2)) == "0/2 nodes are available:"
    assert fit_error(diagnosis_of(2, {0: unschedulable()})) == "0/2 nodes are available:"


def test_a_refusal_of_the_chosen_node_speaks_of_one_node() -> None:
    timeout = unschedulable("rejected due to timeout after waiting 5m0s at plugin GangScheduling")
    assert one_node_error(timeout) == (
        "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin "
        "GangScheduling."
    )
    assert one_node_error(unschedulable("b", "a")) == "0/1 nodes are available: 1 a, 1 b."
    assert one_node_error(unschedulable("a", "a")) == "0/1 nodes are available: 2 a."
    assert one_node_error(unschedulable()) == "0/1 nodes are available:"
