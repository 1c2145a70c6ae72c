"""Plugin lists with which kube-scheduler fails every pod."""

import json

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import Examination, KnownPlugins, examine
from podium.scheduler.config.types import ExtensionPoint
from podium.scheduler.plugins import in_tree_registry

REGISTRY = in_tree_registry()
KNOWN = KnownPlugins(tuple(REGISTRY), REGISTRY.implements, REGISTRY.builds_on)


def examined(**points: list[str]) -> Examination:
    """With these plugins disabled at these points."""
    sets = {point: {"disabled": [{"name": n} for n in names]} for point, names in points.items()}
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    whole = {**header, "profiles": [{"plugins": sets}]}
    return examine(json.dumps(whole, indent=1).encode(), KNOWN, gates=FeatureGates())


def test_the_defaults_have_nothing_to_tell() -> None:
    assert examined().findings == ()


def test_a_filter_without_its_pre_filter_is_told_with_its_line_and_remedy() -> None:
    (finding,) = examined(preFilter=["NodePorts"]).findings
    assert (finding.level, finding.path, finding.line) == (
        "warning",
        "profiles[0].plugins.preFilter",
        7,
    )
    assert finding.text == (
        "kube-scheduler fails every pod, since what is worked out at preFilter is read at filter by"
        " plugins that are off at preFilter: NodePorts; here they run there"
    )
    assert finding.remedy == "enable them at preFilter, or disable them at filter"


def test_without_any_pre_filter_all_that_build_on_theirs_are_named_at_once() -> None:
    (finding,) = examined(preFilter=["*"]).findings
    assert "NodeResourcesFit, VolumeRestrictions, VolumeBinding" in finding.text
    assert "at filter, reserve, score, preBind" in finding.text
    assert "NodeAffinity" not in finding.text


def test_a_plugin_that_is_off_at_both_points_needs_nothing() -> None:
    assert examined(preFilter=["NodePorts"], filter=["NodePorts"]).findings == ()


def test_a_score_without_its_pre_score_is_told() -> None:
    (finding,) = examined(preScore=["TaintToleration", "NodeAffinity"]).findings
    assert finding.text.endswith(": TaintToleration; here they run there")


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("bind", "at least one bind plugin is needed"),
        ("queueSort", "only one queue sort plugin required"),
    ],
)
def test_a_point_that_nothing_works_without_is_refused(point: str, message: str) -> None:
    assert message in str(examined(**{point: ["*"]}).message)


def test_plugins_name_points_that_they_serve() -> None:
    for name in REGISTRY:
        for point, needed in REGISTRY.builds_on(name).items():
            assert REGISTRY.implements(name, ExtensionPoint(point)), name
            assert REGISTRY.implements(name, ExtensionPoint(needed)), name
