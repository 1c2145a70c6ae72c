"""Configurations that are printed in articles and on running schedulers load.

The short ones stand here, cut down to what a test is about. Whole ones are at work in
`tests/e2e/test_printed_configurations.py`. The texts they were taken from are read as well where
they are at hand.
"""

import json
import re

from support.e2e.printed_files import COPIES, SEEDS, printed
from support.scheduler.config.known_plugins import every_plugin
from support.suite.requirements import ARTICLES

from podium.golang.durations import Duration
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.examine import KnownPlugins, examine
from podium.scheduler.config.policy_names import (
    COVERED_BY_TAINTS,
    EQUAL_PRIORITY,
    OLD_PREDICATES,
    PREDICATES,
    PRIORITIES,
    PRIORITY_ALIASES,
    RATIO_PRIORITY,
)
from podium.scheduler.config.types import ExtensionPoint

OWN_POINTS = {*ExtensionPoint} - {ExtensionPoint.QUEUE_SORT}
HEADER = "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/"
ON_DEFAULT = "initializing profiles: creating profile for scheduler name default-scheduler: "

COSCHEDULING = (
    HEADER
    + """v1beta2
leaderElection:
  leaderElect: true
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
profiles:
- schedulerName: default-scheduler
  plugins:
    queueSort:
      enabled:
      - name: Coscheduling
      disabled:
      - name: "*"
    permit:
      enabled:
      - name: Coscheduling
"""
)
NETWORK_TRAFFIC = (
    HEADER
    + """v1beta1
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled:
      - name: NetworkTraffic
      disabled:
      - name: "*"
  pluginConfig:
  - name: NetworkTraffic
    args:
      timeRangeInMinutes: 3
"""
)
CAPACITY = (
    HEADER
    + """v1
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: VolumeBinding
    args:
      shape:
      - utilization: 0
        score: 0
      - utilization: 100
        score: 10
"""
)
WISHFUL_DEVICES = (
    HEADER
    + """v1
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: DynamicResources
    args:
      scoringStrategy:
        type: LeastAllocated
"""
)
CAPITAL_LEASE = (
    HEADER
    + """v1
leaderElection:
  leaderElect: false
  LeaseDuration: 10s
  resourceLock:
"""
)
POLICY = """{
"kind" : "Policy",
"apiVersion" : "v1",
"predicates" : [
    {"name" : "PodFitsHostPorts"},
    {"name" : "PodFitsResources"},
    {"name" : "NoDiskConflict"},
    {"name" : "MatchNodeSelector"},
    {"name" : "HostName"}
    ],
"priorities" : [
    {"name" : "LeastRequestedPriority", "weight" : 1},
    {"name" : "BalancedResourceAllocation", "weight" : 1},
    {"name" : "ServiceSpreadingPriority", "weight" : 1},
    {"name" : "EqualPriority", "weight" : 1}
    ],
"extenders":[
    {
        "urlPrefix": "http://127.0.0.1:12346/scheduler",
        "apiVersion": "v1beta1",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 5,
        "enableHttps": false,
        "nodeCacheCapable": false
    }
    ]
}
"""


def message(text: str) -> str | None:
    return examine(text.encode(), every_plugin(), gates=FeatureGates()).message


def test_plugins_of_the_collection_are_known() -> None:
    assert message(COSCHEDULING) is None
    assert message(NETWORK_TRAFFIC) is None


def test_a_plugin_of_others_is_named_as_missing() -> None:
    text = NETWORK_TRAFFIC.replace("NetworkTraffic", "NetworkTrafic")
    assert message(text) == ON_DEFAULT + 'ScorePlugin "NetworkTrafic" does not exist'


def test_a_shape_needs_its_feature_gate() -> None:
    assert message(CAPACITY) == (
        "profiles[0].pluginConfig[0].args.shape: Invalid value: "
        '[{"Utilization":0,"Score":0},{"Utilization":100,"Score":10}]: unexpected field `shape`, '
        "remove it or turn on the feature gate StorageCapacityScoring"
    )


def test_with_the_gate_that_is_printed_next_to_it_the_shape_is_taken() -> None:
    gates = FeatureGates().with_overrides({"StorageCapacityScoring": True})
    assert examine(CAPACITY.encode(), every_plugin(), gates).message is None


def test_a_strategy_that_kube_scheduler_never_had_is_taken() -> None:
    assert message(WISHFUL_DEVICES) is None


def test_a_field_of_the_leader_election_may_be_written_as_in_go() -> None:
    found = examine(CAPITAL_LEASE.encode(), every_plugin(), gates=FeatureGates())
    assert found.configuration is not None
    assert found.configuration.leader_election.lease_duration == Duration(10 * 10**9)
    assert [(f.level, f.line) for f in found.findings] == [("old spelling", 5)]


def test_where_that_is_not_wanted_it_is_refused_as_upstream_refuses_it() -> None:
    found = examine(CAPITAL_LEASE.encode(), every_plugin(), takes_old=False, gates=FeatureGates())
    assert found.message == 'strict decoding error: unknown field "leaderElection.LeaseDuration"'


def test_the_policy_of_many_articles_loads() -> None:
    found = examine(POLICY.encode(), every_plugin(), gates=FeatureGates())
    assert found.expanded is not None
    assert found.expanded[0]["filter"] == [
        "NodeUnschedulable",
        "NodeName",
        "NodePorts",
        "NodeAffinity",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "TaintToleration",
    ]
    assert found.expanded[0]["score"] == [
        ["NodeResourcesBalancedAllocation", 1],
        ["NodeResourcesLeastAllocated", 1],
        ["PodTopologySpread", 1],
    ]


@ARTICLES.skip_unless(SEEDS)
def test_every_printed_file_loads_with_the_plugin_and_the_gate_that_its_text_tells_of() -> None:
    of_podium, own = every_plugin(), ("MyPlugin", "MyPlugin1")
    known = KnownPlugins(
        (*of_podium.names, *own),
        lambda name, point: (
            point in OWN_POINTS if name in own else of_podium.implements(name, point)
        ),
    )
    gates = FeatureGates().with_overrides({"StorageCapacityScoring": True})
    found = {name: examine(text.encode(), known, gates).message for name, text in printed().items()}
    assert found == dict.fromkeys(COPIES)


# Names that the texts explain one by one, some of them those of functions.
_EXPLAINED = re.compile(r"(?:^\*? ?|\* |包含 )([A-Za-z]+)", re.MULTILINE)


@ARTICLES.skip_unless(SEEDS)
def test_what_is_explained_by_a_name_loads_by_it() -> None:
    text = "\n".join(seed.read_text() for seed in SEEDS)
    names = set(_EXPLAINED.findall(text))
    predicates = sorted(names & {*PREDICATES, *COVERED_BY_TAINTS, *OLD_PREDICATES})
    priorities = sorted(names & {*PRIORITIES, *PRIORITY_ALIASES, EQUAL_PRIORITY, RATIO_PRIORITY})
    assert {"PodFitsHost", "PodSelectorMatches", "NoVolumeNodeConflict"} <= set(predicates)
    assert {"CheckNodeConditionPred", "CheckNodePIDPressurePred"} <= set(predicates)
    assert {"NodeMemoryPressurePredicate", "PodAffinityPredicate"} <= set(predicates)
    assert len(predicates) > 20
    assert len(priorities) > 12
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": name} for name in predicates],
        "priorities": [{"name": name, "weight": 1} for name in priorities],
    }
    assert message(json.dumps(policy)) is None
