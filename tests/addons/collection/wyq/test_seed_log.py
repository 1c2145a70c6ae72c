"""Wyq-Scheduler's configuration, unchanged, places its pod and writes its log."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.waiting import PATIENCE_S

from podium.apiserver.serving.server import ApiServer, ServerOptions
from podium.client.resources import PODS
from podium.commands.processes.cluster_scheduler import SchedulerPlan
from podium.commands.processes.kube_log import log_at
from podium.commands.processes.whole_cluster import ClusterPlan, RunningCluster, whole_cluster
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.effective import effective
from podium.scheduler.config.load import load_file
from podium.scheduler.plugins import in_tree_registry
from podium.simulated.cluster import SimulatedClusterOptions
from podium.simulated.names import ALL
from podium.simulated.nodes.templates import default_template, nodes_from
from podium.user_code.plugins import equip

pytestmark = pytest.mark.usefixtures("own_modules")

CONFIGURATION = Path(__file__).with_name("effective.yaml")
FIRST, SECOND, THIRD = (f"yigou-dev-102-{number}" for number in (45, 46, 44))
COMPANIONS = {"VolumeZone", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits"}
SCORE_COMPANIONS = {"NodeResourcesFit", "NodeResourcesBalancedAllocation"}
ALL_OFF = [{"name": "*", "weight": 0}]

POD = {
    "metadata": {"name": "test"},
    "spec": {"schedulerName": "wyq", "containers": [{"name": "c", "image": "nginx"}]},
}
LINES = """\
"Attempting to schedule pod" pod="default/test"
PreFilter: test
Filter : pod: test, node: yigou-dev-102-45
Filter : pod: test, node: yigou-dev-102-46
PreScore: test
PreScore: yigou-dev-102-45
PreScore: yigou-dev-102-46
Score: pod: test, node: yigou-dev-102-45
Score: pod: test, node: yigou-dev-102-46
NormalizeScore: pod: test
Reserve: pod: test, node: NODE
Permit: pod: test, node: NODE
PreBind: pod: test, node: NODE
"Attempting to bind pod to node" logger="Bind.DefaultBinder" pod="default/test" node="NODE"
"Finished binding for pod, can be expired" pod="default/test"
"Successfully bound pod to node" pod="default/test" node="NODE" evaluatedNodes=3 feasibleNodes=2
PostBind: pod: test, node: NODE
"Delete event for unscheduled pod" pod="default/test"
"Add event for scheduled pod" pod="default/test"
""".splitlines()
"""The log as Wyq-Scheduler's readme shows it; NODE is one of the two that fit. `logger` came with
contextual logging, nothing else differs."""


def nodes() -> tuple[Any, ...]:
    made = []
    for node, name in zip(nodes_from([default_template()], 3), (FIRST, SECOND, THIRD), strict=True):
        node["metadata"]["name"] = name
        node["metadata"].setdefault("labels", {})["kubernetes.io/hostname"] = name
        if name == THIRD:
            node["spec"] = {**node.get("spec", {}), "unschedulable": True}
        made.append(node)
    return tuple(made)


def cluster_log(capsys: pytest.CaptureFixture[str], verbosity: int) -> list[str]:
    """What is logged while the pod is scheduled and seen on its node."""
    configuration = load_file(CONFIGURATION.read_bytes(), source="effective.yaml")
    plan = ClusterPlan(
        SimulatedClusterOptions(nodes=nodes(), controllers=ALL),
        SchedulerPlan(
            equip(configuration, in_tree_registry(), ()), FeatureGates(), log=log_at(verbosity)
        ),
    )

    async def main() -> None:
        server = ApiServer(ServerOptions(taint_new_nodes=True, gates=FeatureGates()))
        async with asyncio.timeout(PATIENCE_S), whole_cluster(server, plan) as cluster:
            await _until_ready(cluster)
            await cluster.client.create(PODS, POD, "default")
            while not (known := cluster.scheduler.engine.state.pods.get("default/test")) or (
                not known.spec.node_name
            ):
                await asyncio.sleep(0)

    asyncio.run(main())
    written = capsys.readouterr().err.splitlines()
    return [re.sub(r"^I\d{4} \S+ +\d+ \w+\.py:\d+\] ", "", line) for line in written]


async def _until_ready(cluster: RunningCluster) -> None:
    def tainted() -> bool:
        return any(
            taint.key == "node.kubernetes.io/not-ready"
            for node in cluster.nodes
            for taint in node.spec.taints or ()
        )

    while len(cluster.nodes) < 3 or tainted():
        await asyncio.sleep(0)


def test_the_log_is_the_one_that_its_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    said = cluster_log(capsys, 5)
    bound = next(line for line in said if line.startswith('"Successfully bound'))
    (node,) = re.findall(r'node="([\w-]+)"', bound)
    wanted = [line.replace("NODE", node) for line in LINES]
    told = [line for line in said if line in wanted]
    *before, deleted, added = wanted
    assert [line for line in told if line not in (deleted, added)] == before
    # Today a pod is seen on its node before it leaves the queue; in 1.23 it came later.
    assert told.index(added) < told.index(deleted)


def test_quiet_trace_plugins_write_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    said = cluster_log(capsys, 2)
    assert any(line.startswith('"Successfully bound pod to node"') for line in said)
    assert not any(line.startswith(("PreFilter", "Filter", "Score")) for line in said)


def test_the_effective_configuration_is_printed_as_it_was() -> None:
    text = CONFIGURATION.read_bytes()
    configuration = load_file(text, source="effective.yaml")
    shown = effective(configuration)
    seed = yaml.safe_load(text)
    plugins, seen = seed["profiles"][0]["plugins"], shown["profiles"][0]["plugins"]
    # Without it the defaults would come back when the file is read again.
    assert all(point.pop("disabled") == ALL_OFF for name, point in seen.items() if point)
    # Filters and scores of today that have gained a PreFilter or a PreScore get it.
    came = {"preFilter": COMPANIONS, "preScore": SCORE_COMPANIONS}
    for point, names in came.items():
        assert [p for p in seen[point]["enabled"] if p["name"] not in names] == (
            plugins[point].pop("enabled")
        )
        del seen[point]["enabled"]
    # A field that 1.26 added.
    affinity = shown["profiles"][0]["pluginConfig"][1]["args"]
    assert affinity.pop("ignorePreferredTermsOfExistingPods") is False
    assert shown == seed
