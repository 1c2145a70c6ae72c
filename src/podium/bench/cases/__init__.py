"""The workloads by name, and how much of everything each has at a size.

Names, templates and counts follow the reference scheduler's own suite (test/integration/
scheduler_perf), so that figures can be set beside published ones; long runs are cut to 5,000
measured pods. `ManySignatures`, `ManySelectors`, `ManyDomains`, `FullCluster`, `SchedulingGPUShare`
and those with measurements (`SchedulingBasicBy...`) are Podium's own.
Counts are given for 500 and 5,000 nodes: at other sizes the pods that are there before grow with
the nodes, while as many are measured, or fewer on a cluster that is too small for them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from podium.bench.cases import (
    affinity,
    devices,
    measured,
    resources,
    running,
    volumes,
)
from podium.bench.templates import BenchmarkPlan, Scene

SIZES = {"500Nodes": 500, "5000Nodes": 5000, "15000Nodes": 15_000, "100000Nodes": 100_000}
_SMALL, _LARGE = 500, 5000


@dataclass(frozen=True, slots=True)
class Counts:
    """Pods that are there before, and pods that are measured."""

    init: int
    pods: int


@dataclass(frozen=True, slots=True)
class BenchmarkCase:
    name: str
    build: Callable[[BenchmarkPlan], Scene]
    small: Counts
    """At 500 nodes."""
    large: Counts
    """At 5,000 nodes."""

    def plan(
        self, nodes: int, *, init: int | None = None, pods: int | None = None
    ) -> BenchmarkPlan:
        """How much of everything there is with so many nodes, unless told otherwise."""
        counts, of = (self.large, _LARGE) if nodes >= _LARGE else (self.small, _SMALL)
        share = nodes / of
        return BenchmarkPlan(
            nodes,
            round(counts.init * share) if init is None else init,
            max(4, round(counts.pods * min(1.0, share))) if pods is None else pods,
        )


_ALL = (
    BenchmarkCase("SchedulingBasic", resources.basic, Counts(500, 1000), Counts(1000, 5000)),
    BenchmarkCase(
        "SchedulingNodeAffinity", resources.node_affinity, Counts(500, 1000), Counts(5000, 5000)
    ),
    BenchmarkCase("SchedulingDaemonset", resources.daemonset, Counts(0, 1000), Counts(0, 5000)),
    BenchmarkCase(
        "SchedulingPodAntiAffinity", affinity.anti_affinity, Counts(100, 400), Counts(1000, 2000)
    ),
    BenchmarkCase(
        "SchedulingPodMatchingAntiAffinity",
        affinity.matching_anti_affinity,
        Counts(100, 400),
        Counts(1000, 5000),
    ),
    BenchmarkCase(
        "SchedulingPodAffinity", affinity.affinity, Counts(500, 1000), Counts(5000, 5000)
    ),
    BenchmarkCase(
        "SchedulingPreferredPodAffinity",
        affinity.preferred_affinity,
        Counts(500, 1000),
        Counts(5000, 5000),
    ),
    BenchmarkCase(
        "SchedulingPreferredPodAntiAffinity",
        affinity.preferred_anti_affinity,
        Counts(500, 1000),
        Counts(5000, 5000),
    ),
    BenchmarkCase(
        "SchedulingRequiredPodAntiAffinityWithNSSelector",
        affinity.anti_affinity_by_selector,
        Counts(40, 100),
        Counts(4000, 1000),
    ),
    BenchmarkCase(
        "SchedulingRequiredPodAffinityWithNSSelector",
        affinity.affinity_by_selector,
        Counts(40, 100),
        Counts(5000, 2000),
    ),
    BenchmarkCase(
        "SchedulingPreferredAffinityWithNSSelector",
        affinity.preferred_affinity_by_selector,
        Counts(40, 100),
        Counts(5000, 5000),
    ),
    BenchmarkCase(
        "SchedulingPreferredAntiAffinityWithNSSelector",
        affinity.preferred_anti_affinity_by_selector,
        Counts(40, 100),
        Counts(4000, 2000),
    ),
    BenchmarkCase(
        "MixedSchedulingBasePod", affinity.mix_rules, Counts(1000, 1000), Counts(10_000, 5000)
    ),
    BenchmarkCase(
        "TopologySpreading", affinity.require_spreading, Counts(1000, 1000), Counts(5000, 5000)
    ),
    BenchmarkCase(
        "PreferredTopologySpreading",
        affinity.prefer_spreading,
        Counts(1000, 1000),
        Counts(5000, 5000),
    ),
    BenchmarkCase(
        "DefaultTopologySpreading", affinity.by_default, Counts(1000, 1000), Counts(5000, 5000)
    ),
    BenchmarkCase(
        "SchedulingWithNodeInclusionPolicy",
        affinity.with_inclusion_policy,
        Counts(0, 400),
        Counts(0, 4000),
    ),
    BenchmarkCase("SchedulingSecrets", volumes.secrets, Counts(500, 1000), Counts(1000, 5000)),
    BenchmarkCase("SchedulingInTreePVs", volumes.in_tree, Counts(500, 1000), Counts(1000, 2000)),
    BenchmarkCase(
        "SchedulingMigratedInTreePVs",
        volumes.migrate_volumes,
        Counts(500, 1000),
        Counts(5000, 2000),
    ),
    BenchmarkCase("SchedulingCSIPVs", volumes.csi, Counts(500, 1000), Counts(5000, 2000)),
    BenchmarkCase("PreemptionBasic", resources.preemption, Counts(2000, 500), Counts(20_000, 1000)),
    BenchmarkCase(
        "PreemptionAsync", resources.preemption_beside, Counts(2000, 500), Counts(20_000, 5000)
    ),
    BenchmarkCase("Unschedulable", resources.unschedulable, Counts(10, 1000), Counts(100, 5000)),
    BenchmarkCase(
        "SchedulingWithMixedChurn", resources.mixed_churn, Counts(0, 1000), Counts(0, 5000)
    ),
    BenchmarkCase(
        "SchedulingWhileGated", resources.while_gated, Counts(2000, 1000), Counts(20_000, 5000)
    ),
    BenchmarkCase(
        "SchedulingWithResourceClaimTemplate",
        devices.claim_template,
        Counts(2500, 2500),
        Counts(25_000, 2500),
    ),
    BenchmarkCase("ManySignatures", running.many_signatures, Counts(500, 2000), Counts(1000, 5000)),
    BenchmarkCase("ManySelectors", affinity.many_selectors, Counts(1000, 1000), Counts(5000, 5000)),
    BenchmarkCase("ManyDomains", affinity.many_domains, Counts(1000, 1000), Counts(5000, 5000)),
    BenchmarkCase(
        "SchedulingBasicByPrometheus", measured.by_query, Counts(500, 1000), Counts(1000, 5000)
    ),
    BenchmarkCase(
        "SchedulingBasicByTraffic", measured.by_traffic, Counts(500, 1000), Counts(1000, 5000)
    ),
    BenchmarkCase("SchedulingBasicByLoad", measured.by_load, Counts(500, 1000), Counts(1000, 5000)),
    BenchmarkCase("SchedulingGPUShare", devices.shares, Counts(500, 1000), Counts(5000, 5000)),
    BenchmarkCase("FullCluster", running.full_cluster, Counts(10_000, 1000), Counts(100_000, 2000)),
)

CASES: dict[str, BenchmarkCase] = {case.name: case for case in _ALL}

ALIASES = {
    "basic": "SchedulingBasic",
    "spread": "TopologySpreading",
    "affinity": "SchedulingPodAffinity",
    "anti-affinity": "SchedulingPodAntiAffinity",
    "mixed": "MixedSchedulingBasePod",
}


def full_name(name: str) -> str:
    """A workload's own name for any name it is known by; unknown ones stay as they are."""
    if name in ALIASES:
        return ALIASES[name]
    return next((known for known in CASES if known.lower() == name.lower()), name)
