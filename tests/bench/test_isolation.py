"""Measurements in processes of their own."""

import io

import msgspec
import pytest

from podium.bench.cases import CASES
from podium.bench.child import ChildReport, MeasuringError, Order, carry_out, measure_apart, serve

TINY = CASES["SchedulingBasic"].plan(5)


def test_a_process_of_its_own_measures_and_reports() -> None:
    report = measure_apart(Order(case="SchedulingBasic", plan=TINY))
    assert report.figures is not None
    assert report.figures.bound == TINY.pods
    assert report.figures.nodes == 5


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(
        MeasuringError, match=r"(?s)measuring nothing ended with code 1: .*KeyError"
    ):
        measure_apart(Order(case="nothing", plan=TINY))


def test_reports_tell_how_far_a_run_has_come() -> None:
    plan = CASES["SchedulingBasic"].plan(60)
    order = msgspec.json.encode(Order(case="SchedulingBasic", plan=plan))
    target = io.BytesIO()
    serve(io.BytesIO(order + b"\n"), target)
    lines = target.getvalue().splitlines()
    reports = [msgspec.json.decode(line, type=ChildReport) for line in lines]
    assert [report.done for report in reports] == [100, plan.pods]
    assert [report.figures is None for report in reports] == [True, False]


def test_functions_are_told_with_the_time_they_take() -> None:
    report = carry_out(Order(case="SchedulingBasic", plan=TINY, look="functions"))
    names = {function.name for function in report.functions}
    assert any("Engine" in name or "run_" in name for name in names)
    assert report.functions[0].own_s >= report.functions[-1].own_s
    assert sum(function.share for function in report.functions) <= 1.001


def test_stacks_are_sampled_on_request() -> None:
    plan = CASES["SchedulingBasic"].plan(500)
    report = measure_apart(Order(case="SchedulingBasic", plan=plan, look="stacks"))
    assert report.functions == ()
    assert any("Driver.step (bench/engine_run.py)" in stack for stack in report.stacks)
