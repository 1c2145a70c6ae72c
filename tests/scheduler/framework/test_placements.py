"""Placements of pod groups: who proposes them, how they are scored, what goes wrong."""

from collections.abc import Sequence

import numpy as np
import pytest

from podium.scheduler.framework.cycle import Assignments, Placement, PodGroupCycle
from podium.scheduler.framework.placements import (
    PlacementScoringError,
    is_error,
    run_placement_generate,
    run_placement_scores,
)
from podium.scheduler.framework.points import PlacementGeneratePlugin, PlacementScorePlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from podium.testing import make_cluster, make_handle, make_node


def group() -> PodGroupCycle:
    return PodGroupCycle(("ns", "g"), make_cluster([make_node("a"), make_node("b")]))


def generator(answer: Sequence[Placement] | Status | Exception) -> PlacementGeneratePlugin:
    class Fake(PlacementGeneratePlugin):
        name = "Generator"

        def generate_placements(
            self, group: PodGroupCycle, parent: Placement
        ) -> Sequence[Placement] | Status:
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Fake(None, make_handle())


def scorer(
    title: str,
    scores: dict[str, int] | Exception,
    normalized: Sequence[int] | Exception | None = None,
) -> PlacementScorePlugin:
    class Fake(PlacementScorePlugin):
        name = title

        def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
            if isinstance(scores, Exception):
                raise scores
            return scores[assignments.placement.name]

        def normalize_placements(
            self, group: PodGroupCycle, scores: Sequence[int]
        ) -> Sequence[int]:
            if isinstance(normalized, Exception):
                raise normalized
            return super().normalize_placements(group, scores) if normalized is None else normalized

    return Fake(None, make_handle())


def candidates(*names: str) -> list[Assignments]:
    rows = np.array([0], dtype=np.intp)
    return [Assignments(Placement(name, rows), ()) for name in names]


def test_without_a_generator_all_nodes_are_one_placement() -> None:
    found = run_placement_generate([], group())
    assert isinstance(found, list)
    assert [(p.name, p.rows.tolist()) for p in found] == [("", [0, 1])]


def test_what_a_generator_proposes_is_tried_in_its_order() -> None:
    proposed = [candidates("x")[0].placement, candidates("w")[0].placement]
    assert run_placement_generate([generator(proposed)], group()) == proposed


def test_no_proposal_at_all_is_unschedulable() -> None:
    found = run_placement_generate([generator([])], group())
    assert found == unschedulable("no feasible placements found").by("Generator")


@pytest.mark.parametrize("status", [unschedulable("no"), unresolvable("never"), error("broken")])
def test_a_status_is_passed_on_as_it_is(status: Status) -> None:
    assert run_placement_generate([generator(status)], group()) == status.by("Generator")


def test_a_generator_that_breaks_is_an_error_with_its_text_alone() -> None:
    found = run_placement_generate([generator(LookupError("gone"))], group())
    assert found == error("gone").by("Generator")


def test_scores_are_weighted_and_added_up() -> None:
    plugins = [(scorer("A", {"x": 10, "y": 20}), 1), (scorer("B", {"x": 5, "y": 0}), 3)]
    assert run_placement_scores(plugins, group(), candidates("x", "y")) == [25, 20]


def test_without_scorers_all_are_equal() -> None:
    assert run_placement_scores([], group(), candidates("x", "y")) == [0, 0]


def test_normalised_scores_are_the_ones_that_count() -> None:
    plugins = [(scorer("A", {"x": 300, "y": 5}, [100, 1]), 2)]
    assert run_placement_scores(plugins, group(), candidates("x", "y")) == [200, 2]


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (
            scorer("A", ValueError("no state")),
            'running PlacementScore plugins: plugin "A" failed with: no state',
        ),
        (
            scorer("A", {"x": 1}, ValueError("nobody")),
            "running NormalizePlacementScore on PlacementScore plugins:"
            ' plugin "A" failed with: nobody',
        ),
        (
            scorer("A", {"x": 101}),
            'applying score defaultWeights on PlacementScore plugins: plugin "A" returns an invalid'
            " score 101, it should in the range of [0, 100] after normalizing",
        ),
        (
            scorer("A", {"x": -1}),
            'applying score defaultWeights on PlacementScore plugins: plugin "A" returns an invalid'
            " score -1, it should in the range of [0, 100] after normalizing",
        ),
    ],
)
def test_a_scorer_that_breaks_is_told_by_name(plugin: PlacementScorePlugin, text: str) -> None:
    with pytest.raises(PlacementScoringError) as caught:
        run_placement_scores([(plugin, 1)], group(), candidates("x"))
    assert str(caught.value) == text


def test_errors_are_told_from_rejections() -> None:
    assert [is_error(status) for status in (None, unschedulable(), unresolvable(), error(""))] == [
        False,
        False,
        False,
        True,
    ]
    assert not is_error(Status(Code.SUCCESS))
