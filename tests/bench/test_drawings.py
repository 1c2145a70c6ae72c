"""Plots and flame graphs: SVG files that any viewer can read, with the right sizes in them."""

import re
from xml.etree import ElementTree

import pytest

from podium.bench.function_times import draw_flame_graph, tree_of, trunk
from podium.bench.plot import draw_plot, nice_step
from podium.bench.results import Recorded

SVG = "{http://www.w3.org/2000/svg}"


def result(name: str, *rates: float) -> Recorded:
    return Recorded(workload=name, pods_per_s=max(rates), runs=rates)


def bars(text: str) -> list[float]:
    root = ElementTree.fromstring(text)
    return [float(rect.attrib["width"]) for rect in root.iterfind(f"{SVG}g/{SVG}rect")]


def test_bars_are_as_long_as_workloads_are_fast() -> None:
    text = draw_plot([result("a", 50.0, 100.0), result("b", 25.0)], "Title & more")
    first, second = bars(text)
    assert first == pytest.approx(4 * second, abs=0.2)
    assert "Title &amp; more" in text


def test_marks_reach_from_the_slowest_run_to_the_fastest() -> None:
    text = draw_plot([result("a", 50.0, 100.0)], "t")
    found = re.search(r"<path d=\"M([\d.]+) [\d.]+H([\d.]+)M", text)
    assert found is not None
    (width,) = bars(text)
    assert float(found[2]) - float(found[1]) == pytest.approx(width / 2, abs=0.2)


def test_an_earlier_run_has_bars_of_its_own() -> None:
    text = draw_plot([result("a", 100.0), result("b", 9.0)], "t", {"a": result("a", 50.0)})
    assert len(bars(text)) == 3
    assert "pale: before" in text


def test_a_plot_of_nothing_is_still_a_plot() -> None:
    assert bars(draw_plot([], "t")) == []


def test_steps_of_the_axis_are_round_numbers() -> None:
    assert [nice_step(least) for least in (0.1, 1.5, 3.0, 700.0, 1000.0, 1100.0)] == [
        1.0,
        2.0,
        5.0,
        1000.0,
        1000.0,
        2000.0,
    ]


def test_stacks_with_one_root_are_merged() -> None:
    root = tree_of({"main;a;b": 3, "main;a": 1, "main;c": 2})
    assert root.samples == 6
    main = root.above["main"]
    assert {name: frame.samples for name, frame in main.above.items()} == {"a": 4, "c": 2}
    assert main.depth == 3


def test_the_trunk_that_all_stacks_share_is_cut_off() -> None:
    assert trunk(tree_of({"x;main;a": 3, "x;main;b": 1})).name == "main"


def test_the_width_of_a_flame_is_its_share_of_the_samples() -> None:
    text = draw_flame_graph({"main;fast (f.py)": 1, "main;slow <locals> (s.py)": 3}, "t")
    main, fast, slow = bars(text)
    assert slow == pytest.approx(3 * fast, abs=0.2)
    assert main == pytest.approx(fast + slow, abs=0.2)
    assert "slow &lt;locals&gt; (s.py): 75.0 %" in text


def test_a_flame_graph_without_samples_says_so() -> None:
    text = draw_flame_graph({}, "t")
    assert bars(text) == []
    assert "0 samples" in text
