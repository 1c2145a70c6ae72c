"""What is remembered of templates outlives changes of custom kinds that it does not depend on."""

import pytest

from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.addons.collection.node_resource_topology.plugin import NodeResourceTopologyMatch
from podium.plugin import Cycle, KubeObject, PreFilterPlugin, WatchedKind
from podium.testing import FakeCluster, make_node, make_pod


class Licence(KubeObject, frozen=True):
    api_version: str = "example.com/v1"
    kind: str = "Licence"


class Counts(PreFilterPlugin):
    """Counts how often it is asked, and promises that once is enough."""

    name = "Counts"
    asked = 0

    def pre_filter(self, cycle: Cycle) -> None:
        Counts.asked += 1

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return True


class Reads(PreFilterPlugin):
    """Reads a custom kind and promises nothing."""

    name = "Reads"
    watched_kinds = (WatchedKind(Licence, "licences"),)

    def pre_filter(self, cycle: Cycle) -> None:
        return None


class ReadsAndStays(Reads):
    """Promises something that may depend on the kind."""

    name = "ReadsAndStays"

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return True


class StaysWhatever(ReadsAndStays):
    name = "StaysWhatever"
    stays_whatever_watched = True


@pytest.mark.parametrize(
    ("readers", "asked_again"),
    [
        ([Reads], False),
        ([StaysWhatever], False),
        ([Reads, StaysWhatever], False),
        ([ReadsAndStays], True),
        ([Reads, ReadsAndStays], True),
        ([], True),
    ],
)
def test_only_a_kind_that_promises_depend_on_makes_plugins_answer_again(
    readers: list[type[PreFilterPlugin]], asked_again: bool
) -> None:
    cluster = FakeCluster(make_node("a"), plugins=[Counts, *readers])
    for n in range(4):
        cluster.schedule(make_pod(f"before-{n}"))
    Counts.asked = 0
    cluster.schedule(make_pod("still"))
    assert Counts.asked == 0
    licence = Licence()
    cluster.engine.cluster.catalog.put(licence)
    cluster.schedule(make_pod("after"))
    assert (Counts.asked > 0) is asked_again


def test_a_node_that_changes_is_never_passed_over() -> None:
    cluster = FakeCluster(make_node("a"), plugins=[Counts, Reads])
    for n in range(4):
        cluster.schedule(make_pod(f"before-{n}"))
    Counts.asked = 0
    cluster.put(make_node("b"))
    cluster.schedule(make_pod("after"))
    assert Counts.asked > 0


@pytest.mark.parametrize("plugin", [Coscheduling, NodeResourceTopologyMatch])
def test_groups_and_reports_come_and_go_without_effect_on_other_pods(
    plugin: type[PreFilterPlugin],
) -> None:
    cluster = FakeCluster(make_node("a"), plugins=[Counts, plugin])
    for n in range(4):
        cluster.schedule(make_pod(f"before-{n}"))
    Counts.asked = 0
    for watched in plugin.watched_kinds:
        cluster.engine.cluster.catalog.put(watched.struct())
    cluster.schedule(make_pod("after"))
    assert Counts.asked == 0
