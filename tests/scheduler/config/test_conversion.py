"""Older files said in v1: what is translated, and what is named as lost."""

import json
from typing import Any

import pytest
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.effective import effective
from podium.scheduler.config.examine import examine
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.plugin_args import NodeAffinityArgs
from podium.scheduler.config.versions import Conversion, to_v1

GROUP = "kubescheduler.config.k8s.io"
EXISTS = {"key": "zone", "operator": "Exists"}
LACKS = {"key": "old", "operator": "DoesNotExist"}


def policy(**fields: Any) -> Conversion:
    return to_v1(
        load_configuration({"kind": "Policy", "apiVersion": "v1", **fields}, gates=FeatureGates())
    )


def v1beta1(**profile: Any) -> Conversion:
    return to_v1(
        load_configuration(
            {
                "apiVersion": f"{GROUP}/v1beta1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [profile],
            },
            gates=FeatureGates(),
        )
    )


def presence(label: str, *, present: bool) -> dict[str, Any]:
    argument = {"labelsPresence": {"labels": [label], "presence": present}}
    return {"name": f"of {label}", "argument": argument}


LABELS = [presence("zone", present=True), presence("old", present=False)]


def added(conversion: Conversion) -> Any:
    args = effective(conversion.configuration)["profiles"][0]["pluginConfig"]
    found = next(entry["args"] for entry in args if entry["name"] == "NodeAffinity")
    return found.get("addedAffinity")


def points(conversion: Conversion) -> dict[str, list[Any]]:
    found = examine(
        json.dumps(effective(conversion.configuration)).encode(), in_tree(), gates=FeatureGates()
    )
    assert found.message is None
    assert found.expanded is not None
    return found.expanded[0]


def test_labels_that_nodes_must_have_are_demanded_by_node_affinity() -> None:
    found = policy(predicates=[{"name": "MatchNodeSelector"}, *LABELS], priorities=[])
    assert found.lost == []
    assert any("addedAffinity" in text for text in found.changed)
    assert added(found) == {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [EXISTS, LACKS]}]
        }
    }
    assert points(found)["filter"] == ["NodeUnschedulable", "NodeAffinity", "TaintToleration"]


def test_without_node_affinity_among_the_filters_they_are_lost() -> None:
    found = policy(predicates=LABELS, priorities=[])
    assert found.lost == [
        "profiles[0].plugins: NodeLabel is gone; node affinity took its place",
    ]
    assert points(found)["filter"] == ["NodeUnschedulable", "TaintToleration"]


def test_labels_that_nodes_should_have_are_lost_and_the_rest_is_not() -> None:
    preference = {"labelPreference": {"label": "ssd", "presence": True}}
    found = policy(
        predicates=[{"name": "MatchNodeSelector"}, *LABELS],
        priorities=[{"name": "x", "weight": 1, "argument": preference}],
    )
    assert len(found.lost) == 1
    assert added(found) is not None
    assert "score" not in points(found)


@pytest.mark.parametrize("empty", [True, False])
def test_what_was_demanded_before_still_is(empty: bool) -> None:
    terms = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
    if empty:
        terms.append({})  # selects nothing, and has to stay that way
    required = {"nodeSelectorTerms": terms}
    affinity = {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    found = v1beta1(
        plugins={"filter": {"enabled": [{"name": "NodeLabel"}]}},
        pluginConfig=[
            {"name": "NodeAffinity", "args": affinity},
            {"name": "NodeLabel", "args": {"presentLabels": ["zone"]}},
        ],
    )
    (first, *others) = added(found)["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert first == {"matchExpressions": [{"key": "a", "operator": "Exists"}, EXISTS]}
    assert others == ([{}] if empty else [])


def test_a_filter_for_no_labels_at_all_is_left_out_without_a_word() -> None:
    found = v1beta1(plugins={"filter": {"enabled": [{"name": "NodeLabel"}]}})
    assert not any("NodeLabel" in text for text in (*found.changed, *found.lost))
    assert found.configuration.profiles[0].plugin_args["NodeAffinity"] == NodeAffinityArgs()


def test_all_reasons_and_old_scores_are_named_as_lost() -> None:
    found = policy(
        alwaysCheckAllPredicates=True,
        priorities=[
            {"name": name, "weight": 1}
            for name in ("ResourceLimitsPriority", "NodePreferAvoidPodsPriority")
        ],
    )
    assert any("alwaysCheckAllPredicates" in text for text in found.lost)
    assert any("NodeResourceLimits is gone" in text for text in found.lost)
    assert any("NodePreferAvoidPods is gone" in text for text in found.lost)
    assert not found.configuration.profiles[0].always_check_all_predicates


def test_a_shape_that_the_strategy_has_no_use_for_is_passed_over_by_the_betas() -> None:
    strategy = {
        "type": "LeastAllocated",
        "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 5}]},
    }
    for version in ("v1beta1", "v1beta2", "v1beta3", "v1"):
        entry = {"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}
        document = {
            "apiVersion": f"{GROUP}/{version}",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [entry]}],
        }
        found = examine(json.dumps(document).encode(), in_tree(), gates=FeatureGates())
        assert found.loads == (version != "v1")


@pytest.mark.parametrize(
    ("plugin", "args", "field"),
    [
        (
            "InterPodAffinity",
            {"ignorePreferredTermsOfExistingPods": True},
            "ignorePreferredTermsOfExistingPods",
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"minDomains": 1}]},
            "defaultConstraints[0].minDomains",
        ),
    ],
)
def test_fields_that_came_after_v1beta1_are_unknown_in_it(
    plugin: str, args: dict[str, Any], field: str
) -> None:
    document = {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}],
    }
    message = examine(json.dumps(document).encode(), in_tree(), gates=FeatureGates()).message
    assert message is not None
    assert message.endswith(f'unknown field "{field}"')
