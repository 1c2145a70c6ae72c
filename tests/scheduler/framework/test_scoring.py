"""Scoring: phases, weights, texts of what goes wrong, the usual normalisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.framework.fake_plugins import made, score_by

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.scoring import (
    MAX_SCORE,
    PluginScores,
    ScoringError,
    default_normalize,
    run_pre_scores,
    run_scores,
)
from podium.scheduler.framework.status import SKIP, Code, Status, error, unschedulable
from podium.testing import make_cluster, make_node, make_pod

NAMES = ("a", "b", "c")


def cycle() -> Cycle:
    cluster = make_cluster(make_node(name) for name in NAMES)
    return Cycle(cluster.infos.of(make_pod("p")), cluster)


def score(
    *plugins: type[Plugin], weights: dict[str, int] | None = None
) -> tuple[list[PluginScores], list[int]]:
    attempt = cycle()
    run_pre_scores(made(*plugins), attempt, slice(0, 3))
    weighted = [(plugin, (weights or {}).get(plugin.name, 1)) for plugin in made(*plugins)]
    scores, total = run_scores(weighted, attempt, slice(0, 3))
    return scores, total.tolist()


def failure(*plugins: type[Plugin]) -> str:
    with pytest.raises(ScoringError) as caught:
        score(*plugins)
    return str(caught.value)


def test_totals_are_weighted_sums_of_normalised_scores() -> None:
    scores, total = score(
        score_by("A", {"a": 10, "b": 50}),
        score_by("B", {"a": 1, "c": 2}, normalized=lambda raw: raw * 50),
        weights={"A": 3, "B": 2},
    )
    assert total == [30 + 100, 150, 200]
    assert [s.plugin for s in scores] == ["A", "B"]
    assert scores[1].raw.tolist() == [1, 0, 2]
    assert scores[1].normalized.tolist() == [50, 0, 100]
    assert scores[1].weight == 2


def test_a_plugin_that_skips_is_left_out_of_the_total() -> None:
    attempt = cycle()
    plugins = made(score_by("A", {"a": 10}, prepare=SKIP), score_by("B", {"b": 20}))
    assert run_pre_scores(plugins, attempt, slice(0, 3)) == ["A"]
    scores, total = run_scores([(p, 1) for p in plugins], attempt, slice(0, 3))
    assert [s.plugin for s in scores] == ["B"]
    assert total.tolist() == [0, 20, 0]


def test_without_plugins_every_total_is_zero() -> None:
    assert score() == ([], [0, 0, 0])


@pytest.mark.parametrize(
    "answer",
    [error("boom"), unschedulable("boom"), ValueError("boom"), Status(Code.PENDING, ("boom",))],
)
def test_any_other_answer_of_pre_score_ends_the_attempt(answer: Status | Exception) -> None:
    assert failure(score_by("A", {}, prepare=answer)) == 'running PreScore plugin "A": boom'


def test_a_score_that_breaks_ends_the_attempt() -> None:
    text = 'running Score plugins: plugin "A" failed with: boom'
    assert failure(score_by("A", ValueError("boom"))) == text


def test_a_normalisation_that_breaks_ends_the_attempt() -> None:
    text = 'running Normalize on Score plugins: plugin "A" failed with: boom'
    assert failure(score_by("A", {}, normalized=ValueError("boom"))) == text


@pytest.mark.parametrize(("value", "shown"), [(101, "101"), (-1, "-1")])
def test_a_score_out_of_range_ends_the_attempt(value: int, shown: str) -> None:
    assert failure(score_by("A", {"b": value})) == (
        f'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score '
        f"{shown}, it should in the range of [0, 100] after normalizing"
    )


def test_of_several_scores_out_of_range_that_of_the_first_node_is_told() -> None:
    first = score_by("First", {"b": 300, "c": -7})
    second = score_by("Second", {"a": -2, "b": 500})
    assert '"Second" returns an invalid score -2,' in failure(first, second)
    assert '"First" returns an invalid score 300,' in failure(first)


def test_every_plugin_scores_before_any_is_normalised_and_ranges_come_last() -> None:
    out_of_range = score_by("Wild", {"a": 1000})
    badly_normalised = score_by("Bad", {}, normalized=ValueError("boom"))
    broken = score_by("Broken", ValueError("bang"))
    assert "running Score plugins" in failure(out_of_range, badly_normalised, broken)
    assert "running Normalize" in failure(out_of_range, badly_normalised)


@pytest.mark.parametrize("phase", ["score", "normalize"])
def test_an_answer_of_the_wrong_length_is_an_error_of_the_plugin(phase: str) -> None:
    short = np.zeros(2, dtype=np.int64)
    if phase == "normalize":
        text = failure(score_by("Short", {}, normalized=lambda _: short))
    else:
        kind = score_by("Short", {})
        kind.score = lambda self, cycle, rows: short  # type: ignore[attr-defined]
        text = failure(kind)
    assert text.endswith('plugin "Short" failed with: gave 2 scores for 3 nodes')


def test_the_lowest_count_is_the_best_when_reversed() -> None:
    counts = np.array([3, 1, 2], dtype=np.int64)
    assert default_normalize(counts, reverse=True).tolist() == [0, 67, 34]
    assert default_normalize(counts).tolist() == [100, 33, 66]


def test_all_zero_stays_zero_or_is_all_best_when_reversed() -> None:
    zeros = np.zeros(2, dtype=np.int64)
    assert default_normalize(zeros).tolist() == [0, 0]
    assert default_normalize(zeros, reverse=True).tolist() == [MAX_SCORE, MAX_SCORE]


@given(raw=st.lists(st.integers(0, 2**40), min_size=1), reverse=st.booleans())
def test_normalisation_scales_by_the_maximum_and_truncates(raw: list[int], reverse: bool) -> None:
    highest = max(raw)
    expected = [
        (MAX_SCORE if reverse else score)
        if highest == 0
        else (MAX_SCORE - score * 100 // highest if reverse else score * 100 // highest)
        for score in raw
    ]
    scores: Ints = np.array(raw, dtype=np.int64)
    assert default_normalize(scores, reverse=reverse).tolist() == expected
    assert scores.tolist() == raw
