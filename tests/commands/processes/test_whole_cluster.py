"""A whole cluster in one process: what it is made of, how it starts and how it ends."""

import asyncio
import json
import signal
import textwrap
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.commands.command_line import pod
from support.user_code.plugin_files import SAYS_NO, Source
from support.waiting import PATIENCE_S

from podium.apiserver.serving.server import ApiServer, ServerOptions
from podium.client.resources import NAMESPACES, NODES, PODS
from podium.commands.processes.cluster_scheduler import PluginReload, SchedulerPlan
from podium.commands.processes.plugin_reloading import WatchedPluginFiles
from podium.commands.processes.whole_cluster import (
    ClusterPlan,
    RunningCluster,
    run_cluster,
    whole_cluster,
)
from podium.golang.documents import read_documents
from podium.golang.errors import InputError
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.plugins import in_tree_registry
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.names import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.user_code.plugins import equip

pytestmark = pytest.mark.usefixtures("own_modules")


def plan(count: int = 2, *, plugins: tuple[str, ...] = (), **more: Any) -> ClusterPlan:
    nodes = tuple(nodes_from([default_template()], count))
    configuration = load_configuration(None, gates=more.get("gates", FeatureGates()))
    equipped = equip(configuration, in_tree_registry(), plugins)
    simulated = SimulatedClusterOptions(nodes=nodes, controllers=ALL)
    own = {name: more.pop(name) for name in ("observers", "reload") if name in more}
    scheduler = SchedulerPlan(equipped, more.pop("gates", FeatureGates()), **own)
    return ClusterPlan(simulated, scheduler, **{"speed": 20.0, **more})


def server(data: Path | None = None, gates: FeatureGates | None = None) -> ApiServer:
    return ApiServer(ServerOptions(data=data, taint_new_nodes=True, gates=gates or FeatureGates()))


def in_cluster(
    planned: ClusterPlan,
    scenario: Callable[[RunningCluster], Awaitable[None]],
    data: Path | None = None,
) -> None:
    async def main() -> None:
        running = whole_cluster(server(data, planned.scheduler_plan.gates), planned)
        async with asyncio.timeout(PATIENCE_S), running as cluster:
            await scenario(cluster)

    asyncio.run(main())


async def objects(cluster: RunningCluster, resource: Any) -> dict[str, Any]:
    listed = (await cluster.client.list(resource)).items
    return {each["metadata"]["name"]: each for each in map(msgspec.json.decode, listed)}


async def until(cluster: RunningCluster, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The pods, once they are as wanted."""
    while not holds(found := await objects(cluster, PODS)):
        await asyncio.sleep(0)
    return found


def is_bound(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda pods: bool(pods[name]["spec"].get("nodeName"))


def why(found: Any) -> str:
    conditions = found["status"].get("conditions", ())
    return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled"), "")


def test_a_cluster_has_its_nodes_and_places_pods_on_them() -> None:
    async def scenario(cluster: RunningCluster) -> None:
        assert {each.metadata.name for each in cluster.nodes} == {"node-0", "node-1"}
        assert set(await objects(cluster, NODES)) == {"node-0", "node-1"}
        await cluster.client.create(PODS, pod("a"), "default")
        await until(cluster, is_bound("a"))
        assert not any(part.done() for part in cluster.parts)

    in_cluster(plan(), scenario)


def test_leaving_a_cluster_leaves_nothing_running() -> None:
    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S):
            async with whole_cluster(server(), plan()) as cluster:
                await cluster.client.create(PODS, pod("a"), "default")
            assert all(part.done() for part in cluster.parts)
            assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_kept_cluster_has_more_nodes_than_it_is_asked_for_now(tmp_path: Path) -> None:
    async def first(cluster: RunningCluster) -> None:
        assert len(cluster.nodes) == 3

    async def second(cluster: RunningCluster) -> None:
        assert len(cluster.nodes) == 3
        await cluster.client.create(PODS, pod("a"), "default")
        await until(cluster, is_bound("a"))

    in_cluster(plan(3), first, tmp_path)
    in_cluster(plan(1), second, tmp_path)


def test_a_plugin_of_the_users_own_decides(source: Source) -> None:
    async def scenario(cluster: RunningCluster) -> None:
        for name in ("bad", "good"):
            await cluster.client.create(PODS, pod(name), "default")
        await until(cluster, is_bound("good"))
        pods = await until(cluster, lambda pods: "2 said no" in why(pods["bad"]))
        assert not pods["bad"]["spec"].get("nodeName")

    in_cluster(plan(plugins=(source(SAYS_NO),)), scenario)


def test_a_gang_is_bound_when_all_of_it_is_there_and_goes_with_its_namespace() -> None:
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True})
    namespace = "/api/v1/namespaces"
    groups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/gang/podgroups"

    async def scenario(cluster: RunningCluster) -> None:
        async def post(path: str, body: Any) -> None:
            await cluster.client.request("POST", path, (), json.dumps(body).encode())

        await post(namespace, {"metadata": {"name": "gang"}})
        spec: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": 2}}}
        await post(groups, {"metadata": {"name": "train"}, "spec": spec})
        for name in ("first", "second"):
            member = pod(name)
            member["spec"]["schedulingGroup"] = {"podGroupName": "train"}
            member["spec"]["terminationGracePeriodSeconds"] = 0
            if name == "second":
                found = await objects(cluster, PODS)
                assert not is_bound("first")(found)
            await post(f"{namespace}/gang/pods", member)
        await until(cluster, lambda found: is_bound("first")(found) and is_bound("second")(found))
        await cluster.client.request("DELETE", f"{namespace}/gang", ())
        while "gang" in await objects(cluster, NAMESPACES):
            await asyncio.sleep(0)

    in_cluster(plan(gates=gates), scenario)


def test_a_part_that_breaks_ends_the_cluster_with_what_broke_it() -> None:
    class Broken(Exception):
        pass

    async def break_down() -> None:
        raise Broken

    def started(cluster: RunningCluster) -> None:
        broken = asyncio.ensure_future(break_down())
        object.__setattr__(cluster, "parts", (*cluster.parts, broken))

    with pytest.raises(Broken):
        asyncio.run(run_cluster(server(), plan(1), started))


# --- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_cluster(number: signal.Signals) -> None:
    seen: list[RunningCluster] = []

    def started(cluster: RunningCluster) -> None:
        seen.append(cluster)
        signal.raise_signal(number)

    asyncio.run(run_cluster(server(), plan(), started))
    (cluster,) = seen
    assert all(part.done() for part in cluster.parts)


def test_a_signal_ends_a_cluster_that_is_still_starting() -> None:
    started: list[RunningCluster] = []

    def observers(_: Engine) -> tuple[Observer, ...]:
        signal.raise_signal(signal.SIGTERM)
        return ()

    asyncio.run(run_cluster(server(), plan(20, observers=observers), started.append))
    assert started == []


# --- objects to begin with -----------------------------------------------------------------------


def test_objects_are_applied_once_the_cluster_is_up() -> None:
    text = "apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n---\nkind: Pod\n"
    documents = read_documents(text, "objects.yaml")
    order: list[str] = []

    with pytest.raises(InputError, match=r"objects\.yaml: document 2 \(line 5\): apiVersion"):
        asyncio.run(
            run_cluster(server(), plan(documents=documents), lambda _: order.append("started"))
        )
    assert order == ["started"]


def test_a_plugin_that_is_written_anew_takes_its_place_and_one_that_does_not_load_does_not(
    source: Source,
) -> None:
    file = source(SAYS_NO)
    told: list[str] = []
    given = load_configuration(None, gates=FeatureGates())
    reload = PluginReload(
        WatchedPluginFiles([file]), lambda: equip(given, in_tree_registry(), [file]), told.append
    )

    async def scenario(cluster: RunningCluster) -> None:
        url = cluster.scheduler.url
        await cluster.client.create(PODS, pod("bad-1"), "default")
        await until(cluster, lambda pods: "said no" in why(pods["bad-1"]))
        Path(file).write_text("class Half(")
        await until(cluster, lambda _: len(told) == 1)
        await cluster.client.create(PODS, pod("bad-2"), "default")
        await until(cluster, lambda pods: "said no" in why(pods["bad-2"]))
        Path(file).write_text(textwrap.dedent(SAYS_NO).replace("bad", "worse"))
        await until(
            cluster, lambda pods: all(each["spec"].get("nodeName") for each in pods.values())
        )
        await cluster.client.create(PODS, pod("worse-1"), "default")
        await until(cluster, lambda pods: "said no" in why(pods["worse-1"]))
        assert cluster.scheduler.url == url

    in_cluster(plan(plugins=(file,), reload=reload), scenario)
    assert "the plugins before stay in force" in told[0]
    assert "is not Python" in told[0]
    assert told[1:] == [f"plugins of {file} are in force as they are now"]
