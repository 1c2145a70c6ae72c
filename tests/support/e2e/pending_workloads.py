"""Workloads that wait, each with the cluster that it waits in: what `podium why` is asked about.

A case is data: nodes, objects in the order of creating them, and what is asked. Names of pods are
made by controllers, so what is asked about is a workload or a pod without one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from support.e2e.workload_manifests import (
    Manifest,
    apart,
    claim,
    daemon_set,
    deployment,
    job,
    node,
    on_nodes,
    pod,
    priority_class,
    replica_set,
    spread,
    stateful_set,
    storage_class,
    taint,
    three_nodes,
    together,
    uses,
)


@dataclass(frozen=True)
class PendingWorkload:
    """`first` are created and settle before `then`, of which some pods find no node."""

    name: str
    ask: str
    then: tuple[Manifest, ...]
    first: tuple[Manifest, ...] = ()
    nodes: tuple[Manifest, ...] = ()


PORT = [{"containerPort": 80, "hostPort": 8080}]
HARD = {"whenUnsatisfiable": "DoNotSchedule"}
RECREATE = {"type": "Recreate"}
GATE = [{"name": "example.com/approval"}]
"""A scheduling gate."""


def cases() -> Iterable[PendingWorkload]:
    case = PendingWorkload
    tainted = (node("node-0", taints=[taint("team", "red")]), node("node-1", "1"))
    labelled = (node("node-0", labels={"disk": "ssd"}), node("node-1", labels={"disk": "hdd"}))
    hold = tuple(
        pod(f"holder-{at}", cpu="3", nodeSelector={"kubernetes.io/hostname": f"node-{at}"})
        for at in range(3)
    )

    # names that nearly exist
    yield case(
        "label-key-typo",
        "deployment/web",
        (deployment("web", 2, nodeSelector={"example.com/disks": "ssd"}),),
        nodes=(node("node-0", labels={"example.com/disk": "ssd"}), node("node-1")),
    )
    yield case(
        "label-key-typo-in-affinity",
        "pod/p",
        (pod("p", affinity=on_nodes("example.com/disks", "ssd")),),
        nodes=(node("node-0", labels={"example.com/disk": "ssd"}), node("node-1")),
    )

    yield case(
        "resource-name-typo",
        "deployment/web",
        (deployment("web", 2, limits={"example.com/gpus": "1"}),),
        nodes=(node("node-0", amounts={"example.com/gpu": "4"}), node("node-1")),
    )

    # taints
    yield case("pod-taint", "pod/p", (pod("p", cpu="2"),), nodes=tainted)
    yield case(
        "deployment-taint", "deployment/web", (deployment("web", 3, cpu="1"),), nodes=tainted
    )
    yield case(
        "stateful-set-taint", "statefulset/db", (stateful_set("db", 3, cpu="1"),), nodes=tainted
    )
    yield case("job-taint", "job/run", (job("run", 3, cpu="1"),), nodes=tainted)
    yield case(
        "replica-set-taint", "replicaset/rs", (replica_set("rs", 3, cpu="1"),), nodes=tainted
    )
    maintenance = (
        node("node-0", taints=[taint("node.kubernetes.io/maintenance", effect="NoExecute")]),
        node("node-1", "1"),
    )
    yield case(
        "taint-without-value", "deployment/web", (deployment("web", 2, cpu="2"),), nodes=maintenance
    )
    yield case(
        "two-taints",
        "pod/p",
        (pod("p", cpu="2"),),
        nodes=(node("node-0", taints=[taint("a", "1"), taint("b", "2")]), node("node-1", "1")),
    )
    # labels
    yield case("pod-label", "pod/p", (pod("p", nodeSelector={"disk": "nvme"}),), nodes=labelled)
    yield case("pod-label-typo", "pod/p", (pod("p", nodeSelector={"disk": "sdd"}),), nodes=labelled)
    yield case(
        "deployment-label",
        "deployment/web",
        (deployment("web", 3, nodeSelector={"disk": "nvme"}),),
        nodes=labelled,
    )
    yield case(
        "deployment-recreate-label",
        "deployment/web",
        (deployment("web", 2, strategy=RECREATE, nodeSelector={"disk": "nvme"}),),
        nodes=labelled,
    )
    yield case(
        "stateful-set-label",
        "statefulset/db",
        (stateful_set("db", 2, nodeSelector={"disk": "nvme"}),),
        nodes=labelled,
    )
    yield case(
        "parallel-stateful-set-label",
        "statefulset/db",
        (stateful_set("db", 3, parallel=True, nodeSelector={"disk": "nvme"}),),
        nodes=labelled,
    )
    yield case(
        "job-label", "job/run", (job("run", 2, nodeSelector={"disk": "nvme"}),), nodes=labelled
    )
    yield case(
        "affinity-value",
        "deployment/web",
        (deployment("web", 2, affinity=on_nodes("disk", "nvme")),),
        nodes=labelled,
    )
    yield case(
        "affinity-greater",
        "pod/p",
        (pod("p", affinity=on_nodes("generation", "5", operator="Gt")),),
        nodes=(
            node("node-0", labels={"generation": "3"}),
            node("node-1", labels={"generation": "5"}),
        ),
    )
    yield case(
        "daemon-set-label",
        "daemonset/agent",
        (daemon_set("agent", cpu="5"),),
        nodes=(node("node-0", "4"), node("node-1", "8")),
    )
    # cordoned nodes
    cordoned = node("node-1")
    cordoned["spec"]["unschedulable"] = True
    yield case(
        "pod-cordon",
        "pod/p",
        (pod("p", cpu="3"),),
        (pod("holder-0", cpu="3", nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        (node("node-0"), cordoned),
    )
    yield case(
        "deployment-cordon",
        "deployment/web",
        (deployment("web", 2, cpu="3"),),
        nodes=(node("node-0"), cordoned),
    )
    # requests
    yield case("pod-cpu", "pod/p", (pod("p", cpu="5"),), nodes=three_nodes())
    yield case(
        "deployment-cpu", "deployment/web", (deployment("web", 4, cpu="3"),), nodes=three_nodes()
    )
    yield case(
        "deployment-cpu-all",
        "deployment/web",
        (deployment("web", 2, cpu="6"),),
        nodes=three_nodes(),
    )
    yield case(
        "deployment-recreate-cpu",
        "deployment/web",
        (deployment("web", 4, cpu="3", strategy=RECREATE),),
        nodes=three_nodes(),
    )
    yield case(
        "deployment-memory",
        "deployment/web",
        (deployment("web", 4, memory="10Gi"),),
        nodes=three_nodes(),
    )
    yield case(
        "stateful-set-cpu", "statefulset/db", (stateful_set("db", 4, cpu="3"),), nodes=three_nodes()
    )
    yield case(
        "replica-set-cpu", "replicaset/rs", (replica_set("rs", 4, cpu="3"),), nodes=three_nodes()
    )
    yield case("job-cpu", "job/run", (job("run", 4, cpu="3"),), nodes=three_nodes())
    yield case(
        "daemon-set-cpu",
        "daemonset/agent",
        (daemon_set("agent", cpu="2"),),
        hold[:1],
        three_nodes(),
    )
    yield case(
        "pod-with-daemons",
        "pod/big",
        (pod("big", cpu="5"),),
        (daemon_set("agent", cpu="500m"),),
        three_nodes(),
    )
    yield case(
        "deployment-with-daemons",
        "deployment/web",
        (deployment("web", 4, cpu="3"),),
        (daemon_set("agent", cpu="500m"),),
        three_nodes(),
    )
    yield case(
        "extended-resource",
        "pod/p",
        (pod("p", requests={"example.com/card": "2"}, limits={"example.com/card": "2"}),),
        nodes=(node("node-0", amounts={"example.com/card": "1"}), node("node-1")),
    )
    yield case(
        "unknown-resource",
        "pod/p",
        (pod("p", requests={"example.com/card": "2"}, limits={"example.com/card": "2"}),),
        nodes=three_nodes(),
    )
    yield case(
        "too-many-pods",
        "deployment/web",
        (deployment("web", 3),),
        nodes=(node("node-0", amounts={"pods": "1"}), node("node-1", amounts={"pods": "1"})),
    )
    # pods in the way
    yield case(
        "pod-in-the-way",
        "pod/p",
        (pod("p", cpu="3", nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        hold[:1],
        three_nodes(),
    )
    yield case(
        "deployment-in-the-way",
        "pod/p",
        (pod("p", cpu="3", nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        (
            deployment(
                "other", 2, cpu="1500m", affinity=on_nodes("kubernetes.io/hostname", "node-0")
            ),
        ),
        three_nodes(),
    )
    yield case("full-of-pods", "pod/p", (pod("p", cpu="2"),), hold, three_nodes())
    yield case(
        "full-of-a-deployment",
        "pod/p",
        (pod("p", cpu="2"),),
        (deployment("other", 3, cpu="3"),),
        three_nodes(),
    )
    yield case(
        "full-of-a-waiting-deployment",
        "pod/p",
        (pod("p", cpu="2"),),
        (deployment("other", 5, cpu="3"),),
        three_nodes(),
    )
    yield case(
        "full-of-a-stateful-set",
        "pod/p",
        (pod("p", cpu="2"),),
        (stateful_set("other", 3, cpu="3"),),
        three_nodes(),
    )
    yield case(
        "full-of-a-job", "pod/p", (pod("p", cpu="2"),), (job("other", 3, cpu="3"),), three_nodes()
    )
    yield case(
        "full-of-itself", "deployment/web", (deployment("web", 5, cpu="3"),), nodes=three_nodes()
    )
    yield case(
        "host-port",
        "pod/p",
        (pod("p", ports=PORT, nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        (pod("holder", ports=PORT, nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        three_nodes(),
    )
    yield case(
        "host-port-deployment",
        "deployment/web",
        (deployment("web", 4, ports=PORT),),
        nodes=three_nodes(),
    )
    # priorities
    yield case(
        "priority-existing",
        "pod/p",
        (pod("p", cpu="3"),),
        (priority_class("high", 1000), *hold),
        three_nodes(),
    )
    yield case(
        "priority-never",
        "pod/p",
        (pod("p", cpu="3", priorityClassName="polite"),),
        (priority_class("polite", 1000, "Never"), *hold),
        three_nodes(),
    )
    yield case(
        "priority-deployment",
        "deployment/web",
        (deployment("web", 2, cpu="3"),),
        (priority_class("high", 1000), *hold),
        three_nodes(),
    )
    yield case(
        "priority-daemons",
        "pod/p",
        (pod("p", cpu="3"),),
        (priority_class("high", 1000), daemon_set("agent", cpu="2")),
        three_nodes(),
    )
    # affinity between pods
    yield case(
        "anti-affinity",
        "deployment/anti",
        (deployment("anti", 5, affinity=apart("anti")),),
        nodes=three_nodes(),
    )
    yield case(
        "anti-affinity-stateful-set",
        "statefulset/anti",
        (stateful_set("anti", 4, affinity=apart("anti")),),
        nodes=three_nodes(),
    )
    yield case(
        "anti-affinity-recreate",
        "deployment/anti",
        (deployment("anti", 5, strategy=RECREATE, affinity=apart("anti")),),
        nodes=three_nodes(),
    )
    yield case(
        "affinity-to-nobody",
        "deployment/web",
        (deployment("web", 2, affinity=together("cache")),),
        nodes=three_nodes(),
    )
    yield case(
        "affinity-wrong-key",
        "pod/p",
        (pod("p", affinity=together("cache", "kubernetes.io/hostnam")),),
        (pod("cache"),),
        three_nodes(),
    )
    # spreading
    yield case(
        "spread-full-zone",
        "deployment/web",
        (deployment("web", 4, cpu="2", topologySpreadConstraints=spread("web")),),
        (pod("holder-0", cpu="3", nodeSelector={"kubernetes.io/hostname": "node-0"}),),
        three_nodes(),
    )
    yield case(
        "spread-min-domains",
        "deployment/web",
        (deployment("web", 4, topologySpreadConstraints=spread("web", minDomains=5)),),
        nodes=three_nodes(),
    )
    # volumes
    yield case(
        "missing-claim",
        "pod/p",
        (pod("p", volumes=uses("data")),),
        (storage_class("fast"),),
        three_nodes(),
    )
    yield case(
        "missing-claim-typo",
        "pod/p",
        (pod("p", volumes=uses("dta")),),
        (storage_class("fast"), claim("data", "fast")),
        three_nodes(),
    )
    yield case(
        "claim-without-class",
        "pod/p",
        (claim("data", ""), pod("p", volumes=uses("data"))),
        nodes=three_nodes(),
    )
    yield case(
        "claim-of-unknown-class",
        "pod/p",
        (claim("data", "fst"), pod("p", volumes=uses("data"))),
        (storage_class("fast"),),
        three_nodes(),
    )
    yield case(
        "deployment-missing-claim",
        "deployment/web",
        (deployment("web", 1, volumes=uses("data")),),
        (storage_class("fast", "Immediate"),),
        three_nodes(),
    )
    yield case(
        "missing-claim-without-class",
        "pod/p",
        (pod("p", volumes=uses("data")),),
        nodes=three_nodes(),
    )
    # devices
    claims = [{"name": "gpu", "resourceClaimName": "my-gpu"}]
    yield case(
        "missing-resource-claim",
        "deployment/web",
        (deployment("web", 2, resourceClaims=claims),),
        nodes=three_nodes(),
    )
    # holds
    yield case("gate", "pod/p", (pod("p", schedulingGates=GATE),), nodes=three_nodes())
    yield case(
        "gate-deployment",
        "deployment/web",
        (deployment("web", 2, schedulingGates=GATE),),
        nodes=three_nodes(),
    )
    yield case(
        "other-scheduler", "pod/p", (pod("p", schedulerName="elsewhere"),), nodes=three_nodes()
    )
    yield case(
        "other-scheduler-deployment",
        "deployment/web",
        (deployment("web", 2, schedulerName="elsewhere"),),
        nodes=three_nodes(),
    )
    # several causes
    yield case(
        "taint-and-cpu",
        "pod/p",
        (pod("p", cpu="5"),),
        nodes=(node("node-0", "8", taints=[taint("team", "red")]), node("node-1")),
    )
    yield case(
        "label-and-taint",
        "deployment/web",
        (deployment("web", 2, nodeSelector={"disk": "nvme"}),),
        nodes=(
            node("node-0", taints=[taint("team", "red")]),
            node("node-1", taints=[taint("team", "red")]),
        ),
    )


CASES = tuple(cases())
