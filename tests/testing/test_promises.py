"""The checker finds each promise that a plugin breaks, and no fault with those that keep them."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Ints,
    PermitPlugin,
    PermitResult,
    PlacementLimits,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    Registration,
    ReservePlugin,
    Resource,
    Rows,
    ScorePlugin,
    Source,
    Status,
    ValueSource,
    Verdict,
    indices,
    rejecting,
    unschedulable,
)
from podium.scheduler.plugins import in_tree_registry
from podium.testing import assert_promises, check_promises, make_node, make_pod
from podium.testing import memory_promises as memory
from podium.testing import placement_promises as placements
from podium.testing import vector_promises as vectors
from podium.testing.promises import EVENTS, HINTS

FULL = unschedulable("full")
REFUSED_BY_CONFIGURATIONS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
ARGS: dict[str, Any] = {"RequestedToCapacityRatio": {"shape": SHAPE}}


def promises(plugin: type[Plugin], **given: Any) -> set[str]:
    return {broken.promise for broken in check_promises(plugin, **given)}


class Scorer(ScorePlugin):
    name = "Scorer"

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.minimum(100, cycle.usage.pod_count[rows])


class Filter(FilterPlugin):
    name = "Filter"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(cycle.usage.pod_count[rows] > 2, FULL)


# plugins that keep their promises


@pytest.mark.parametrize(
    "plugin",
    [
        kind
        for kind in map(in_tree_registry().get, in_tree_registry())
        if issubclass(kind, FilterPlugin | ScorePlugin)
        and kind.name not in REFUSED_BY_CONFIGURATIONS
    ],
    ids=lambda kind: kind.name,
)
def test_an_in_tree_plugin_keeps_its_promises(plugin: type[Plugin]) -> None:
    assert_promises(plugin, args=ARGS.get(plugin.name))


@pytest.mark.parametrize("plugin", [Scorer, Filter], ids=lambda kind: kind.name)
def test_a_plugin_that_promises_nothing_breaks_nothing(plugin: type[Plugin]) -> None:
    assert check_promises(plugin) == []


# answers


class Forgetful(Scorer):
    """Gives later pods higher scores."""

    asked = 0

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        self.asked += 1
        return np.full(len(indices(rows)), self.asked % 90, dtype=np.int64)


class ByPosition(Scorer):
    """Looks at where in the rows a node comes, not at which node it is."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.arange(len(indices(rows)), dtype=np.int64)


class PositionFilter(Filter):
    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(np.arange(len(indices(rows))) % 2 == 1, FULL)


class OtherRowForm(Scorer):
    def score_row(self, cycle: Cycle, row: int) -> int:
        return int(cycle.usage.pod_count[row]) + 1


class OtherFilterRow(Filter):
    def filter_row(self, cycle: Cycle, row: int) -> Status | None:
        return None


class HandsOutAColumn(Scorer):
    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return cycle.usage.pod_count[rows]


class Fractions(Scorer):
    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.full(len(indices(rows)), 0.5)


class OneTooMany(Scorer):
    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return np.zeros(len(indices(rows)) + 1, dtype=np.int64)


class OutOfRange(Scorer):
    in_range = True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return cycle.usage.pod_count[rows] * 1000


class NormalizesByCount(Scorer):
    normalizes_by_range = True

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        return np.full_like(scores, min(100, len(scores)))


class WritesToItsArgument(Scorer):
    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        scores += 1
        return np.minimum(scores, 100)


class Labels(Scorer):
    """Leaves marks in the objects that it sees."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        labels = cycle.pod.pod.metadata.labels
        if labels is not None:
            labels["seen"] = "yes"
        return super().score(cycle, rows)


@pytest.mark.parametrize(
    ("plugin", "promise"),
    [
        (Forgetful, vectors.SAME_ANSWER),
        (ByPosition, vectors.PART_OF_WHOLE),
        (PositionFilter, vectors.PART_OF_WHOLE),
        (OtherRowForm, vectors.ROW_FORM),
        (OtherFilterRow, vectors.ROW_FORM),
        (HandsOutAColumn, vectors.OWN_ARRAY),
        (Fractions, vectors.KIND),
        (OneTooMany, vectors.KIND),
        (OutOfRange, vectors.RANGE),
        (NormalizesByCount, vectors.BY_RANGE),
        (WritesToItsArgument, vectors.NO_CHANGES),
        (Labels, vectors.NO_CHANGES),
    ],
)
def test_an_answer_that_breaks_a_promise_is_found(plugin: type[Plugin], promise: str) -> None:
    assert promise in promises(plugin)


def test_a_plugin_that_raises_is_told_with_the_line() -> None:
    class Raises(Scorer):
        def score(self, cycle: Cycle, rows: Rows) -> Ints:
            raise KeyError("zone")

    (broken,) = check_promises(Raises)
    assert broken.promise == "answers without an exception"
    assert "KeyError: 'zone' (test_promises.py, line" in broken.text


# what may be remembered


class ReadsMore(Scorer):
    """Says that nothing of the pod matters, and reads its labels."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        is_web = (cycle.pod.pod.metadata.labels or {}).get("app") == "web"
        return np.full(len(indices(rows)), 100 if is_web else 0, dtype=np.int64)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=False)


class Unhashable(Scorer):
    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=["a list"], usage=True)  # type: ignore[arg-type]


class SeesPods(Scorer):
    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=False)


class FilterSeesPods(Filter):
    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=False)


class LooksAround(Scorer):
    """A node's score depends on the pods of all."""

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        everywhere = int(cycle.usage.pod_count.sum())
        return np.full(len(indices(rows)), everywhere % 100, dtype=np.int64)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=True)


class VersionOfPods(Scorer):
    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(None, usage=True, version=cycle.usage.generation, of_objects=True)


class FragmentOfName(Scorer):
    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.key, usage=True, of_shape=True)


class CountsOnce(PreFilterPlugin, FilterPlugin):
    """Counts pods beforehand, and says that the count stays."""

    name = "CountsOnce"

    def pre_filter(self, cycle: Cycle) -> None:
        cycle.write(self.name, [int(cycle.usage.pod_count.sum())])

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        (count,) = cycle.read(self.name, list)
        return rejecting(np.full(len(indices(rows)), count % 2 == 1), FULL)


class WeighsOnce(PreScorePlugin, ScorePlugin):
    name = "WeighsOnce"

    def pre_score(self, cycle: Cycle, rows: Rows) -> None:
        cycle.write(self.name, [int(cycle.usage.pod_count.sum())])

    def pre_score_stays(self, cycle: Cycle) -> bool:
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        (count,) = cycle.read(self.name, list)
        return np.full(len(indices(rows)), count % 100, dtype=np.int64)


@pytest.mark.parametrize(
    ("plugin", "promise"),
    [
        (ReadsMore, memory.FRAGMENT),
        (Unhashable, memory.HASHABLE),
        (SeesPods, memory.USAGE),
        (FilterSeesPods, memory.USAGE),
        (LooksAround, memory.OTHER_ROWS),
        (VersionOfPods, memory.OF_OBJECTS),
        (FragmentOfName, memory.OF_SHAPE),
        (CountsOnce, memory.PRE_FILTER_STAYS),
        (WeighsOnce, memory.PRE_SCORE_STAYS),
    ],
)
def test_a_promise_about_memory_that_is_broken_is_found(plugin: type[Plugin], promise: str) -> None:
    assert promise in promises(plugin)


class Load(Source):
    name = "load"


class ByLoad(ScorePlugin):
    name = "ByLoad"
    names_version: ClassVar[bool] = True
    stands: ClassVar[bool] = False

    def sources(self) -> Sequence[ValueSource]:
        return [Load()]

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        load = self.handle.sources.column("load").values(rows)
        return np.nan_to_num(load).clip(0, 100).astype(np.int64)

    def score_depends(self, cycle: Cycle) -> Dependence:
        version = self.handle.sources.column("load").version if self.names_version else None
        return Dependence(None, usage=False, version=version, of_objects=self.stands)


class WithoutVersion(ByLoad):
    names_version = False


class SaysItStands(ByLoad):
    stands = True


def test_a_plugin_that_names_the_version_of_its_source_keeps_its_promise() -> None:
    assert check_promises(ByLoad) == []


def test_a_source_whose_version_is_not_named_is_found() -> None:
    assert memory.VERSION in promises(WithoutVersion)


def test_a_source_that_is_said_to_be_an_object_is_found() -> None:
    assert memory.OF_OBJECTS in promises(SaysItStands)


# promises about many pods


class ThinksBetter(Filter):
    """Lets pods in where enough are already."""

    refusals_stand = True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(cycle.usage.pod_count[rows] < 3, FULL)


class LooksAtNames(Filter):
    """Looks at single pods, and says that sums do."""

    def looks_at_sums(self, cycle: Cycle) -> bool:
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        pods = [cycle.usage.pods(row) for row in indices(rows).tolist()]
        copies = [any(pod.pod.metadata.name.startswith("copy-") for pod in there) for there in pods]
        return rejecting(np.array(copies), FULL)


class StatesTooMuch(Filter):
    def state_limits(self, cycle: Cycle) -> PlacementLimits:
        return PlacementLimits(amounts={"seats": 3})

    def count_free(self, rows: Ints) -> list[dict[str, int]]:
        return [{"seats": 2} for _ in rows]


class CountsOneRow(StatesTooMuch):
    def count_free(self, rows: Ints) -> list[dict[str, int]]:
        return [{"seats": 3}]


class HoldsAllTheSame(PermitPlugin):
    name = "HoldsAllTheSame"

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        return PermitResult(FULL)

    def lets_go(self, cycle: Cycle) -> bool:
        return True


class ReservesAllTheSame(ReservePlugin):
    name = "ReservesAllTheSame"

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        return FULL

    def sets_nothing_aside(self, cycle: Cycle) -> bool:
        return True


@pytest.mark.parametrize(
    ("plugin", "promise"),
    [
        (ThinksBetter, placements.REFUSALS_STAND),
        (LooksAtNames, placements.LOOKS_AT_SUMS),
        (StatesTooMuch, placements.LIMITS),
        (CountsOneRow, placements.COUNT_FREE),
        (HoldsAllTheSame, placements.LETS_GO),
        (ReservesAllTheSame, placements.NOTHING_ASIDE),
    ],
)
def test_promises_about_many_pods_that_do_not_hold_are_found(
    plugin: type[Plugin], promise: str
) -> None:
    assert promises(plugin) == {promise}


# events


@pytest.mark.parametrize(
    ("events", "promise"),
    [
        ("everything", EVENTS),
        ([(Resource.NODE, Action.ADD)], EVENTS),
        ([Registration("Node", Action.ADD)], EVENTS),
        ([Registration(Resource.NODE, Action(0))], EVENTS),
        ([Registration(Resource.NODE, Action.ADD, "hint")], EVENTS),  # type: ignore[arg-type]
        ([Registration(Resource.NODE, Action.ADD, lambda *_: 1 // 0 > 0)], HINTS),
        ([Registration(Resource.NODE, Action.ALL, lambda *_: "yes")], HINTS),  # type: ignore[arg-type]
    ],
)
def test_events_that_mean_nothing_are_found(events: Any, promise: str) -> None:
    class Events(Scorer):
        def events(self) -> Any:
            return events

    assert promise in promises(Events)


# what the checker is given, and what it says


def test_given_nodes_and_pods_are_asked_about() -> None:
    class Picky(Filter):
        """Answers at random, but only for pods with a colour on coloured nodes."""

        asked = 0

        def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
            if (cycle.pod.pod.metadata.labels or {}).get("colour") != "red":
                return None
            if "colour" not in cycle.nodes.labels.labels_of(0):
                return None
            self.asked += 1
            return rejecting(np.full(len(indices(rows)), self.asked % 2 == 0), FULL)

    nodes = [make_node("red", labels={"colour": "red"})]
    pods = [make_pod("red", labels={"colour": "red"})]

    assert check_promises(Picky) == []
    assert vectors.SAME_ANSWER in promises(Picky, nodes=nodes, pods=pods)


def test_an_assertion_tells_all_that_is_broken() -> None:
    with pytest.raises(AssertionError) as told:
        assert_promises(OutOfRange)
    assert "plugin Scorer breaks promises:" in str(told.value)
    assert vectors.RANGE in str(told.value)
    assert "(seed 0)" in str(told.value)
