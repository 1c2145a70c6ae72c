"""The named workloads: every one of them works, and has as much of everything as it should."""

import pytest

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.dialects import find_dialect
from podium.bench.cases import ALIASES, CASES, SIZES, full_name
from podium.bench.cases.devices import CARDS_PER_NODE, DIALECT
from podium.bench.cases.devices import shares as gpu_shares
from podium.bench.engine_run import measure_case
from podium.bench.templates import BenchmarkPlan

UPSTREAM = (
    "SchedulingBasic",
    "SchedulingPodAntiAffinity",
    "SchedulingPodMatchingAntiAffinity",
    "SchedulingPodAffinity",
    "SchedulingPreferredPodAffinity",
    "SchedulingPreferredPodAntiAffinity",
    "SchedulingNodeAffinity",
    "SchedulingRequiredPodAntiAffinityWithNSSelector",
    "SchedulingRequiredPodAffinityWithNSSelector",
    "SchedulingPreferredAffinityWithNSSelector",
    "SchedulingPreferredAntiAffinityWithNSSelector",
    "TopologySpreading",
    "PreferredTopologySpreading",
    "DefaultTopologySpreading",
    "SchedulingWithNodeInclusionPolicy",
    "MixedSchedulingBasePod",
    "SchedulingSecrets",
    "SchedulingInTreePVs",
    "SchedulingMigratedInTreePVs",
    "SchedulingCSIPVs",
    "PreemptionBasic",
    "PreemptionAsync",
    "Unschedulable",
    "SchedulingWithMixedChurn",
    "SchedulingDaemonset",
    "SchedulingWhileGated",
    "SchedulingWithResourceClaimTemplate",
)


@pytest.mark.parametrize("name", CASES)
def test_a_workload_binds_all_its_pods_on_a_tiny_cluster(name: str) -> None:
    plan = CASES[name].plan(10)
    figures = measure_case(name, plan)
    assert (figures.bound, figures.failed) == (plan.pods, 0)
    assert figures.attempts >= plan.pods
    assert figures.pods_per_s > 0


@pytest.mark.parametrize("name", CASES)
def test_a_workload_has_as_many_nodes_and_pods_as_planned(name: str) -> None:
    plan = CASES[name].plan(20)
    scene = CASES[name].build(plan)
    named = 1 if name == "SchedulingDaemonset" else 0
    assert len(list(scene.nodes)) == plan.nodes + named
    assert len(list(scene.init)) == plan.init
    assert len(list(scene.measured)) == plan.pods


@pytest.mark.parametrize("name", CASES)
def test_pods_and_nodes_of_a_workload_have_names_of_their_own(name: str) -> None:
    scene = CASES[name].build(CASES[name].plan(20))
    nodes = [node.metadata.name for node in scene.nodes]
    pods = [pod.metadata.uid for pod in (*scene.init, *(a.pod for a in scene.measured))]
    assert len(set(nodes)) == len(nodes)
    assert len(set(pods)) == len(pods)


def test_the_workloads_of_the_reference_suite_are_there_under_their_names() -> None:
    assert set(UPSTREAM) <= set(CASES)


def test_short_names_and_other_spellings_lead_to_a_workload() -> None:
    assert {full_name(name) for name in ALIASES} <= set(CASES)
    assert full_name("schedulingbasic") == "SchedulingBasic"
    assert full_name("nothing-like-it") == "nothing-like-it"


def test_counts_at_the_given_sizes_are_those_written_down() -> None:
    case = CASES["PreemptionBasic"]
    assert case.plan(500) == BenchmarkPlan(500, 2000, 500)
    assert case.plan(5000) == BenchmarkPlan(5000, 20_000, 1000)


def test_on_larger_clusters_pods_that_were_there_grow_and_measured_ones_do_not() -> None:
    case = CASES["PreemptionBasic"]
    assert case.plan(SIZES["100000Nodes"]) == BenchmarkPlan(100_000, 400_000, 1000)


def test_on_smaller_clusters_everything_shrinks() -> None:
    assert CASES["PreemptionBasic"].plan(50) == BenchmarkPlan(50, 200, 50)


def test_counts_can_be_set_one_by_one() -> None:
    assert CASES["SchedulingBasic"].plan(500, init=0, pods=7) == BenchmarkPlan(500, 0, 7)


def test_a_thousand_signatures_are_a_thousand_different_pods() -> None:
    plan = BenchmarkPlan(10, 0, 2000, signatures=1000)
    pods = [arrival.pod for arrival in CASES["ManySignatures"].build(plan).measured]
    kinds = {repr((pod.metadata.labels, pod.spec)) for pod in pods}
    unlabelled = {repr(pod.spec) for pod in pods}
    assert len(kinds) == 1000
    assert len(unlabelled) == 1000
    assert repr(pods[0].spec) == repr(pods[1000].spec)


def test_selectors_and_domains_are_as_many_as_planned() -> None:
    plan = BenchmarkPlan(10, 0, 20, selectors=5, domains=4)
    spread = CASES["ManySelectors"].build(plan)
    labels = {repr(arrival.pod.metadata.labels) for arrival in spread.measured}
    assert len(labels) == 5
    racks = {
        (node.metadata.labels or {})["example.com/rack"]
        for node in CASES["ManyDomains"].build(plan).nodes
    }
    assert len(racks) == 4


def test_cards_of_the_workload_with_shares_are_as_an_agent_reports_them() -> None:
    dialect = find_dialect(DIALECT)
    nodes = list(gpu_shares(BenchmarkPlan(nodes=3, init=0, pods=1)).nodes)

    for number, node in enumerate(nodes):
        cards = [
            Card(at, f"GPU-{number}-{at}", "NVIDIA A100", 40960, slots=10, numa=at // 4)
            for at in range(CARDS_PER_NODE)
        ]
        reported = dialect.register(cards, 0.0)
        wanted = {key: text for key, text in reported.annotations.items() if text is not None}
        assert node.metadata.annotations == wanted
        assert (node.status.allocatable or {}).items() >= reported.capacity.items()
