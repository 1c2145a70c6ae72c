"""What is written into a configuration file changes what the engine does."""

import inspect
from typing import Any

import pytest
from support.scheduler.plugins.device_builders import (
    claiming_pod,
    device,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND, ExtensionPoint
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.binding_points import (
    PlacementGeneratePlugin,
    PlacementScorePlugin,
)
from podium.scheduler.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.scheduler.plugins import in_tree_registry
from podium.testing import FakeCluster, make_node, make_pod

POINTS: tuple[type[Plugin], ...] = (
    PreEnqueuePlugin,
    QueueSortPlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ReservePlugin,
    PermitPlugin,
    PreBindPlugin,
    BindPlugin,
    PostBindPlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
)
EVERYWHERE = [{"name": "Everywhere"}]
SORTED = [{"name": "PrioritySort"}]


def everywhere() -> type[Plugin]:
    """A plugin that has a say at every extension point."""
    methods = {
        name for point in POINTS for name, value in vars(point).items() if inspect.isfunction(value)
    }
    body = {**dict.fromkeys(methods, lambda *_: None), "name": "Everywhere", "Args": None}
    return type("Everywhere", POINTS, body)


def engine_with(profile: dict[str, Any], *plugins: type[Plugin], **fields: Any) -> Engine:
    file = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile], **fields}
    registry = in_tree_registry().with_plugins(*plugins)
    return Engine(
        load_configuration(file, gates=FeatureGates()),
        registry,
        choice=FirstByName(),
        gates=FeatureGates(),
    )


def where_it_runs(plugins: dict[str, Any]) -> set[str]:
    points = engine_with({"plugins": plugins}, everywhere()).first_profile.points()
    return {point for point, listed in points.items() if "Everywhere" in dict(listed)}


@pytest.mark.parametrize("point", list(ExtensionPoint))
def test_a_plugin_that_is_enabled_at_a_point_runs_there_alone(point: ExtensionPoint) -> None:
    disabled = SORTED if point is ExtensionPoint.QUEUE_SORT else []
    assert where_it_runs({point: {"enabled": EVERYWHERE, "disabled": disabled}}) == {point}


@pytest.mark.parametrize("point", list(ExtensionPoint))
def test_a_plugin_of_all_points_does_not_run_where_it_is_disabled(point: ExtensionPoint) -> None:
    sorts = point is not ExtensionPoint.QUEUE_SORT
    plugins = {
        "multiPoint": {"enabled": EVERYWHERE, "disabled": SORTED if sorts else []},
        point: {"disabled": EVERYWHERE},
    }
    assert where_it_runs(plugins) == set(ExtensionPoint) - {point}


def test_a_plugin_that_is_disabled_at_all_points_runs_nowhere() -> None:
    plugins = {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}
    points = engine_with({"plugins": plugins}).first_profile.points()
    assert not [point for point, listed in points.items() if "NodeResourcesFit" in dict(listed)]


@pytest.mark.parametrize(
    ("profile", "whole", "found"),
    [
        ({}, {}, 200),
        ({}, {"percentageOfNodesToScore": 60}, 120),
        ({"percentageOfNodesToScore": 70}, {"percentageOfNodesToScore": 60}, 140),
    ],
)
def test_a_search_ends_at_the_percentage_of_its_profile_or_else_of_the_file(
    profile: dict[str, Any], whole: dict[str, Any], found: int
) -> None:
    engine = engine_with({"schedulerName": "mine", **profile}, **whole)
    for number in range(200):
        engine.cluster.put_node(make_node(f"n{number:03}"))
    pod = engine.cluster.infos.of(make_pod("p", schedulerName="mine"))
    assert len(engine.schedule(pod).decision.feasible) == found


LARGE = {"cpu": 128, "memory": "64Gi", "pods": 110}


def waits_s(cluster: FakeCluster, attempts: int) -> list[float]:
    """How long a pod that is never placed is kept from its next attempts."""
    cluster.put(make_pod("p", requests={"cpu": "64"}))
    waits = []
    for number in range(attempts):
        assert cluster.attempt() is not None
        cluster.put(
            make_node(f"large-{number}", allocatable=LARGE, taints=[("k", "v", "NoSchedule")])
        )
        queued = cluster.engine.queue.get("default/p")
        assert queued is not None
        assert queued.backoff_expiry is not None
        waits.append(queued.backoff_expiry - cluster.clock())
        cluster.wait(waits[-1] + 1)
    return waits


@pytest.mark.parametrize(
    ("fields", "waits"),
    [
        ({}, [1, 2, 4, 8, 10]),
        ({"podInitialBackoffSeconds": 3}, [3, 6, 10, 10, 10]),
        ({"podMaxBackoffSeconds": 5}, [1, 2, 4, 5, 5]),
    ],
)
def test_backoff_begins_and_ends_where_the_file_says(
    fields: dict[str, Any], waits: list[float]
) -> None:
    cluster = FakeCluster(make_node("a"), gates={"SchedulerPopFromBackoffQ": False}, **fields)
    assert waits_s(cluster, 5) == pytest.approx(waits)


@pytest.mark.parametrize(("ignored", "fits"), [(True, True), (False, False)])
def test_a_resource_that_an_extender_accounts_for_is_not_looked_for_on_nodes(
    ignored: bool, fits: bool
) -> None:
    managed = {"name": "example.com/license", "ignoredByScheduler": ignored}
    extender = {"urlPrefix": "http://127.0.0.1:1", "managedResources": [managed]}
    engine = engine_with({}, extenders=[extender])
    engine.cluster.put_node(make_node("a"))
    pod = engine.cluster.infos.of(make_pod("p", requests={"example.com/license": 1}))
    assert engine.schedule(pod).decision.scheduled is fits


@pytest.mark.parametrize(("timeout", "placed"), [("10s", True), ("1ms", False)])
def test_a_search_for_devices_ends_with_its_timeout(timeout: str, placed: bool) -> None:
    devices = [device(f"d{number:02}", {"x": number}) for number in range(40)]
    cluster = FakeCluster(
        make_node("n"),
        make_class(),
        make_slice("p", devices, node="n"),
        make_claim("c", exactly("r", 32)),
        args={"DynamicResources": {"filterTimeout": timeout}},
    )
    assert cluster.schedule(claiming_pod("pod", "c")).scheduled is placed
