"""What plugins say of their points is so: those that build on a point work with it switched off."""

import json
from pathlib import Path

import pytest
from support.commands.command_line import node, pod, podium, writer

from podium.scheduler.plugins import in_tree_registry

REGISTRY = in_tree_registry()
HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
PRE_FILTERS = [
    "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits",
    "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources",
    "NodeDeclaredFeatures",
]  # fmt: skip
PRE_SCORES = [
    "TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "NodeResourcesBalancedAllocation", "VolumeBinding",
]  # fmt: skip


@pytest.mark.parametrize(
    ("point", "name"),
    [("preFilter", name) for name in PRE_FILTERS] + [("preScore", name) for name in PRE_SCORES],
)
def test_a_plugin_places_pods_without_one_of_its_points_and_what_builds_on_it_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], point: str, name: str
) -> None:
    plugins = {point: {"disabled": [{"name": name}]}}
    config = tmp_path / "scheduler.json"
    config.write_text(json.dumps({**HEADER, "profiles": [{"plugins": plugins}]}))
    cluster = writer(tmp_path)(node("n1"), node("n2"), pod("p"))
    done = podium(capsys, "simulate", cluster, "--config", str(config))
    told = point in REGISTRY.builds_on(name).values()
    assert ("kube-scheduler fails every pod" in done.err) == told
    assert "1 placed" in done.out
