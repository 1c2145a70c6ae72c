"""Tables of how cost grows, and the place they have in a document."""

import pytest

from podium.bench.cases import CASES
from podium.bench.child import Order
from podium.bench.results import Figures
from podium.bench.scaling import (
    AXES,
    BEGIN,
    END,
    Axis,
    format_markdown,
    measure_axis,
    orders_of,
    with_block,
)
from podium.golang.errors import InputError


def fake(order: Order) -> Figures:
    """A pod takes as many microseconds as there are nodes."""
    plan = order.plan
    seconds = plan.nodes * plan.pods / 1e6
    return Figures(
        nodes=plan.nodes,
        pods=plan.pods,
        bound=plan.pods,
        failed=0,
        seconds=seconds,
        cpu_seconds=seconds,
        pods_per_s=plan.pods / seconds,
        p50_ms=0.0,
        p99_ms=0.0,
        peak_rss_mb=float(plan.nodes),
        load=1.5,
    )


AXIS = Axis("Nodes", "nodes", (500, 1000), ("SchedulingBasic", "ManySignatures"), "About.")


def test_tables_show_the_cost_of_a_pod_by_value_and_workload() -> None:
    text = format_markdown([(AXIS, measure_axis(AXIS, fake, 2))], 2)
    assert "### Nodes" in text
    assert "| 500 | 500 (0 %) | 500 (0 %) | 500 |" in text
    assert "| 1,000 | 1,000 (0 %) | 1,000 (0 %) | 1,000 |" in text
    assert "load between 1.5 and 1.5" in text
    assert "Best of 2 runs" in text


def test_only_one_quantity_varies_at_a_time() -> None:
    for axis in AXES:
        for case in axis.cases:
            assert case in CASES
            plans = [axis.plan(case, value) for value in axis.values]
            assert [getattr(plan, axis.quantity) for plan in plans] == list(axis.values)
            if axis.quantity != "nodes":
                assert {plan.nodes for plan in plans} == {5000}
                assert len({plan.pods for plan in plans}) == 1


def test_measurements_can_be_counted_before_and_cut() -> None:
    assert orders_of([AXIS]) == 4
    assert AXIS.up_to(500).values == (500,)
    assert AXIS.up_to(1).values == (500,)


def test_tables_go_where_the_document_has_a_place_for_them() -> None:
    document = f"# Title\n{BEGIN}\nold\n{END}\nrest\n"
    changed = with_block(document, "new", "doc.md")
    assert changed == f"# Title\n{BEGIN}\n\nnew\n\n{END}\nrest\n"
    assert with_block(changed, "new", "doc.md") == changed


def test_a_document_without_a_place_is_refused() -> None:
    with pytest.raises(InputError, match=r"doc\.md: has no place"):
        with_block("# Title\n", "new", "doc.md")
