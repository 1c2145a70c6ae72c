"""What `convert` makes of an older file decides as that file did.

The clusters, pods and profiles are those of the `profiles` family of the recorded cases. Each
case's configuration is written in an older version: as it is in v1beta3, which has `multiPoint`,
and point by point in v1beta2 and v1beta1, which do not.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import msgspec
import pytest
from support.recorded_cases import PARITY
from support.scheduler.config.known_plugins import in_tree

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.parity.cases import Case, read_case_file
from podium.parity.replay import decide
from podium.scheduler.config.effective import effective
from podium.scheduler.config.examine import examine
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.versions import Conversion, to_v1

GROUP = "kubescheduler.config.k8s.io"
# Points that v1beta1 and v1beta2 have.
POINTS = (
    "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit",
    "preBind", "bind", "postBind",
)  # fmt: skip
NEWER_PLUGINS = ("DynamicResources", "NodeDeclaredFeatures")
FEW = 5
"""Cases that `make test` decides; the others are left to `make test-all`."""
# What a decision comes to, whatever the plugins are called that made it.
OUTCOME = ("filter", "total", "best", "bound", "message", "preemption", "reserve")


def on_one_profile() -> Iterator[Case]:
    """The same cases with all pods on the default scheduler."""
    for case in cases():
        steps = tuple(
            msgspec.structs.replace(
                step,
                pod={
                    **step.pod,
                    "spec": {**step.pod["spec"], "schedulerName": "default-scheduler"},
                },
            )
            for step in case.steps
        )
        yield msgspec.structs.replace(case, steps=steps)


@cache
def cases() -> tuple[Case, ...]:
    return tuple(read_case_file(PARITY / "profiles.jsonl.gz"))


def as_v1beta3(config: dict[str, Any]) -> dict[str, Any]:
    profiles = [
        {key: value for key, value in profile.items() if key != "percentageOfNodesToScore"}
        for profile in config.get("profiles", [])
    ]
    return _in_version({**config, "profiles": profiles}, "v1beta3")


def by_points(config: dict[str, Any], version: str) -> dict[str, Any]:
    """The plugins of every point written out, as files did before `multiPoint`."""
    found = examine(json.dumps(config).encode(), in_tree(), gates=FeatureGates())
    assert found.configuration is not None
    assert found.lists is not None
    profiles = []
    for number, (name, lists) in enumerate(found.lists.items()):
        written = config["profiles"][number]
        plugins = {
            point.value: {
                "disabled": [{"name": "*"}],
                "enabled": [
                    {"name": p.name, "weight": p.weight} if p.weight else {"name": p.name}
                    for p in listed
                    if p.name not in NEWER_PLUGINS
                ],
            }
            for point, listed in lists.items()
            if point.value in POINTS
        }
        profiles.append(
            {
                "schedulerName": name,
                "plugins": plugins,
                "pluginConfig": written.get("pluginConfig", []),
            }
        )
    return _in_version({**config, "profiles": profiles}, version)


def _in_version(config: dict[str, Any], version: str) -> dict[str, Any]:
    text = json.dumps(config).replace(f'"{GROUP}/v1"', f'"{GROUP}/{version}"')
    document: dict[str, Any] = json.loads(text)
    for profile in document["profiles"]:
        entries = profile.get("pluginConfig", [])
        profile["pluginConfig"] = [
            _age(e, version) for e in entries if e["name"] not in NEWER_PLUGINS
        ]
    return document


def _age(entry: dict[str, Any], version: str) -> dict[str, Any]:
    """Arguments without the fields that the version did not have."""
    args = dict(entry.get("args") or {})
    if version == "v1beta1":
        args.pop("ignorePreferredTermsOfExistingPods", None)
    return {**entry, "args": args}


def outcomes(case: Case, config: dict[str, Any]) -> list[dict[str, Any]]:
    steps = decide(msgspec.structs.replace(case, config=config))
    return [{key: step.get(key) for key in OUTCOME} for step in steps]


def converted(config: dict[str, Any]) -> tuple[Conversion, dict[str, Any]]:
    conversion = to_v1(load_configuration(config, gates=FeatureGates()))
    return conversion, effective(conversion.configuration)


def each(version: str) -> Iterator[tuple[Case, dict[str, Any]]]:
    for case in cases():
        config = {"profiles": [{}], **(case.config or {})}
        aged = as_v1beta3(config) if version == "v1beta3" else by_points(config, version)
        yield case, aged


def require_same_decisions(pairs: Iterable[tuple[Case, dict[str, Any]]]) -> None:
    """The old file and what it is converted to decide each case alike."""
    count = 0
    for case, old in pairs:
        conversion, new = converted(old)
        assert conversion.lost == [], case.name
        assert new["apiVersion"] == f"{GROUP}/v1"
        assert outcomes(case, new) == outcomes(case, old), case.name
        count += 1
    assert count


OLD_VERSIONS = pytest.mark.parametrize("version", ["v1beta3", "v1beta2", "v1beta1"])


@OLD_VERSIONS
def test_a_converted_file_decides_a_few_cases_as_the_old_one(version: str) -> None:
    require_same_decisions(islice(each(version), FEW))


@pytest.mark.slow
@OLD_VERSIONS
def test_a_converted_file_decides_as_the_old_one(version: str) -> None:
    require_same_decisions(each(version))


COUNTS = pytest.mark.parametrize(
    "count", [FEW, pytest.param(None, marks=pytest.mark.slow)], ids=["a few cases", "all cases"]
)
NO_AVOIDING = [{"name": "NodePreferAvoidPods"}]
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
OLD_STYLES: dict[str, dict[str, Any]] = {
    "the defaults of v1beta1": {"plugins": {"score": {"disabled": NO_AVOIDING}}},
    "packing": {
        "plugins": {
            "score": {
                "disabled": [*NO_AVOIDING, {"name": "NodeResourcesLeastAllocated"}],
                "enabled": [{"name": "NodeResourcesMostAllocated", "weight": 5}],
            }
        }
    },
    "by a shape": {
        "plugins": {
            "score": {
                "disabled": [{"name": "*"}],
                "enabled": [{"name": "RequestedToCapacityRatio", "weight": 3}],
            }
        },
        "pluginConfig": [
            {
                "name": "RequestedToCapacityRatio",
                "args": {"shape": SHAPE, "resources": [{"name": "memory", "weight": 2}]},
            }
        ],
    },
}
POLICIES: dict[str, dict[str, Any]] = {
    "the smallest": {"predicates": [], "priorities": []},
    "the one of many articles": {
        "predicates": [
            {"name": name}
            for name in (
                "PodFitsHostPorts", "PodFitsResources", "NoDiskConflict", "MatchNodeSelector",
                "HostName",
            )
        ],
        "priorities": [
            {"name": "LeastRequestedPriority", "weight": 1},
            {"name": "BalancedResourceAllocation", "weight": 1},
            {"name": "SelectorSpreadPriority", "weight": 1},
            {"name": "EqualPriority", "weight": 1},
        ],
    },
    "all predicates": {
        "priorities": [
            {"name": "MostRequestedPriority", "weight": 2},
            {"name": "InterPodAffinityPriority", "weight": 3},
            {"name": "TaintTolerationPriority", "weight": 1},
        ],
        "hardPodAffinitySymmetricWeight": 50,
    },
}  # fmt: skip
LABELS: dict[str, Any] = {
    "predicates": [
        {"name": "GeneralPredicates"},
        {
            "name": "a",
            "argument": {"labelsPresence": {"labels": ["disktype"], "presence": True}},
        },
        {"name": "b", "argument": {"labelsPresence": {"labels": ["rack"]}}},
    ],
    "priorities": [{"name": "NodeAffinityPriority", "weight": 1}],
}


@COUNTS
@pytest.mark.parametrize("profile", OLD_STYLES.values(), ids=OLD_STYLES)
def test_old_score_plugins_are_strategies_that_decide_alike(
    profile: dict[str, Any], count: int | None
) -> None:
    old = {"apiVersion": f"{GROUP}/v1beta1", "kind": "KubeSchedulerConfiguration"}
    old["profiles"] = [profile]  # type: ignore[assignment]
    conversion, new = converted(old)
    assert conversion.lost == []
    for case in islice(on_one_profile(), count):
        assert outcomes(case, new) == outcomes(case, old), case.name


@COUNTS
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_converted_policy_decides_as_the_policy(
    policy: dict[str, Any], count: int | None
) -> None:
    old = {"apiVersion": "v1", "kind": "Policy", **policy}
    conversion, new = converted(old)
    assert conversion.lost == []
    for case in islice(on_one_profile(), count):
        assert outcomes(case, new) == outcomes(case, old), case.name


def test_spreading_by_services_alone_is_lost_in_a_conversion() -> None:
    priorities = [{"name": "ServiceSpreadingPriority", "weight": 1}]
    conversion, _ = converted({"apiVersion": "v1", "kind": "Policy", "priorities": priorities})
    (lost,) = conversion.lost
    assert lost.startswith("ServiceSpreadingPriority counted the pods of services only")


@COUNTS
def test_labels_that_nodes_must_have_become_affinity_that_selects_the_same_nodes(
    count: int | None,
) -> None:
    old = {"apiVersion": "v1", "kind": "Policy", **LABELS}
    conversion, new = converted(old)
    assert conversion.lost == []
    rejected = 0
    for case in islice(on_one_profile(), count):
        for ours, theirs in zip(outcomes(case, new), outcomes(case, old), strict=True):
            assert _codes(ours) == _codes(theirs)
            assert (ours["total"], ours["bound"]) == (theirs["total"], theirs["bound"])
            rejected += any(
                code == "UnschedulableAndUnresolvable" for code in _codes(ours).values()
            )
    assert rejected


def _codes(outcome: dict[str, Any]) -> dict[str, str | None]:
    return {node: status and status["code"] for node, status in outcome["filter"].items()}
